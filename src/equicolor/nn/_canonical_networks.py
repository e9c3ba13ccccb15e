"""What a canonicaliser learns: a small network on a group, for circles; for windows a plain one, or a constant."""

import math

import torch
from torch import Tensor, nn

from equicolor.groups import Group
from equicolor.nn._conv import GroupConv2d
from equicolor.nn._lift import Lift
from equicolor.nn._linear import GroupLinear

_MEAN, _STD = 0.5, 0.25


class Usual(nn.Module):
    """The same amounts for all images, in units of the reach of each window: where their colours usually are."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.amounts = nn.Parameter(torch.zeros(count))

    def forward(self, images: Tensor) -> Tensor:
        return self.amounts + self.amounts.new_zeros(images.shape[0], 1)  # no view, which inference mode would track


class _Regression(nn.Sequential):
    """A sequence that is handed images in [0, 1]."""

    def forward(self, images: Tensor) -> Tensor:
        answers: Tensor = super().forward((images - _MEAN) / _STD)  # type: ignore[no-untyped-call]
        return answers


def scores_of(group: Group, width: int) -> nn.Sequential:
    """The group network with a number for each element, ``(G·B, 1)``."""
    narrow, wide = (max(4, int(own / math.sqrt(group.order))) for own in (width, 2 * width))
    return nn.Sequential(
        Lift(group, _MEAN, _STD),
        GroupConv2d(group, group.channels or 3, narrow, 3, padding=1, bias=False),
        nn.BatchNorm2d(narrow),
        nn.ReLU(),
        GroupConv2d(group, narrow, narrow, 3, stride=2, padding=1, bias=False),
        nn.BatchNorm2d(narrow),
        nn.ReLU(),
        GroupConv2d(group, narrow, wide, 3, stride=2, padding=1, bias=False),
        nn.BatchNorm2d(wide),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        GroupLinear(group, wide, 1),
    )


def shifts_of(channels: int, width: int, count: int) -> nn.Sequential:
    """The network with an amount for each window, in units of its reach, ``(B, count)``; 0 before any training."""
    last = nn.Linear(2 * width, count)
    nn.init.zeros_(last.weight)
    nn.init.zeros_(last.bias)
    return _Regression(
        nn.Conv2d(channels, width, 3, padding=1, bias=False),
        nn.BatchNorm2d(width),
        nn.ReLU(),
        nn.Conv2d(width, width, 3, stride=2, padding=1, bias=False),
        nn.BatchNorm2d(width),
        nn.ReLU(),
        nn.Conv2d(width, 2 * width, 3, stride=2, padding=1, bias=False),
        nn.BatchNorm2d(2 * width),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(2 * width, 2 * width),
        nn.ReLU(),
        last,
    )
