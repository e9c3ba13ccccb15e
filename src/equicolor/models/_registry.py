"""The registry: networks by name."""

import inspect
from collections.abc import Callable
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import partial
from typing import Any

from equicolor.groups import Group
from equicolor.models._kit import Channels, Width, make_kit
from equicolor.models._model import Model
from equicolor.models._resnet import ResNet
from equicolor.models._segmenter import Segmenter
from equicolor.models._z2cnn import Z2CNN
from equicolor.nn._base import Choice

_MODELS: dict[str, Callable[..., Model]] = {
    "z2cnn": Z2CNN,
    "resnet18": partial(ResNet, 18),
    "resnet34": partial(ResNet, 34),
    "resnet44": partial(ResNet, 44),
    "resnet50": partial(ResNet, 50),
    "segmenter": Segmenter,
}


def list_models(pattern: str = "*") -> list[str]:
    """The names that :func:`create_model` takes, those that match ``pattern``.

    >>> list_models("resnet*")
    ['resnet18', 'resnet34', 'resnet44', 'resnet50']
    """
    return [name for name in _MODELS if fnmatchcase(name, pattern)]


def create_model(
    name: str,
    group: Group | str | None = None,
    num_classes: int | None = None,
    *,
    width: Width = "paper",
    mean: Channels = 0.0,
    std: Channels = 1.0,
    algorithm: Choice = "auto",
    rescale: bool = False,
    in_channels: int | None = None,
    **options: Any,
) -> Model:
    """A network of the zoo, with fresh weights. It takes images in [0, 1], RGB unless otherwise said; returns logits.

    Args:
        name: one of :func:`list_models`.
        group: a group or its name; ``"ceconvN"`` for the CEConv baseline with N rotations; None for the conventional
            network.
        num_classes: the number of logits: 10, and 1 for the segmenter, where nothing else is said.
        width: ``"paper"`` keeps the parameter count of the conventional network with widths int(w/√n); ``"fast"`` takes
            the nearest multiple of 8 instead, where convolutions run best; a number is the width of the first stage.
        mean, std: of each channel, or one number for all; the images are normalised by them after the lift. For
            CEConv, whose filters are turned and not the images, they must be the same in all three channels to keep it
            equivariant.
        algorithm: how group convolutions are computed, see :class:`equicolor.nn.GroupConv2d`.
        rescale: make up for the edges of a truncated group, see :class:`equicolor.nn.GroupConv2d`.
        in_channels: of the images; by default 3, or as many as the group, or mean and std, are for. Others than 3 go
            with groups that take them, such as ``"exp3"``, and with none.
        options: the network's own: ``bias`` of z2cnn, ``stem`` and ``group_stages`` of the ResNets, ``kernel_size`` of
            the segmenter.

    >>> model = create_model("resnet44", group="hue4", num_classes=10)
    >>> print(str(model).splitlines()[0])
    resnet44, hue4, width=paper: 2,633,322 parameters
    """
    if name not in _MODELS:
        close = get_close_matches(str(name), _MODELS, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise ValueError(f"unknown model {name!r}.{hint} There are {', '.join(_MODELS)}.")
    known = [option for option in inspect.signature(_MODELS[name]).parameters if option not in ("kit", "num_classes")]
    for option in options:
        if option not in known:
            raise TypeError(
                f"{name} has no option {option!r}. Its own are {', '.join(known)}; those of every model are group, "
                "num_classes, width, mean, std, algorithm, rescale and in_channels."
            )
    if num_classes is not None:
        options["num_classes"] = num_classes
    return _MODELS[name](make_kit(group, width, mean, std, algorithm, rescale, in_channels), **options)
