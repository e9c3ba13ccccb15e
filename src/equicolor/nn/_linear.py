"""GroupLinear: the linear layer on the group."""

import math
from typing import Any

from torch import Tensor, nn

from equicolor._tools.leaf import leaf
from equicolor.groups import Group
from equicolor.nn._conv import GroupConv2d


class GroupLinear(nn.Module):
    """A linear layer on the group, y_g = Σ_h W_{h-g} x_h.

    The same as a 1×1 group convolution, for features whose channels come last. So it makes no difference whether a
    network mixes its channels by ``Linear`` or by a 1×1 ``Conv2d``.

    Args:
        group: a group or its name.
        in_features: as in :class:`torch.nn.Linear`, for each element of the group.
        out_features: as in :class:`torch.nn.Linear`, for each element of the group.
        bias: as in :class:`torch.nn.Linear`.
        **factory: ``device`` and ``dtype``, as in :class:`torch.nn.Linear`.

    Shape:
        ``(G·B, *, in)`` to ``(G·B, *, out)``.

    Example:
        >>> import torch
        >>> GroupLinear("hue4", 16, 32)(torch.rand(8, 7, 7, 16)).shape
        torch.Size([8, 7, 7, 32])
    """

    def __init__(
        self, group: Group | str, in_features: int, out_features: int, bias: bool = True, **factory: Any
    ) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.conv = GroupConv2d(group, in_features, out_features, 1, bias=bias, **factory)

    @leaf
    def forward(self, features: Tensor) -> Tensor:
        between = features.shape[1:-1]
        maps = features.reshape(features.shape[0], math.prod(between), 1, features.shape[-1]).permute(0, 3, 1, 2)
        mixed: Tensor = self.conv(maps).permute(0, 2, 3, 1)
        return mixed.reshape(features.shape[0], *between, mixed.shape[-1])
