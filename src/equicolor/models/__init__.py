"""The paper's networks, for any group, for none, and for the CEConv baseline. :func:`create_model` makes one.

A file for each network, which says what it is for and registers itself: every file here is imported, so a new one need
be named nowhere else. Layers belong to ``nn``, and training to ``train``.
"""

import importlib
import pkgutil

from equicolor.models._canonical import Canonicalized, CanonicalizedModel, canonicalize
from equicolor.models._kit import Channels, Kit, Width, make_kit
from equicolor.models._model import Model, Task
from equicolor.models._preparation import Images, Preparation, grey
from equicolor.models._registry import create_model, list_models, register_model
from equicolor.models._resnet import ResNet
from equicolor.models._segmenter import Segmenter
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
    "Width",
    "canonicalize",
    "create_model",
    "grey",
    "list_models",
    "make_kit",
    "register_model",
]

for _file in pkgutil.iter_modules(__path__, f"{__name__}."):
    importlib.import_module(_file.name)
