"""The registry: networks by name."""

import importlib
import inspect
from collections.abc import Callable, Mapping
from contextlib import suppress
from fnmatch import fnmatchcase
from typing import Any, Literal, NamedTuple, TypeVar, get_type_hints

from equicolor._tools.plugins import load_plugins
from equicolor._tools.spelling import did_you_mean
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
#: Makers of other libraries' networks, by what stands before the colon of their names.
_SOURCES: dict[str, Callable[..., Model]] = {}
#: Those of ours: the room that registers them, above this one, which is imported when such a network is asked for.
_ROOMS = {"timm": "equicolor.sources", "torchvision": "equicolor.sources"}
#: What makers take that are no options of a network.
_NO_OPTIONS = frozenset({"name", "group", "num_classes", "options", "return"})


def register_model(name: str, **fixed: Any) -> Callable[[_Network], _Network]:
    """Makes a network known to :func:`create_model` and whatever builds on it: a decorator for its class.

    The class is a :class:`Model` whose constructor takes a :class:`Kit`, ``num_classes`` with a default, and the
    network's own options.

    Args:
        name: what it is called.
        **fixed: arguments of the constructor that the name stands for, such as ``depth=18``.

    Returns:
        The decorator, which returns the class as it is.

    Raises:
        TypeError: the class is no :class:`Model`.
        ValueError: the name is taken.

    Example:
        >>> @ec.register_model("mean_color")  # doctest: +SKIP
        ... class MeanColor(ec.models.Model):
        ...     def __init__(self, kit, num_classes=10):
        ...         super().__init__(kit, num_classes)
        ...         self.conv = kit.first(num_classes, kernel_size=1)
        ...         self.head = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), kit.pool())
        ...
        ...     def features(self, images):
        ...         return self.conv(self.lift(images))
        >>> model = ec.create_model("mean_color", group="hue4")  # doctest: +SKIP
    """

    def register(network: _Network) -> _Network:
        if not (isinstance(network, type) and issubclass(network, Model)):
            raise TypeError(f"register_model takes a class of networks, a subclass of Model, got {network!r}")
        if name in _MODELS:
            raise ValueError(f"there is a network {name!r} already, {_MODELS[name].network.__qualname__}")
        _MODELS[name] = _Entry(network, fixed)
        return network

    return register


def register_source(name: str, make: Callable[..., Model]) -> None:
    """Makes the networks of another library known to :func:`create_model`, as ``"name:network"``.

    Args:
        name: the name of the library.
        make: takes the network's whole name, the group, the number of classes or None, and what else is given to
            :func:`create_model`, by name; returns a :class:`Model` whose ``config`` builds it anew.

    Raises:
        ValueError: the name is taken.
    """
    if name in _SOURCES:
        raise ValueError(f"there is a source {name!r} already")
    _SOURCES[name] = make


def is_from_elsewhere(name: str) -> bool:
    """Whether a name is that of another library's network, ``"timm:resnet18"``; not whether there is one.

    Args:
        name: the name.

    Returns:
        True for such a name.
    """
    return ":" in name and name.partition(":")[0] in {*_ROOMS, *_SOURCES}


def _is_known(name: str) -> bool:
    return name in _MODELS or (isinstance(name, str) and is_from_elsewhere(name))


def _maker(name: str) -> Callable[..., Model]:
    """What makes another library's network."""
    source = name.partition(":")[0]
    if source not in _SOURCES:
        importlib.import_module(_ROOMS[source])
    return _SOURCES[source]


def check_model_name(name: str) -> None:
    """Checks that :func:`create_model` could know a network of this name; other libraries are not asked.

    Args:
        name: the name.

    Raises:
        ValueError: it could not.
    """
    if not _is_known(name):
        load_plugins()  # it may be another package's
    if _is_known(name):
        return
    others = "".join(f", and {source}:NAME" for source in {**_ROOMS, **_SOURCES})
    raise ValueError(
        f"unknown model {name!r}.{did_you_mean(name, _MODELS)} There are {', '.join(list_models())}{others}."
    )


def list_models(pattern: str = "*", task: Task | None = None) -> list[str]:
    """Lists the names that :func:`create_model` takes.

    Args:
        pattern: only those that match it, ``"resnet*"``.
        task: only those for this task, ``"classification"`` or ``"segmentation"``.

    Returns:
        The names, in the order of the alphabet.

    Example:
        >>> list_models("resnet*")
        ['resnet18', 'resnet34', 'resnet44', 'resnet50']
        >>> list_models(task="segmentation")
        ['segmenter']
    """
    return sorted(
        name for name, entry in _MODELS.items() if fnmatchcase(name, pattern) and task in (None, entry.network.task)
    )


