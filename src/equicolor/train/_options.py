"""The schema of a recipe's options: each goes to some function, whose signature says which there are and of what type.

``model_options`` go to the network, ``data_options`` to :func:`equicolor.data.load`, ``optimizer_options`` to the
optimiser, ``canonicalize_options`` to the canonicaliser. What a recipe says elsewhere is no option.
"""

import difflib
import inspect
import typing
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

import torch

from equicolor._tools.short import short
from equicolor._tools.spelling import did_you_mean
from equicolor.data import load
from equicolor.models import is_from_elsewhere, list_models, model_options
from equicolor.nn import Canonicalizer
from equicolor.train._recipe_values import fits, words

OPTIMIZERS: dict[str, type[torch.optim.Optimizer]] = {
    "adam": torch.optim.Adam,
    "adamw": torch.optim.AdamW,
    "sgd": torch.optim.SGD,
}
#: What is no option, and where a recipe says it.
_ELSEWHERE: dict[str, dict[str, str]] = {
    "model_options": {
        "name": "it is the field model",
        "group": "it is the field group",
        "canonicalize": "it is the field canonicalize",
        "num_classes": "there are as many as the images have",
    },
    "data_options": {
        "name": "it is the field data",
        "split": "there are the fields train_split and test_splits",
        "task": "it is the field task",
    },
    "optimizer_options": {"lr": "it is the field lr", "params": "they are those of the network"},
    "canonicalize_options": {"group": "it is the field canonicalize"},
}
#: What others call the fields.
_SYNONYMS = {
    "learning_rate": "lr",
    "dataset": "data",
    "network": "model",
    "num_epochs": "epochs",
    "steps": "iterations",
    "num_workers": "workers",
    "augmentation": "augment",
    "grad_clip": "clip",
    "tests": "test_splits",
    "test": "test_splits",
}


def check_options(field: str, given: Mapping[Any, Any], model: str, optimizer: str, around: bool = False) -> None:
    """Refuses options that nothing takes, or whose values are of another type.

    Args:
        field: ``"model_options"`` or another of these fields.
        given: the options.
        model, optimizer: of the recipe.
        around: whether the network is that of a card, which says how many classes it has.

    Raises:
        ValueError: naming the option.
    """
    whose = {"model_options": model, "data_options": "a data set", "optimizer_options": optimizer}
    elsewhere, takes = _ELSEWHERE[field], _takes(field, model, optimizer)
    for name, value in given.items():
        if name in elsewhere and not (around and name == "num_classes"):
            raise ValueError(f"{field}.{name} is none of the options: {elsewhere[name]}")
        if name in elsewhere:
            continue
        if name not in takes and field == "model_options" and is_from_elsewhere(model):
            continue  # perhaps one of the library's own, which says so itself
        if name not in takes:
            hint = did_you_mean(name, takes)
            of = whose.get(field, "a canonicaliser")
            raise ValueError(f"unknown option {short(name)} in {field}.{hint} Of {of} there are {', '.join(takes)}.")
        if not fits(takes[name], value):
            raise ValueError(f"{field}.{name} of a recipe must be {words(takes[name])}, got {short(value)}")


def meant_among(fields: Sequence[str], name: str, model: Any = None, likeness: float = 0.6) -> str | None:
    """The field or option of a recipe that may have been meant by a name that is none.

    >>> meant_among(["input_size", "epochs"], "image_size")
    'data_options.image_size'
    """
    if name in _SYNONYMS:
        return _SYNONYMS[name]
    models = [model] if model in list_models() else list_models()
    nested = {
        f"{field}.{option}": option
        for field in _ELSEWHERE
        for each in (models if field == "model_options" else models[:1])
        for optimizer in (OPTIMIZERS if field == "optimizer_options" else ("adam",))
        for option in _takes(field, each, optimizer)
    }
    for full, option in nested.items():
        if option == name:
            return full
    inner = name.partition(".")[2] or name
    like = partial(difflib.get_close_matches, n=1, cutoff=likeness)
    close = like(name, fields) or like(inner, list(nested.values()))
    if not close:
        return None
    return close[0] if close[0] in fields else next(full for full, option in nested.items() if option == close[0])


@lru_cache
def _takes(field: str, model: str, optimizer: str) -> dict[str, Any]:
    """The options that there are, each with its type."""
    if field == "model_options":
        found = model_options(model)
    elif field == "data_options":
        found = _parameters(load)
    elif field == "optimizer_options":
        found = _parameters(OPTIMIZERS[optimizer].__init__)
    else:
        found = _parameters(Canonicalizer.__init__)
    return {name: kind for name, kind in found.items() if name not in ("self", *_ELSEWHERE[field])}


def _parameters(function: Callable[..., Any]) -> dict[str, Any]:
    hints = typing.get_type_hints(function)
    return {name: hints.get(name, Any) for name in inspect.signature(function).parameters}
