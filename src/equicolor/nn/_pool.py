"""GroupPool: the last layer on the group, from equivariant features to invariant ones."""

import math
from typing import Literal, TypeAlias, get_args

from torch import Tensor, nn

from equicolor._tools.leaf import leaf
from equicolor._tools.tensors import is_channels_last
from equicolor.groups import Group
from equicolor.groups import group as as_group

#: How a group is pooled over: the largest value, their mean, or a smooth maximum.
Reduce: TypeAlias = Literal["max", "mean", "logsumexp"]


class GroupPool(nn.Module):
    """Pools over the group, so that the result no longer depends on the colour move.

    Args:
        group: a group or its name.
        reduce: ``"max"``, as in the paper; ``"mean"``; or ``"logsumexp"``, the logarithm of the mean of exponentials, a
            soft maximum between the two through which every element learns.

    Shape:
        ``(G·B, *)`` to ``(B, *)``.

    Example:
        >>> import torch
        >>> GroupPool("hue4")(torch.rand(8, 16)).shape
        torch.Size([2, 16])
    """

    def __init__(self, group: Group | str, reduce: Reduce = "max") -> None:
        super().__init__()
        self.group = as_group(group)
        if reduce not in get_args(Reduce):
            raise ValueError(f"reduce must be 'max', 'mean' or 'logsumexp', got {reduce!r}")
        self.reduce = reduce

    @leaf
    def forward(self, features: Tensor) -> Tensor:
        if is_channels_last(features):
            return self.forward(features.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
        elements = self.group.split(features)
        axes = tuple(range(len(self.group.shape)))
        if self.reduce == "logsumexp":
            return elements.logsumexp(axes) - math.log(self.group.order)
        return elements.amax(axes) if self.reduce == "max" else elements.mean(axes)

    def extra_repr(self) -> str:
        return f"{self.group}, reduce={self.reduce!r}"
