"""How the arguments of a factor are written into its name, and read from it.

A value is written as Python does; those of a tuple are joined by ``:``, those of tuples in a tuple by ``/``. What an
argument may be is read from the annotations of the dataclass.
"""

import dataclasses
import typing
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from equicolor.groups._factor import Factor


def write_factor(factor: "Factor") -> str:
    """The name of a factor, with the arguments that differ from what they are where nothing is said."""
    arguments = ",".join(f"{name}={value}" for name, value in written_arguments(factor).items())
    return f"{factor.prefix}{factor.n}" + (f"({arguments})" if arguments else "")


@lru_cache
def written_arguments(factor: "Factor") -> Mapping[str, str]:
    """The arguments of a factor that are not the default, as they are written in its name.

    Args:
        factor: a factor.

    Returns:
        Texts by the names of the arguments.
    """
    values = {field.name: getattr(factor, field.name) for field in dataclasses.fields(factor) if field.init}
    n = values.pop("n")
    special = {}
    for name, value in values.items():
        others = {other: values[other] for other in values if other != name}
        try:
            default = getattr(type(factor)(n, **others), name)
        except (TypeError, ValueError):  # it must be said
            default = dataclasses.MISSING
        if value != default:
            special[name] = _written(value)
    return MappingProxyType(special)


def argument_names(kind: "type[Factor]") -> list[str]:
    """The names of the arguments that a factor takes beside the number of its elements.

    Args:
        kind: a class of factors.

    Returns:
        The names.
    """
    return [field.name for field in dataclasses.fields(kind) if field.init and field.name != "n"]


def read_arguments(kind: "type[Factor]", text: str, name: str) -> dict[str, Any]:
    """Reads the arguments in the parentheses of a group's name.

    Args:
        kind: the class of factors.
        text: what is between the parentheses.
        name: the whole name, for messages.

    Returns:
        The arguments by name.

    Raises:
        ValueError: they cannot be read, or the class has no such arguments.
    """
    hints = typing.get_type_hints(kind)
    known = argument_names(kind)
    arguments: dict[str, Any] = {}
    for argument in text.split(",") if text else ():
        key, given, value = argument.partition("=")
        if not given or key not in known:
            takes = f"takes {', '.join(known)}" if known else "takes no arguments"
            raise ValueError(f"unknown group {name!r}: {kind.prefix} {takes}, got {argument!r}")
        if key in arguments:
            raise ValueError(f"unknown group {name!r}: {key} is given twice")
        try:
            arguments[key] = _read(value, hints[key])
        except ValueError:
            raise ValueError(f"the {key} in group name {name!r} is no number: {value!r}") from None
    return arguments


def _written(value: object) -> str:
    if isinstance(value, tuple):
        nested = any(isinstance(part, tuple) for part in value)
        return ("/" if nested else ":").join(map(_written, value))
    text = value if isinstance(value, str) else repr(value)
    if not text or set(text) & set("(),=/: "):
        raise ValueError(f"{value!r} cannot be part of a group's name: take numbers, words, or tuples of them")
    return text


def _read(text: str, hint: Any) -> Any:
    kinds = {kind for kind in (hint, *typing.get_args(hint)) if kind is not type(None)}
    if "/" in text:
        return tuple(_read(part, hint) for part in text.split("/"))
    if ":" in text:
        return tuple(_number(part) for part in text.split(":"))
    if bool in kinds:
        if text not in ("True", "False"):
            raise ValueError(text)
        return text == "True"
    if int in kinds:
        return int(_ascii(text))
    return _number(text) if float in kinds else text


def _number(text: str) -> float:
    return float(_ascii(text))


def _ascii(text: str) -> str:
    """Python reads the digits of any script, and underscores, as numbers; names do not."""
    if not text.isascii() or "_" in text or text != text.strip():
        raise ValueError(text)
    return text
