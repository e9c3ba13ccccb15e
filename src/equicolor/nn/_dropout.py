"""GroupDropout: what is dropped of an image is dropped of all its recoloured copies."""

from typing import Literal, TypeAlias

import torch.nn.functional as F
from torch import Tensor, nn

from equicolor._tools.leaf import leaf
from equicolor._tools.tensors import layout
from equicolor.groups import Group
from equicolor.groups import group as as_group

Over: TypeAlias = Literal["values", "channels", "rows"]


class GroupDropout(nn.Module):
    """Dropout of a feature on the group, with one mask for all elements.

    ``torch.nn.Dropout`` draws another mask for each row of a batch, so for each element of the group: in training, a
    moved image would not give the moved feature. Here the elements of an image share their mask, and equivariance holds
    in training as it does without dropout.

    Args:
        group: a group or its name.
        p: the probability to drop; what is kept is multiplied by 1/(1-p), in training. In eval mode nothing happens.
        over: what is dropped as a whole: ``"values"`` as in :class:`torch.nn.Dropout`, ``"channels"`` as in
            :class:`torch.nn.Dropout2d`, or ``"rows"``, all of an image's feature, as in stochastic depth.

    Shape:
        ``(G·B, *)`` to the same.

    Example:
        >>> import torch
        >>> features = GroupDropout("hue4", 0.5)(torch.ones(8, 16))
        >>> bool((features[:2] == features[2:4]).all())  # two images, one mask each for all four elements
        True
    """

    def __init__(self, group: Group | str, p: float = 0.5, over: Over = "values") -> None:
        super().__init__()
        self.group = as_group(group)
        if not 0 <= p <= 1:
            raise ValueError(f"p must be a probability between 0 and 1, got {p!r}")
        if over not in ("values", "channels", "rows"):
            raise ValueError(f"over must be 'values', 'channels' or 'rows', got {over!r}")
        self.p, self.over = float(p), over

    @leaf
    def forward(self, features: Tensor) -> Tensor:
        if not self.training or self.p == 0:
            return features
        self.group.split(features)  # says what is wrong with the shape, if anything is
        kept = {"values": features.dim(), "channels": 2, "rows": 1}[self.over]
        shape = [features.shape[0] // self.group.order, *features.shape[1:kept], *[1] * (features.dim() - kept)]
        mask = F.dropout(features.new_ones(shape), self.p)
        if self.over == "values" and features.dim() == 4:
            mask = mask.contiguous(memory_format=layout(features))
        return features * mask.repeat(self.group.order, *[1] * (features.dim() - 1))

    def extra_repr(self) -> str:
        return f"{self.group}, p={self.p}" + ("" if self.over == "values" else f", over={self.over!r}")
