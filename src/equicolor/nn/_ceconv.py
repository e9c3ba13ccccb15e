"""The CEConv baseline (Lengyel et al., 2023): hue shifts as rotations of RGB filters, not of images."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from equicolor import color
from equicolor.groups import Hue


class CEConvLift(nn.Module):
    """CEConv's lifting layer: one RGB filter bank, turned about the grey axis by multiples of 360°/n.

    ``(B, 3, H, W)`` to ``(n·B, C, H', W')``, group-major. Equivariant to hue shifts for n = 1 and n = 3 only, where the
    rotation is a permutation of R, G and B; a hue shift of an image is otherwise no rotation of its RGB values.

    Args:
        n: the number of rotations.
        out_channels, kernel_size, stride, padding, bias: as in :class:`torch.nn.Conv2d`.
    """

    def __init__(
        self, n: int, out_channels: int, kernel_size: int, stride: int = 1, padding: int = 0, bias: bool = True
    ) -> None:
        super().__init__()
        self.group = Hue(n)
        self.stride, self.padding = stride, padding
        self.weight = nn.Parameter(torch.empty(out_channels, 3, kernel_size, kernel_size))
        self.bias = nn.Parameter(torch.empty(out_channels)) if bias else None
        nn.init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            nn.init.uniform_(self.bias, -1 / math.sqrt(self.weight[0].numel()), 1 / math.sqrt(self.weight[0].numel()))

    def forward(self, images: Tensor) -> Tensor:
        images = color.as_images(images)
        # Element j sees the image turned by j steps, which is the filter turned back: the transposed rotation.
        turns = [torch.tensor(color.rgb_rotation(self.group.degrees(j))).to(self.weight) for j in self.group.elements]
        filters = torch.cat([torch.einsum("oihw,ij->ojhw", self.weight, turn) for turn in turns])
        features = F.conv2d(images, filters, stride=self.stride, padding=self.padding)
        features = torch.unflatten(features, 1, (self.group.order, -1)).movedim(1, 0).flatten(0, 1)
        return features if self.bias is None else features + self.bias.view(-1, 1, 1)

    def extra_repr(self) -> str:
        return f"{self.group.order}, {self.weight.shape[0]}, kernel_size={tuple(self.weight.shape[2:])}"