def model_options(name: str) -> dict[str, Any]:
    """The options that :func:`create_model` takes for a network beside ``group`` and ``num_classes``.

    Args:
        name: one of :func:`list_models`, or ``"timm:NAME"``, which may take further options of the library's own.

    Returns:
        A type for each name, ``Any`` where the network does not say it; those of the network alone come first.

    Example:
        >>> list(model_options("z2cnn"))[:3]
        ['bias', 'softmax', 'width']
    """
    check_model_name(name)
    if name not in _MODELS:
        made = get_type_hints(_maker(name))
        return {option: kind for option, kind in made.items() if option not in _NO_OPTIONS}
    network, fixed = _MODELS[name]
    common = ("kit", "num_classes", *fixed)
    own = [option for option in inspect.signature(network).parameters if option not in common]
    every = [
        option
        for option, parameter in inspect.signature(create_model).parameters.items()
        if option not in ("name", "group", "num_classes") and parameter.kind is not parameter.VAR_KEYWORD
    ]
    hints = get_type_hints(create_model)
    with suppress(NameError, TypeError):  # a network of others, whose types are not there at run time
        hints |= get_type_hints(network.__init__)
    return {option: hints.get(option, Any) for option in (*own, *every)}


def create_model(
    name: str,
    group: Group | str | None = None,
    num_classes: int | None = None,
    *,
    width: Width | Literal["same", "matched"] | None = None,
    mean: Channels | None = None,
    std: Channels | None = None,
    algorithm: Choice = "auto",
    rescale: bool = False,
    window: Window = "zero",
    reduce: Reduce = "max",
    in_channels: int | None = None,
    canonicalize: str | Mapping[str, Any] | None = None,
    **options: Any,
) -> Model:
    """Makes a network of the zoo with fresh weights, or one of timm's or torchvision's with those it was trained to.

    It takes images in [0, 1], RGB unless otherwise said, and returns logits.

    Args:
        name: one of :func:`list_models`; or ``"timm:NAME"``, ``"torchvision:NAME"``, see ``docs/pretrained.md``.
        group: a group or its name; ``"ceconvN"`` for the CEConv baseline with N rotations; None for the conventional
            network.
        num_classes: the number of logits; by default 10, and 1 for the segmenter.
        width: ``"paper"`` keeps the parameter count of the conventional network with widths int(w/√n); ``"fast"`` takes
            the nearest multiple of 8 instead, where convolutions run best; a number is the width of the first stage. Of
            other libraries' networks ``"same"``, the default, or ``"matched"``, see :func:`equicolor.convert`.
        mean: subtracted from the images after the lift, one number for each channel or one for all. By default 0, or
            what another library's network was trained with. For CEConv, whose filters are turned and not the images, it
            must be the same in all three channels to keep the network equivariant.
        std: what the images are then divided by; by default 1, otherwise as ``mean``.
        algorithm: how group convolutions are computed, see :class:`equicolor.nn.GroupConv2d`.
        rescale: the same as ``window="rescale"``.
        window: what a truncated group sees beyond the edge of its window, see :class:`equicolor.nn.GroupConv2d`. With
            ``"valid"``, for z2cnn, each convolution takes an element from either end of a window, and the network pools
            over the group while three are left; what follows is conventional.
        reduce: how the network pools over the group, see :class:`equicolor.nn.GroupPool`.
        in_channels: channels of the images; by default 3, or as many as the group, or mean and std, are for. Others
            than 3 go with groups that take them, such as ``"exp3"``, and with none.
        canonicalize: the colour moves that are undone before the network looks, ``"temp-tint"``, or all arguments of
            :class:`equicolor.nn.Canonicalizer` by name; see :func:`equicolor.canonicalize`.
        **options: the network's own: ``bias`` of z2cnn, ``stem`` and ``pool_after`` of the ResNets, ``kernel_size``
            of the segmenter. Of other libraries' networks ``pretrained``, ``weights`` (a file), ``pool_before``,
            ``budget``, ``budget_of``, and some of the library's own: see :func:`equicolor.sources.make`.

    Returns:
        The network, in training mode.

    Raises:
        TypeError: the network has no such option.
        ValueError: there is no network or group of this name, or an argument has no such value.

    Example:
        >>> model = create_model("resnet44", group="hue4", num_classes=10)
        >>> print(str(model).splitlines()[0])
        resnet44, hue4, width=paper: 2,633,322 parameters
    """
    check_model_name(name)
    if name not in _MODELS:
        unused: dict[str, tuple[object, object]] = {"algorithm": (algorithm, "auto"), "rescale": (rescale, False)}
        unused |= {"window": (window, "zero"), "in_channels": (in_channels, None)}
        for option, (value, default) in unused.items():
            if value != default:
                raise TypeError(f"{name} takes no {option}: that is for the networks of list_models()")
        made = _maker(name)
        model = made(name, group, num_classes, width=width, mean=mean, std=std, reduce=reduce, **options)
        return _canonicalized(model, canonicalize)
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
    made = network  # each has options of its own
    if width in ("same", "matched"):
        raise ValueError(f"width={width!r} is for other libraries' networks; {name} takes 'paper', 'fast' or a number")
    chosen: Any = "paper" if width is None else width
    mean, std = 0.0 if mean is None else mean, 1.0 if std is None else std
    kit = make_kit(group, chosen, mean, std, algorithm, rescale, window, reduce, in_channels)
    model = made(kit, **fixed, **options)
    model.config = {"name": name, **model.config}
    return _canonicalized(model, canonicalize)


def _canonicalized(model: Model, canonicalize: str | Mapping[str, Any] | None) -> Model:
    if canonicalize is None:
        return model
    canonicalizer = Canonicalizer(**({"group": canonicalize} if isinstance(canonicalize, str) else canonicalize))
    return CanonicalizedModel(model, canonicalizer)
