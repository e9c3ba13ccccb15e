"""Multiply-adds of a forward: what an algorithm saves, whatever the machine makes of it."""

from typing import NamedTuple

from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from equicolor.measure._equivariance import evaluating


class MultiplyAdds(NamedTuple):
    """The multiply-adds of one forward pass; sums that are written out as additions count in neither.

    Attributes:
        convolutions: those of the convolutions.
        total: those of the matrix products too: linear layers, and transforms along the group where they are such.
    """

    convolutions: int
    total: int


def multiply_adds(module: nn.Module, images: Tensor) -> MultiplyAdds:
    """Counts the multiply-adds of one forward pass.

    Args:
        module: a network.
        images: what it is run on.

    Returns:
        The counts.

    Example:
        >>> import torch
        >>> multiply_adds(nn.Conv2d(3, 8, 3), torch.rand(1, 3, 12, 12)).convolutions == 3 * 8 * 9 * 10 * 10
        True
    """
    counter = FlopCounterMode(display=False)
    with evaluating(module), counter:
        module(images)
    by_operator = counter.get_flop_counts()["Global"]
    convolutions = sum(count for operator, count in by_operator.items() if "convolution" in str(operator))
    return MultiplyAdds(convolutions // 2, counter.get_total_flops() // 2)
