"""Groups by name, and the factors that have one."""

import re
from collections.abc import Mapping
from dataclasses import MISSING, fields
from functools import reduce
from types import MappingProxyType
from typing import TypeVar

from equicolor.groups._factor import Factor
from equicolor.groups._group import MOST_ELEMENTS, Group
from equicolor.groups._write import read_arguments

_FACTORS: dict[str, type[Factor]] = {}
_FACTOR_NAME = re.compile(r"(?P<prefix>[a-z]+)(?P<n>[0-9]+)(?:\((?P<arguments>[^()]*)\))?")
_PREFIX = re.compile("[a-z]+")
#: Other things that are named like groups: the baseline of :func:`equicolor.create_model`.
_TAKEN = ("ceconv",)

F = TypeVar("F", bound=type[Factor])


def register_group(kind: F) -> F:
    """Makes a factor known by its ``prefix``: to :func:`group`, and so to cards, recipes, shifts, jitter and curves.

    Args:
        kind: a class derived from :class:`Factor`.

    Returns:
        The class, so that this can be written above it as a decorator.

    Raises:
        TypeError: it is no factor, or does not say all that a factor must.
        ValueError: the prefix is not of lower-case letters, or belongs to another.

    Example:
        >>> @register_group  # doctest: +SKIP
        ... class Swap(Factor):
        ...     prefix, quantity, period = "swap", "channels", 3.0
        ...
        ...     def move(self, images, amount):
        ...         return images.roll(round(float(amount)), dims=-3)
        >>> group("swap3").order  # doctest: +SKIP
        3
    """
    if not (isinstance(kind, type) and issubclass(kind, Factor)):
        raise TypeError(f"register_group takes a class derived from equicolor.Factor, got {kind!r}")
    for attribute in ("prefix", "quantity", "unit"):
        if not isinstance(getattr(kind, attribute, None), str):
            raise TypeError(
                f"{kind.__name__} must say its {attribute}, in a string, got {getattr(kind, attribute, None)!r}"
            )
    missing = sorted(getattr(kind, "__abstractmethods__", ()))
    if missing:
        raise TypeError(f"{kind.__name__} must define {', '.join(missing)}")
    if not _PREFIX.fullmatch(kind.prefix):
        raise ValueError(
            f"the prefix of {kind.__name__} must be of lower-case letters a to z alone, got {kind.prefix!r}"
        )
    known = _FACTORS.get(kind.prefix, kind)
    same = (known.__module__, known.__qualname__) == (kind.__module__, kind.__qualname__)  # defined once more
    if kind.prefix in _TAKEN or not same:
        raise ValueError(f"the prefix {kind.prefix!r} is taken, by {known.__name__ if not same else 'a baseline'}")
    _FACTORS[kind.prefix] = kind
    return kind


def registered_factors() -> Mapping[str, type[Factor]]:
    """The registered classes of factors.

    Returns:
        The classes by prefix.

    Example:
        >>> list(registered_factors())[:3]
        ['hue', 'sat', 'lum']
    """
    return MappingProxyType(_FACTORS)


def rgb_factors() -> dict[str, Factor]:
    """One factor of each registered class that moves RGB images and needs no arguments.

    Returns:
        The factors by prefix.

    Example:
        >>> list(rgb_factors())[:3]
        ['hue', 'sat', 'lum']
    """
    usable: dict[str, Factor] = {}
    for prefix, kind in _FACTORS.items():
        try:
            factor = kind(1)
        except TypeError:
            continue
        if factor.channels in (None, 3):
            usable[prefix] = factor
    return usable


def factor_kind(prefix: str) -> type[Factor]:
    """The class of factors with a prefix.

    Args:
        prefix: a prefix, such as ``"hue"``.

    Returns:
        The class.

    Raises:
        ValueError: no registered factor has this prefix.

    Example:
        >>> factor_kind("hue").quantity
        'hue'
    """
    if prefix not in _FACTORS:
        raise ValueError(f"unknown colour move {prefix!r}: expected one of {', '.join(_FACTORS)}")
    return _FACTORS[prefix]


def group(name: str | Group) -> Group:
    """Makes a group from its name, such as ``"hue4"``, ``"temp3-tint3"`` or ``"sat3(step=0.05,action=clamp)-lum3"``.

    Factors of one family are joined by ``-``. Factors of several families do not commute, and are joined by ``+`` in
    the order in which they act, ``"hue4+temp3"``: see :meth:`Group.then`. ``str`` of a group gives such a name back.

    Args:
        name: the name; a group is returned as it is.

    Returns:
        The group.

    Raises:
        TypeError: ``name`` is neither a name nor a group.
        ValueError: there is no group of this name.

    Example:
        >>> from equicolor.groups import Hue, Saturation
        >>> group("hue4-sat3") == Hue(4) * Saturation(3)
        True
    """
    if isinstance(name, Group):
        return name
    if not isinstance(name, str):
        raise TypeError(f"expected a group or its name, such as 'hue4', got {name!r}")
    stages: list[list[Group]] = [[]]
    position = 0
    while True:
        match = _FACTOR_NAME.match(name, position)
        if not match or match["prefix"] not in _FACTORS:
            raise _unknown(name)
        stages[-1].append(_factor(match, name))
        position = match.end()
        if position == len(name):
            products = [reduce(lambda left, right: left * right, stage) for stage in stages]
            return reduce(lambda first, second: first.then(second), products)
        if name[position] not in "-+":
            raise _unknown(name)
        if name[position] == "+":
            stages.append([])
        position += 1


def _factor(match: re.Match[str], name: str) -> Factor:
    kind = _FACTORS[match["prefix"]]
    if len(match["n"].lstrip("0")) > len(str(MOST_ELEMENTS)):
        raise ValueError(f"a group takes at most {MOST_ELEMENTS} elements, got {name[:80]!r}")
    arguments = read_arguments(kind, match["arguments"], name) if match["arguments"] is not None else {}
    needed = (each.name for each in fields(kind) if each.default is MISSING and each.default_factory is MISSING)
    if missing := [each for each in needed if each not in ("n", *arguments)]:
        raise ValueError(
            f"unknown group {name[:80]!r}: it needs {missing[0]}, as in '{kind.prefix}{match['n']}({missing[0]}=…)', "
            f"or make it, {kind.__name__}({match['n']}, {missing[0]}=…), and take the name that str gives it"
        )
    try:
        return kind(int(match["n"]), **arguments)
    except TypeError as error:
        raise ValueError(f"unknown group {name!r}: {error}") from None


def _unknown(name: str) -> ValueError:
    known = ", ".join(f"{prefix}N" for prefix in _FACTORS)
    return ValueError(
        f"unknown group {name[:80]!r}. A name is one or more of {known}, with N elements each, joined by '-', such as "
        "'hue4', 'hue4-sat3', 'temp3-tint3', or by '+' where they do not commute, 'hue4+temp3'; most take arguments: "
        "'sat3(step=0.05,action=clamp,space=hsv)'. A group of your own is known once the file that registers it was "
        "imported."
    )
