"""Which colour moves there are: the contract of a factor, families, products, names.

A group here is a small immutable value, ``Hue(4)`` or ``Hue(4) * Saturation(3)``, whose ``str`` is its name and reads
back through :func:`group`. Its elements are integers, or tuples of them for a product: ``i`` stands for the i-th
multiple of the group's step. It acts on images by moving their colours (the paper's φ) and on features, whose batch
axis holds the group's elements one after the other, by moving those (the paper's ϕ). What a move does to a colour is
said in :mod:`equicolor.color`; what networks do with groups, further up. A file here registers the factors in it, and
is found by being there.
"""

import importlib
import pkgutil
from typing import TYPE_CHECKING

from equicolor._tools.renamed import moved
from equicolor.groups._factor import Factor
from equicolor.groups._family import Family
from equicolor.groups._group import Element, Group
from equicolor.groups._hsl import Hue, Luminance, Saturation
from equicolor.groups._light import Exposure, Gain, Light, Temperature, Tint
from equicolor.groups._names import factor_kind, group, register_group, registered_factors, rgb_factors
from equicolor.groups._product import Product
from equicolor.groups._stain import DAB, Eosin, Hematoxylin, Stain
from equicolor.groups._write import argument_names, read_arguments, written_arguments

__all__ = [
    "DAB",
    "Element",
    "Eosin",
    "Exposure",
    "Factor",
    "Family",
    "Gain",
    "Group",
    "Hematoxylin",
    "Hue",
    "Light",
    "Luminance",
    "Product",
    "Saturation",
    "Stain",
    "Temperature",
    "Tint",
    "argument_names",
    "factor_kind",
    "group",
    "read_arguments",
    "register_group",
    "registered_factors",
    "rgb_factors",
    "written_arguments",
]

for _file in pkgutil.iter_modules(__path__, f"{__name__}."):
    importlib.import_module(_file.name)

if not TYPE_CHECKING:
    __getattr__ = moved(__name__, {"Haematoxylin": "equicolor.groups.Hematoxylin"})
