"""Fields of a recipe as a command is given them, ``--set KEY=VALUE``."""

from collections.abc import Mapping, Sequence
from typing import Any

from equicolor._tools.spelling import american

#: What is an option and no field of a recipe, and what it stands for.
_OPTIONS = {"root": "data_options.root", "image_size": "data_options.image_size", "test": "test_splits"}


def settings(texts: Sequence[str]) -> dict[str, str]:
    """``["lr=0.01"]`` as ``{"lr": "0.01"}``."""
    found: dict[str, str] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        key = american(key.strip().replace("-", "_"))
        if not equals:
            raise ValueError(f"--set takes KEY=VALUE, such as epochs=5, got {text!r}")
        if key in _OPTIONS:
            option = "--" + key.replace("_", "-")
            raise ValueError(f"unknown field of a recipe {key!r}. Did you mean {option}, or --set {_OPTIONS[key]}=…?")
        join(found, {key: value})
    return found


def join(given: dict[str, Any], more: Mapping[str, Any]) -> None:
    """Adds fields to others, each of which may be given once."""
    for key, value in more.items():
        if key in given:
            raise ValueError(f"{key} is given twice, as {given[key]!r} and by --set {key}={value}: say it once")
        given[key] = value
