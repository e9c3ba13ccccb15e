"""The paper's networks, for any group, for none, and for the CEConv baseline. :func:`create_model` makes one."""

from equicolor.models._model import Model
from equicolor.models._registry import create_model, list_models
from equicolor.models._resnet import ResNet
from equicolor.models._segmenter import Segmenter
from equicolor.models._z2cnn import Z2CNN

__all__ = ["Z2CNN", "Model", "ResNet", "Segmenter", "create_model", "list_models"]
