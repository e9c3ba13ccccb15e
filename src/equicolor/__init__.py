"""Colour-equivariant deep learning for PyTorch."""

__version__ = "0.1.0.dev0"

from equicolor import algorithms, color, data, groups, nn
from equicolor.groups import Group, Hue, Luminance, Saturation, group

__all__ = ["Group", "Hue", "Luminance", "Saturation", "algorithms", "color", "data", "group", "groups", "nn"]
