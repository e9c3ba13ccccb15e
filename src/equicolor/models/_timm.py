"""Our networks in timm's registry, for those whose scripts begin with ``timm.create_model``."""

import sys
from collections.abc import Callable
from typing import Any

from equicolor._tools import vision
from equicolor.models._model import Model
from equicolor.models._registry import create_model, list_models

_PREFIX = "equicolor_"
#: What timm gives to every network that it makes, and ours have no use for.
_UNUSED = ("pretrained_cfg", "pretrained_cfg_overlay", "cache_dir")


def register_in_timm() -> list[str]:
    """Makes our classifiers known to timm: ``timm.create_model("equicolor_resnet18", group="hue4", num_classes=10)``.

    Arguments are those of :func:`create_model`. The networks take images in [0, 1] and normalise inside, which their
    ``pretrained_cfg`` says too: mean 0, std 1. Networks that were registered since are added when it is called again.

    Returns:
        The names, all that ``timm.list_models("equicolor_*")`` lists.

    Raises:
        ModuleNotFoundError: timm is not installed.
    """
    timm: Any = vision.timm()
    names = [f"{_PREFIX}{name}" for name in list_models(task="classification")]
    for name in names:
        if not timm.is_model(name):
            timm.models.register_model(_entry(name))
    return names


def _entry(name: str) -> Callable[..., Model]:
    """A function of that name in this module, as timm's registry takes them."""

    def make(pretrained: bool = False, **options: Any) -> Model:
        if pretrained:
            raise ValueError(f"there are no pretrained weights of {name}: from_pretrained opens networks of your own")
        for unused in _UNUSED:
            options.pop(unused, None)
        model: Any = create_model(name.removeprefix(_PREFIX), **options)
        size = model.image_size
        model.num_classes = model.config["num_classes"]
        model.pretrained_cfg = model.default_cfg = {
            "architecture": name,
            "input_size": (model.config["in_channels"], size, size),
            "num_classes": model.num_classes,
            "mean": (0.0,) * model.config["in_channels"],
            "std": (1.0,) * model.config["in_channels"],
            "crop_pct": 1.0,
            "interpolation": "bilinear",
        }
        return model  # type: ignore[no-any-return]

    make.__name__ = make.__qualname__ = name
    make.__module__ = __name__
    setattr(sys.modules[__name__], name, make)
    return make
