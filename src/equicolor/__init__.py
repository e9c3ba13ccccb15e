"""Colour-equivariant deep learning for PyTorch."""

__version__ = "0.1.0.dev0"

from equicolor import algorithms, color, groups, nn
from equicolor.groups import Group, Hue, Luminance, Saturation, group

__all__ = ["Group", "Hue", "Luminance", "Saturation", "algorithms", "color", "group", "groups", "nn"]
