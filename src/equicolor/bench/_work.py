"""Multiply-adds of a forward: what an algorithm saves, whatever the machine makes of it."""

from typing import NamedTuple

from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from equicolor.measure import evaluating


class MultiplyAdds(NamedTuple):
    """Of one forward. Sums that are written out as additions count in neither."""

    convolutions: int
    total: int  # with matrix products: linear layers, and transforms along the group where they are such


def multiply_adds(module: nn.Module, images: Tensor) -> MultiplyAdds:
    """Counts them in one forward of ``module``.

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
