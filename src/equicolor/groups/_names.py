"""Groups by name."""

import re
from functools import reduce

from equicolor.groups._factor import Factor
from equicolor.groups._group import Group
from equicolor.groups._hsl import Hue, Luminance, Saturation

_FACTORS: dict[str, type[Factor]] = {factor.prefix: factor for factor in (Hue, Saturation, Luminance)}
_FACTOR_NAME = re.compile(r"(?P<prefix>[a-z]+)(?P<n>\d+)(?:\((?P<arguments>[^()]*)\))?")


def group(name: str | Group) -> Group:
    """The group of this name: ``"hue4"``, ``"sat3"``, ``"hue4-sat3"``, ``"hue3-sat3(step=0.05,action=clamp)-lum3"``.

    ``str`` of a group gives such a name back. A group is returned as it is.

    >>> from equicolor.groups import Hue, Saturation
    >>> group("hue4-sat3") == Hue(4) * Saturation(3)
    True
    """
    if isinstance(name, Group):
        return name
    if not isinstance(name, str):
        raise TypeError(f"expected a group or its name, such as 'hue4', got {name!r}")
    factors, position = list[Group](), 0
    while True:
        match = _FACTOR_NAME.match(name, position)
        if not match or match["prefix"] not in _FACTORS:
            raise _unknown(name)
        factors.append(_factor(match, name))
        position = match.end()
        if position == len(name):
            return reduce(lambda left, right: left * right, factors)
        if name[position] != "-":
            raise _unknown(name)
        position += 1


def _factor(match: re.Match[str], name: str) -> Factor:
    arguments: dict[str, object] = {}
    for argument in filter(None, (match["arguments"] or "").split(",")):
        key, _, value = argument.partition("=")
        if match["prefix"] == "hue" or key not in ("step", "action", "space"):
            raise _unknown(name)
        try:
            arguments[key] = float(value) if key == "step" else value
        except ValueError:
            raise ValueError(f"the step in group name {name!r} is no number: {value!r}") from None
    return _FACTORS[match["prefix"]](int(match["n"]), **arguments)  # type: ignore[call-arg]


def _unknown(name: str) -> ValueError:
    return ValueError(
        f"unknown group {name!r}. A name is one or more of hueN, satN and lumN joined by '-', with N elements each, "
        "such as 'hue4', 'sat3', 'lum3', 'hue4-sat3'; sat and lum take arguments: "
        "'sat3(step=0.05,action=clamp,space=hsv)'."
    )
