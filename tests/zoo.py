"""A network in a state worth testing, and how far results are apart."""

import torch
from torch import nn


def settle(model: nn.Module, size: int = 32) -> nn.Module:
    """As after some training: norms with the statistics of real features, and weights and biases not 1 and 0.

    Without it, the features of a fresh network in eval mode die out on the way, and any claim about them is empty.
    """
    norms = [module for module in model.modules() if isinstance(module, nn.BatchNorm2d)]
    for norm in norms:
        nn.init.uniform_(norm.weight, 0.5, 1.5)
        nn.init.normal_(norm.bias, 0.0, 0.2)
        norm.momentum = 1.0
    with torch.no_grad():
        model.train()(torch.rand(4, 3, size, size, dtype=next(model.parameters()).dtype))
    return model.eval()


def relative(result: torch.Tensor, expected: torch.Tensor) -> float:
    """The norm of the difference, relative to that of what is expected."""
    return ((result - expected).norm() / expected.norm()).item()
