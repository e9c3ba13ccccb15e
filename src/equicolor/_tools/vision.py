"""torchvision and timm, which are optional: imported when first needed, also beside a build of torch that they miss.

The wheel of torchvision holds compiled operators for one build of torch. Beside another, as a CPU build, they do not
load, and its import stops at two that its Python code mentions, ``nms`` and ``qnms`` of detection. None of its
classifiers call them. So they are declared, without a body, where that is the one thing missing.
"""

import importlib
import importlib.util
import sys
from typing import Any

import torch

from equicolor._tools.optional import require

_INSTALL = "equicolor[pretrained]"
_MISSING = "operator torchvision::"
#: Declared operators; they live as long as this does.
_DECLARED: list[Any] = []


def torchvision() -> Any:
    """``torchvision``.

    Raises:
        ModuleNotFoundError: it is not installed; the message says how to.
    """
    try:
        return _required("torchvision")
    except RuntimeError as error:
        if _MISSING not in str(error) or _DECLARED:
            raise
    for name in [name for name in sys.modules if name.partition(".")[0] == "torchvision"]:
        del sys.modules[name]  # what was imported of it before it stopped
    library: Any = torch.library.Library("torchvision", "FRAGMENT")  # type: ignore[no-untyped-call]
    for name in ("nms", "qnms"):
        library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
    _DECLARED.append(library)
    return importlib.import_module("torchvision")


def before_others_import_it() -> None:
    """Makes torchvision importable, where it is there: torchmetrics imports it wherever it is installed."""
    if "torchvision" not in sys.modules and importlib.util.find_spec("torchvision") is not None:
        torchvision()


def timm() -> Any:
    """``timm``, which imports torchvision.

    Raises:
        ModuleNotFoundError: one of them is not installed; the message says how to.
    """
    if "timm" not in sys.modules:
        torchvision()
    return _required("timm")


def _required(name: str) -> Any:
    return require(name, f"a network of {name}", _INSTALL)
