"""Names that are spelled otherwise now, or live elsewhere: the old ones still work, and say which are the new."""

import functools
import importlib
import warnings
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

Named = TypeVar("Named", bound=Callable[..., Any])


def moved(package: str, names: Mapping[str, str], stacklevel: int = 2) -> Callable[[str], Any]:
    """A ``__getattr__`` for a package, by which names that it had are found under those that they have now.

    Args:
        package: its name, ``__name__``.
        names: old name to where it is now, written out: ``{"CEConv2d": "equicolor.baselines.CEConv2d"}``.
        stacklevel: how far up whoever asks is, as :func:`warnings.warn` counts.

    Returns:
        The function. It warns of each old name.
    """

    def get(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        place, _, now = names[name].rpartition(".")
        warnings.warn(f"{package}.{name} is now {names[name]}", DeprecationWarning, stacklevel=stacklevel)
        return getattr(importlib.import_module(place), now)

    return get


def renamed(**names: str) -> Callable[[Named], Named]:
    """A decorator for a function or a class whose keyword arguments, or fields, had other names.

    Args:
        **names: old name to new.

    Returns:
        The decorator. The old names still work, with a warning; of a class, as attributes, too.

    Example:
        >>> @renamed(licence="license")
        ... def publish(license):
        ...     return license
        >>> with warnings.catch_warnings(record=True):
        ...     publish(licence="mit")
        'mit'
    """

    def decorate(target: Named) -> Named:
        called: Callable[..., Any] = vars(target)["__init__"] if isinstance(target, type) else target

        @functools.wraps(called)
        def call(*args: Any, **kwargs: Any) -> Any:
            for old in names.keys() & kwargs.keys():
                if names[old] in kwargs:
                    raise TypeError(f"{target.__name__} takes {names[old]}, or {old}, and not both")
                _warn(f"the argument {old} of {target.__name__}", names[old])
                kwargs[names[old]] = kwargs.pop(old)
            return called(*args, **kwargs)

        if not isinstance(target, type):
            return call  # type: ignore[return-value]
        target.__init__ = call  # type: ignore[misc]
        for old, new in names.items():
            setattr(target, old, property(functools.partial(_get, target.__name__, old, new)))
        return target

    return decorate


def _get(owner: str, old: str, new: str, value: object) -> Any:
    _warn(f"{owner}.{old}", new)
    return getattr(value, new)


def _warn(old: str, new: str) -> None:
    warnings.warn(f"{old} is now {new}", DeprecationWarning, stacklevel=3)
