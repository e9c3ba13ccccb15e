"""Layers that know about the group, and a batch norm for few channels. All others are in ``torch.nn``.

A layer here takes tensors and knows a group; which layers make a network is the business of ``models``, and how a group
convolution is summed that of ``algorithms``.
"""

from typing import TYPE_CHECKING

from equicolor._tools.renamed import moved
from equicolor.algorithms import Window
from equicolor.nn._base import Choice, GroupConvBase, Size
from equicolor.nn._bilinear import Convolution
from equicolor.nn._calibration import calibrated
from equicolor.nn._canonicalizer import Canonical, Canonicalizer, CanonicalMode
from equicolor.nn._conv import GroupConv2d, GroupConvTranspose2d, PaddingMode
from equicolor.nn._dropout import GroupDropout
from equicolor.nn._lift import Lift
from equicolor.nn._linear import GroupLinear
from equicolor.nn._norm import BatchNorm2d, faster_norms
from equicolor.nn._pool import GroupPool, Reduce

__all__ = [
    "BatchNorm2d",
    "Canonical",
    "CanonicalMode",
    "Canonicalizer",
    "Choice",
    "Convolution",
    "GroupConv2d",
    "GroupConvBase",
    "GroupConvTranspose2d",
    "GroupDropout",
    "GroupLinear",
    "GroupPool",
    "Lift",
    "PaddingMode",
    "Reduce",
    "Size",
    "Window",
    "calibrated",
    "faster_norms",
]


_MOVED = ("CEConv2d", "CEConvLift", "CEConvTranspose2d")
if not TYPE_CHECKING:
    __getattr__ = moved(__name__, {name: f"equicolor.baselines.{name}" for name in _MOVED})
