"""Packages whose names are imported when they are first asked for, so that importing the package waits for nothing."""

import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any


def later(
    package: str, imports: Mapping[str, Sequence[str]], otherwise: Callable[[str], Any] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` of a package, by which its names are found where they are (PEP 562).

    Type checkers read the same imports under ``TYPE_CHECKING``; a test holds the two against each other.

    Args:
        package: its name, ``__name__``.
        imports: module and names, as in ``from module import names``. Modules of the package are names of its own.
        otherwise: asked for all other names, a function of :func:`equicolor._tools.renamed.moved`.

    Returns:
        The two functions.

    Example::

        __getattr__, __dir__ = later(__name__, {"equicolor": ("nn",), "equicolor.groups": ("Hue", "group")})
    """
    places = {name: module for module, names in imports.items() for name in names}

    def get(name: str) -> Any:
        if name not in places and otherwise is not None:
            return otherwise(name)
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if places[name] == package:
            return importlib.import_module(f"{package}.{name}")
        value = getattr(importlib.import_module(places[name]), name)
        vars(sys.modules[package])[name] = value  # the next time it is there
        return value

    def listed() -> list[str]:
        return sorted({*vars(sys.modules[package]), *places})

    return get, listed
