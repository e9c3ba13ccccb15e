"""The values of a recipe's fields, which may come as text: each as its type holds it, or an error in one line."""

import os
import re
import types
import typing
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import yaml  # type: ignore[import-untyped]

from equicolor._tools.cells import is_number
from equicolor._tools.short import short
from equicolor._tools.spelling import did_you_mean, spelled_as

#: Whole numbers of a recipe are below this: what torch and numpy count with.
_TOO_LARGE = 2**63


def from_yaml(text: str, what: str) -> Any:
    """What a text says in YAML.

    Raises:
        ValueError: it is none, an unclosed bracket say; ``what`` is what the message speaks of.
    """
    try:
        return yaml.safe_load(text)
    except RecursionError:
        raise ValueError(f"{what} cannot be read: it is nested too deeply") from None
    except (yaml.YAMLError, ValueError) as error:  # a ValueError: a date that is none
        reason = getattr(error, "problem", None) or error
        mark = getattr(error, "problem_mark", None)
        where = f", in line {mark.line + 1}" if mark is not None and mark.line else ""
        given = f" {short(text)}" if "\n" not in text else ""
        raise ValueError(f"{what} cannot be read:{given} is no YAML ({' '.join(str(reason).split())}{where})") from None


def typed(kind: Any, value: Any, name: str) -> Any:
    """``value`` as a field of this type holds it; strings are read as YAML reads them, lists also with commas."""
    origin, choices = typing.get_origin(kind), typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):
        if value is None or value in ("null", "none", "None"):
            return None
        return typed(choices[0], value, name)
    if origin is Literal:
        return known(f"{name} of a recipe", value, choices)
    if isinstance(value, str) and kind is not str:
        value = _listed(value, choices[0]) if origin is list else value
    if isinstance(value, str) and kind is not str:
        value = float(value) if kind is float and is_number(value) else from_yaml(value, f"{name} of a recipe")
    if kind is float and isinstance(value, int) and not isinstance(value, bool) and abs(value) < _TOO_LARGE:
        return float(value)
    if origin is list:
        items = value if isinstance(value, list | tuple) else [value]
        return [typed(choices[0], item, name) for item in items]
    plain = origin or kind
    if plain is dict and value is None:
        return {}
    if not isinstance(value, plain) or (isinstance(value, bool) and plain is not bool):
        raise ValueError(f"{name} of a recipe must be {words(plain)}, got {short(value)}")
    if plain is int and abs(value) >= _TOO_LARGE:
        raise ValueError(f"{name} of a recipe must be a whole number below 2^63, got {short(value)}")
    if plain is dict:
        return {name: os.fspath(each) if isinstance(each, os.PathLike) else each for name, each in value.items()}
    return value


def _listed(text: str, kind: type) -> str | list[str]:
    """``"a,b"`` and, of numbers, ``"1 2"`` as lists; what has a bracket is left to YAML."""
    if text.lstrip()[:1] in ("[", "'", '"'):
        return text
    parts = re.split(r"[,\s]+" if kind is int else ",", text.strip())
    return [part.strip() for part in parts if part.strip()] or text


def known(what: str, name: Any, names: Iterable[Any]) -> Any:
    """The one of ``names`` that is meant, British or American; else an error, with the one that may have been."""
    names = list(names)
    if not isinstance(name, str) or spelled_as(name, names) not in names:
        hint = did_you_mean(name, names)
        raise ValueError(f"unknown {what} {short(name)}.{hint} There are {', '.join(map(str, names))}.")
    return spelled_as(name, names)


def fits(kind: Any, value: Any) -> bool:
    """Whether a value is of a type; lists do for tuples, as YAML has no others. What is no class takes anything."""
    origin, choices = typing.get_origin(kind), typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):
        return any(fits(choice, value) for choice in choices)
    if origin is Literal:
        return any(value == choice and type(value) is type(choice) for choice in choices)
    if kind is type(None):
        return value is None
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool) and abs(value) < _TOO_LARGE
    if kind in (bool, str):
        return isinstance(value, kind)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return isinstance(value, Mapping)
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return isinstance(value, list | tuple) and all(fits(choices[0], each) for each in value)
    plain = origin or kind
    return kind is Any or not isinstance(plain, type) or isinstance(value, plain)


def words(kind: Any) -> str:
    """A type in words."""
    origin, choices = typing.get_origin(kind), typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):
        told = [
            choice for choice in choices if choice in _WORDS or typing.get_origin(choice) not in (None, os.PathLike)
        ]
        return " or ".join(dict.fromkeys(map(words, told)))
    if origin is Literal:
        return " or ".join(map(repr, choices))
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return "a list"
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return _WORDS[dict]
    return _WORDS.get(kind, getattr(kind, "__name__", str(kind)))


_WORDS: dict[Any, str] = {
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    str: "text",
    dict: "names and values",
    type(None): "null",
}
