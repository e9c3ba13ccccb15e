"""A network of another library by its name: built, given weights, converted, and known by what made it."""

import os
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, Literal

import torch
from torch import Tensor

from equicolor.convert import BudgetOf, Converted, about, classifier_of, convert, normalization
from equicolor.groups import Group
from equicolor.models import Channels, Model, register_source
from equicolor.nn import Reduce
from equicolor.sources._library import Library
from equicolor.sources._timm import Timm
from equicolor.sources._torchvision import Torchvision
from equicolor.sources._weights import load_weights

_LIBRARIES: dict[str, Library] = {library.name: library for library in (Timm(), Torchvision())}
_DEFAULT_SIZE = 224


class SourceModel(Converted, Model):  # type: ignore[misc]  # whose lift is not any module, but a Lift
    """A network of another library, converted or behind its normalisation, as :func:`equicolor.create_model` makes it.

    It is a :class:`equicolor.models.Model`, which can be trained, saved and opened again, and has all that a
    :class:`equicolor.convert.Converted` network has.

    Args:
        converted: the converted network.
        config: what made it, without its weights: ``create_model(**model.config)`` downloads nothing.
    """

    def __init__(self, converted: Converted, config: dict[str, Any]) -> None:
        super(Model, self).__init__()
        vars(self).update(vars(converted))  # its layers and all else: it is that network
        self.config = config
        self.image_size = _DEFAULT_SIZE if self.preparation is None else self.preparation.image_size

    def reset_classifier(self, num_classes: int, *args: Any, **kwargs: Any) -> None:
        """Puts a new classifier in the place of the old one, see :meth:`Converted.reset_classifier`.

        Args:
            num_classes: the number of its logits.
            *args: as in :meth:`Converted.reset_classifier`.
            **kwargs: as in :meth:`Converted.reset_classifier`.
        """
        super().reset_classifier(num_classes, *args, **kwargs)
        self.config = {**self.config, "num_classes": num_classes}


def make(
    name: str,
    group: Group | str | None,
    num_classes: int | None = None,
    *,
    width: Literal["same", "matched"] | None = None,
    mean: Channels | None = None,
    std: Channels | None = None,
    reduce: Reduce = "max",
    pool_before: str | None = None,
    budget: float | None = None,
    budget_of: BudgetOf = "parameters",
    image_size: int | None = None,
    weights: str | os.PathLike[str] | None = None,
    pretrained: bool | None = None,
    **options: Any,
) -> SourceModel:
    """Makes a network of another library: :func:`equicolor.create_model` for a name such as ``"timm:resnet18"``.

    Args:
        name: the library, a colon, and the name of the network there.
        group: what to convert it to, see :func:`equicolor.convert`; None leaves it as it is, behind its normalisation.
        num_classes: the number of logits; by default as many as it was trained for.
        width: as in :func:`equicolor.convert`.
        mean: by default that of the weights it was trained with.
        std: by default that of the weights it was trained with.
        reduce: as in :func:`equicolor.convert`.
        pool_before: as in :func:`equicolor.convert`.
        budget: as in :func:`equicolor.convert`.
        budget_of: as in :func:`equicolor.convert`.
        image_size: as in :func:`equicolor.convert`.
        weights: a file to take the weights from, ``.safetensors`` or ``.pth``; nothing is downloaded then.
        pretrained: download the weights that the library has; by default where there are any, and no file is given.
        **options: the library's own: for timm ``drop_rate``, ``drop_path_rate``, ``global_pool``, ``output_stride`` and
            ``img_size``; for torchvision ``dropout``, ``stochastic_depth_prob`` and ``aux_logits``.

    Returns:
        The network.

    Raises:
        ValueError: there is no such network, it cannot be converted, or the file does not fit it.
        RuntimeError: the weights could not be downloaded.
        ModuleNotFoundError: the library is not installed.
    """
    library, own = _found(name, options)
    width = "same" if width is None else width
    if width not in ("same", "matched"):
        raise ValueError(f"width of {name} must be 'same' or 'matched', got {width!r}")
    if num_classes is not None and (
        isinstance(num_classes, bool) or not isinstance(num_classes, int) or num_classes < 1
    ):
        raise ValueError(f"num_classes must be a positive whole number, got {num_classes!r}")
    if weights is not None and pretrained:
        raise ValueError("weights are those of a file, or pretrained ones that are downloaded: give one of the two")
    if width == "matched" and (weights is not None or pretrained):
        raise ValueError("width='matched' changes the width of every layer, so no weights can be kept: width='same'")
    if pretrained is None:
        pretrained = weights is None and width == "same" and library.has_weights(own)
    elif pretrained and not library.has_weights(own):
        raise ValueError(f"there are no weights of {name} to be downloaded: pretrained=False, or weights=FILE")
    network = library.made(own, num_classes, pretrained, options)
    if weights is not None:
        load_weights(network, weights, classifier_of(network, image_size))
    mean, std = normalization(about(network), mean, std)
    converted = convert(
        network,
        group,
        pool_before,
        width,
        keep_weights=group is None or pretrained or weights is not None,
        reduce=reduce,
        budget=budget,
        budget_of=budget_of,
        mean=mean,
        std=std,
        image_size=image_size,
    ).train()
    config = {
        "name": name,
        "num_classes": converted.num_classes,
        "group": None if group is None else str(group),
        "width": width,
        "mean": _plain(mean),
        "std": _plain(std),
        "reduce": reduce,
        "pool_before": converted.pool_before,
        "image_size": image_size,
        "pretrained": False,  # whoever builds it anew has its weights
        **options,
    }
    return SourceModel(converted, config)


def in_order(name: str, weights: Mapping[str, Tensor], num_classes: int | None = None) -> dict[str, Tensor]:
    """Gives tensors the names that a network has for them, in the same order: for weights of another code.

    Args:
        name: the name of the network, ``"timm:tf_efficientnet_lite0"``.
        weights: the weights of another implementation of it, see :func:`read_weights`.
        num_classes: the number of classes that these weights are for; by default as many as the network was trained
            for.

    Returns:
        What ``create_model(name, weights=FILE)`` takes, once it is in a file.

    Raises:
        ValueError: there are more or fewer than the network has, or one has another shape.
    """
    library, own = _found(name, {})
    with torch.device("meta"):
        expected = library.build(own, num_classes, False, {}).state_dict()
    if len(expected) != len(weights):
        raise ValueError(f"{name} has {len(expected)} tensors, got {len(weights)}")
    for (theirs, given), (ours, value) in zip(weights.items(), expected.items(), strict=True):
        if given.shape != value.shape:
            raise ValueError(
                f"{theirs!r} of shape {tuple(given.shape)} stands in the place of {ours!r}, {tuple(value.shape)}"
            )
    return {ours: given.contiguous() for ours, given in zip(expected, weights.values(), strict=True)}


def _found(name: str, options: Mapping[str, Any]) -> tuple[Library, str]:
    source, _, own = name.partition(":")
    if source not in _LIBRARIES:
        raise ValueError(f"expected the name of a network such as timm:resnet18, got {name!r}")
    _LIBRARIES[source].check(own, options)
    return _LIBRARIES[source], own


def _plain(value: float | Sequence[float]) -> float | list[float]:
    """As JSON has it."""
    return float(value) if isinstance(value, Real) else [float(each) for each in value]  # type: ignore[union-attr]


for _name in _LIBRARIES:
    register_source(_name, make)
