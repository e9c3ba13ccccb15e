"""Recipes for images that no recipe was written for: a user's own."""

from collections.abc import Mapping
from typing import Any

from equicolor.data import load
from equicolor.train._recipe import Recipe

#: Small batches, as there are few images, and a rate that falls.
_DEFAULTS: Mapping[str, Any] = {"batch_size": 32, "schedule": "cosine"}
#: Where nobody says how long: at least so many epochs, and so many steps.
_EPOCHS, _STEPS = 10, 600


def recipe_for(fields: Mapping[str, Any]) -> Recipe:
    """Makes a recipe for images of one's own: the fields given, and what suits some hundred or thousand images.

    That is batches of 32, Adam at a rate of 0.001 that falls along a cosine; and where neither ``epochs`` nor
    ``iterations`` are given, ten epochs, or as many as make 600 steps.

    Args:
        fields: fields of a :class:`Recipe`, ``data`` and ``model`` at least; dotted names stand for single options.

    Returns:
        The recipe.

    Raises:
        ValueError: the fields make no recipe, or there are no such images.

    Example:
        >>> recipe_for({"data": "digits", "model": "z2cnn", "group": "temp3-tint3"}).batch_size
        32
    """
    if fields.get("epochs") is not None or fields.get("iterations") is not None:
        return Recipe.from_dict({**_DEFAULTS, **fields})
    recipe = Recipe.from_dict({**_DEFAULTS, **fields, "epochs": 1})
    steps = _images(recipe) // recipe.batch_size
    return Recipe.from_dict({**_DEFAULTS, **fields, "iterations": max(_EPOCHS * steps, _STEPS)})


def _images(recipe: Recipe) -> int:
    """How many there are to train on; none is decoded."""
    options = {**recipe.data_options, "in_memory": False}
    found = len(load(recipe.data, split=recipe.train_split, task=recipe.task, **options))
    return found if recipe.train_size is None else min(found, recipe.train_size)
