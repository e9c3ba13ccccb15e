"""The paper's networks, for any group, for none, and for the CEConv baseline. :func:`create_model` makes one.

A file for each network, which says what it is for and registers itself: every file here is imported, so a new one need
be named nowhere else. Layers belong to ``nn``, and training to ``train``.
"""

import importlib
import pkgutil
from typing import TYPE_CHECKING

from equicolor._tools.renamed import moved
from equicolor.models._canonical import Canonicalized, CanonicalizedModel, canonicalize
from equicolor.models._kit import Channels, Kit, make_kit
from equicolor.models._model import Model, Task
from equicolor.models._preparation import Images, Preparation, gray
from equicolor.models._registry import (
    check_model_name,
    create_model,
    is_from_elsewhere,
    list_models,
    model_options,
    register_model,
    register_source,
)
from equicolor.models._resnet import ResNet
from equicolor.models._segmenter import Segmenter
from equicolor.models._timm import register_in_timm
from equicolor.models._z2cnn import Z2CNN

__all__ = [
    "Z2CNN",
    "Canonicalized",
    "CanonicalizedModel",
    "Channels",
    "Images",
    "Kit",
    "Model",
    "Preparation",
    "ResNet",
    "Segmenter",
    "Task",
    "canonicalize",
    "check_model_name",
    "create_model",
    "gray",
    "is_from_elsewhere",
    "list_models",
    "make_kit",
    "model_options",
    "register_in_timm",
    "register_model",
    "register_source",
]

for _file in pkgutil.iter_modules(__path__, f"{__name__}."):
    importlib.import_module(_file.name)

if not TYPE_CHECKING:
    __getattr__ = moved(__name__, {"grey": "equicolor.models.gray"})
