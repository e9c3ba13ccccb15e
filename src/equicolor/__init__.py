"""Colour-equivariant deep learning for PyTorch.

A feature on a group of colour moves is an ordinary tensor with the group stacked along the batch, so ordinary modules
work on it. Three layers know about the group: :class:`nn.Lift`, :class:`nn.GroupConv2d` and :class:`nn.GroupPool`.

What a colour does is in ``color``, which moves there are in ``groups``, how they are summed in ``algorithms``; layers
are in ``nn``, networks in ``models``, and in ``baselines``, ``convert`` and ``sources`` those of others; ``fusion``
computes them in fewer passes. ``files`` and ``deploy`` keep and hand on a network, ``measure`` and ``testing`` say how
equivariant it is. Work with images is in ``data``, ``metrics``, ``train`` and ``trained``; what people start, in
``comparison``, ``experiments``, ``bench`` and ``commands``. A room imports from those below it alone:
``docs/architecture.md``.

Names are imported when they are first used: a command line that only has to say which option is wrong does not wait
for PyTorch.
"""

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from equicolor._tools.later import later
from equicolor._tools.renamed import moved

if TYPE_CHECKING:
    from equicolor import algorithms, baselines, color, data, files, groups, measure, models, nn, sources, testing
    from equicolor.convert import convert
    from equicolor.deploy import export_onnx, optimize_for_inference
    from equicolor.files import from_pretrained, push_to_hub, save_pretrained
    from equicolor.fusion import fuse_for_training
    from equicolor.groups import (
        DAB,
        Eosin,
        Exposure,
        Factor,
        Gain,
        Group,
        Hematoxylin,
        Hue,
        Luminance,
        Saturation,
        Stain,
        Temperature,
        Tint,
        group,
        register_group,
    )
    from equicolor.measure import equivariance_error
    from equicolor.models import canonicalize, create_model, list_models, register_model
    from equicolor.trained import diagnose

__version__ = "0.1.0"

__all__ = [
    "DAB",
    "Eosin",
    "Exposure",
    "Factor",
    "Gain",
    "Group",
    "Hematoxylin",
    "Hue",
    "Luminance",
    "Saturation",
    "Stain",
    "Temperature",
    "Tint",
    "algorithms",
    "baselines",
    "canonicalize",
    "color",
    "convert",
    "create_model",
    "data",
    "diagnose",
    "equivariance_error",
    "export_onnx",
    "files",
    "from_pretrained",
    "fuse_for_training",
    "group",
    "groups",
    "list_models",
    "measure",
    "models",
    "nn",
    "optimize_for_inference",
    "push_to_hub",
    "register_group",
    "register_model",
    "save_pretrained",
    "sources",
    "testing",
]

if not TYPE_CHECKING:
    __getattr__, __dir__ = later(
        __name__,
        {
            "equicolor": (
                *("algorithms", "baselines", "color", "data", "files", "groups", "measure", "models", "nn"),
                *("sources", "testing"),
            ),
            "equicolor.convert": ("convert",),
            "equicolor.deploy": ("export_onnx", "optimize_for_inference"),
            "equicolor.files": ("from_pretrained", "push_to_hub", "save_pretrained"),
            "equicolor.fusion": ("fuse_for_training",),
            "equicolor.groups": (
                *("DAB", "Eosin", "Exposure", "Factor", "Gain", "Group", "Hematoxylin", "Hue", "Luminance"),
                *("Saturation", "Stain", "Temperature", "Tint", "group", "register_group"),
            ),
            "equicolor.measure": ("equivariance_error",),
            "equicolor.models": ("canonicalize", "create_model", "list_models", "register_model"),
            "equicolor.trained": ("diagnose",),
        },
        otherwise=moved(__name__, {"Haematoxylin": "equicolor.groups.Hematoxylin"}, stacklevel=3),
    )

    class _Package(ModuleType):
        """The package, in which ``convert`` is the function, also once the package of that name has been imported.

        Python sets what is imported as an attribute of the package it is in, and a function of the same name, which
        is not there yet, cannot take the place afterwards.
        """

        @property
        def convert(self) -> Any:
            from equicolor.convert import convert

            return convert

        @convert.setter
        def convert(self, _module: ModuleType) -> None:
            pass

    sys.modules[__name__].__class__ = _Package
