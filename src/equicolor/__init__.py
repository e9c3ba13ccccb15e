"""Colour-equivariant deep learning for PyTorch.

A feature on a group of colour moves is an ordinary tensor with the group stacked along the batch, so ordinary modules
work on it. Three layers know about the group: :class:`nn.Lift`, :class:`nn.GroupConv2d` and :class:`nn.GroupPool`.
"""

from equicolor import algorithms, baselines, color, data, files, groups, measure, models, nn, testing
from equicolor.convert import convert
from equicolor.deploy import export_onnx, optimize_for_inference
from equicolor.files import from_pretrained, push_to_hub, save_pretrained
from equicolor.groups import (
    DAB,
    Eosin,
    Exposure,
    Factor,
    Gain,
    Group,
    Haematoxylin,
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

__version__ = "0.1.0.dev0"

__all__ = [
    "DAB",
    "Eosin",
    "Exposure",
    "Factor",
    "Gain",
    "Group",
    "Haematoxylin",
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
    "equivariance_error",
    "export_onnx",
    "files",
    "from_pretrained",
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
    "testing",
]
