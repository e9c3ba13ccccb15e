"""The registry: networks by name."""

import inspect
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any, NamedTuple, TypeVar

from equicolor.groups import Group
from equicolor.models._canonical import CanonicalizedModel
from equicolor.models._kit import Channels, Width, make_kit
from equicolor.models._model import Model, Task
from equicolor.nn import Canonicalizer, Choice, Reduce, Window

_Network = TypeVar("_Network", bound=type[Model])


class _Entry(NamedTuple):
    network: type[Model]
    fixed: dict[str, Any]


_MODELS: dict[str, _Entry] = {}


def register_model(name: str, **fixed: Any) -> Callable[[_Network], _Network]:
    """Makes a network known to :func:`create_model` and whatever builds on it: a decorator for its class.

    The class is a :class:`Model` whose constructor takes a :class:`Kit`, ``num_classes`` with a default, and the
    network's own options.

    Args:
        name: what it is called.
        fixed: arguments of the constructor that the name stands for, such as ``depth=18``.

    Raises:
        ValueError: the name is taken.

    Example::

        @ec.register_model("mean_colour")
        class MeanColour(ec.models.Model):
            def __init__(self, kit, num_classes=10):
                super().__init__(kit, num_classes)
                self.conv = kit.first(num_classes, kernel_size=1)
                self.head = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), kit.pool())

            def features(self, images):
                return self.conv(self.lift(images))

        ec.create_model("mean_colour", group="hue4")
    """

    def register(network: _Network) -> _Network:
        if not (isinstance(network, type) and issubclass(network, Model)):
            raise TypeError(f"register_model takes a class of networks, a subclass of Model, got {network!r}")
        if name in _MODELS:
            raise ValueError(f"there is a network {name!r} already, {_MODELS[name].network.__qualname__}")
        _MODELS[name] = _Entry(network, fixed)
        return network

    return register


def list_models(pattern: str = "*", task: Task | None = None) -> list[str]:
    """The names that :func:`create_model` takes, in the order of the alphabet.

    Args:
        pattern: only those that match it.
        task: only those for it, ``"classification"`` or ``"segmentation"``.

    >>> list_models("resnet*")
    ['resnet18', 'resnet34', 'resnet44', 'resnet50']
    >>> list_models(task="segmentation")
    ['segmenter']
    """
    return sorted(
        name for name, entry in _MODELS.items() if fnmatchcase(name, pattern) and task in (None, entry.network.task)
    )


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
    window: Window = "zero",
    reduce: Reduce = "max",
    in_channels: int | None = None,
    canonicalize: str | Mapping[str, Any] | None = None,
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
        window: what a truncated group takes for what is outside its window, see :class:`equicolor.nn.GroupConv2d`.
            With ``"valid"``, for z2cnn, each convolution takes an element from either end of a window, and the network
            pools over the group while three are left; what follows is conventional.
        rescale: another way to say ``window="rescale"``.
        reduce: how it pools over the group, see :class:`equicolor.nn.GroupPool`.
        in_channels: of the images; by default 3, or as many as the group, or mean and std, are for. Others than 3 go
            with groups that take them, such as ``"exp3"``, and with none.
        canonicalize: the colour moves that are undone before the network looks, ``"temp-tint"``, or all arguments of
            :class:`equicolor.nn.Canonicalizer` by name; see :func:`equicolor.canonicalize`.
        options: the network's own: ``bias`` of z2cnn, ``stem`` and ``group_stages`` of the ResNets, ``kernel_size`` of
            the segmenter.

    >>> model = create_model("resnet44", group="hue4", num_classes=10)
    >>> print(str(model).splitlines()[0])
    resnet44, hue4, width=paper: 2,633,322 parameters
    """
    if name not in _MODELS:
        close = get_close_matches(str(name), _MODELS, n=1)
        hint = f" Did you mean {close[0]!r}?" if close else ""
        raise ValueError(f"unknown model {name!r}.{hint} There are {', '.join(list_models())}.")
    network, fixed = _MODELS[name]
    known = [option for option in inspect.signature(network).parameters if option not in {"kit", "num_classes", *fixed}]
    for option in options:
        if option not in known:
            raise TypeError(
                f"{name} has no option {option!r}. Its own are {', '.join(known) or 'none'}; those of every model are "
                "group, num_classes, width, mean, std, algorithm, rescale, window, reduce, in_channels and "
                "canonicalize."
            )
    if num_classes is not None:
        options["num_classes"] = num_classes
    made: Callable[..., Model] = network  # each has options of its own
    kit = make_kit(group, width, mean, std, algorithm, rescale, window, reduce, in_channels)
    model = made(kit, **fixed, **options)
    model.config = {"name": name, **model.config}
    if canonicalize is None:
        return model
    canonicalizer = Canonicalizer(**({"group": canonicalize} if isinstance(canonicalize, str) else canonicalize))
    return CanonicalizedModel(model, canonicalizer)
