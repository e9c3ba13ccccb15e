"""Layers: those that know about the group, the CEConv baseline, a batch norm. All others are in ``torch.nn``."""

from equicolor.nn._ceconv import CEConv2d, CEConvLift, CEConvTranspose2d
from equicolor.nn._conv import GroupConv2d, GroupConvTranspose2d
from equicolor.nn._dropout import GroupDropout
from equicolor.nn._lift import Lift
from equicolor.nn._linear import GroupLinear
from equicolor.nn._norm import BatchNorm2d
from equicolor.nn._pool import GroupPool

__all__ = [
    "BatchNorm2d",
    "CEConv2d",
    "CEConvLift",
    "CEConvTranspose2d",
    "GroupConv2d",
    "GroupConvTranspose2d",
    "GroupDropout",
    "GroupLinear",
    "GroupPool",
    "Lift",
]
