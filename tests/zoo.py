"""A network of the zoo in a state worth testing."""

import torch
from torch import nn

from equicolor.models import Model


def settle(model: Model) -> Model:
    """As after some training: norms with the statistics of real features, and weights and biases not 1 and 0.

    Without it, the features of a fresh network in eval mode die out on the way, and any claim about them is empty.
    """
    norms = [module for module in model.modules() if isinstance(module, nn.BatchNorm2d)]
    for norm in norms:
        nn.init.uniform_(norm.weight, 0.5, 1.5)
        nn.init.normal_(norm.bias, 0.0, 0.2)
        norm.momentum = 1.0
    with torch.no_grad():
        model.train()(torch.rand(4, 3, 32, 32, dtype=next(model.parameters()).dtype))
    return model.eval()
