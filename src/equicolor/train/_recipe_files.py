"""Recipes as files: the paper's by name, others by path, their variants, and the names that fields once had."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]

from equicolor._tools.files import write_text
from equicolor._tools.short import short
from equicolor._tools.spelling import did_you_mean
from equicolor.train._recipe_values import from_yaml, known

#: Of the recipes that are written; one that does not say its format is of the first.
FORMAT = 1
#: The first and the last line of a recipe in a run: half of one would be another recipe, and as good as whole.
_START, _END = "# The recipe of a run, down to the line 'end'.\n", "# end\n"
#: More characters are no recipe.
_MOST = 2**20
#: Fields that were renamed: old → new. Entries stay, so that old recipes do: see CONTRIBUTING.
_RENAMED: dict[str, str] = {"licence": "license"}


def read_fields(name_or_path: str | os.PathLike[str]) -> dict[str, Any]:
    """The fields of a recipe of the paper, or of a YAML file, as they are written; of a variant after a colon."""
    name, variant = os.fspath(name_or_path), ""
    if not Path(name).is_file():
        name, _, variant = name.partition(":")
    path = paper_recipes().get(name, Path(name).expanduser())
    if not path.is_file():
        raise FileNotFoundError(
            f"there is no recipe {name!r}.{did_you_mean(name, paper_recipes())} There are "
            f"{', '.join(paper_recipes())}; or give the path of a YAML file."
        )
    fields = read_recipe_file(path)
    variants = fields.pop("variants", None) or {}
    if not isinstance(variants, dict):
        raise ValueError(
            f"variants of {path} must be names, each with the fields that it changes, got {short(variants)}"
        )
    variants = {str(each): changes for each, changes in variants.items()}
    if variant:
        changes = variants[known(f"variant of {name}", variant, variants)]
        if not isinstance(changes, dict):
            raise ValueError(f"variant {variant} of {path} must be fields and their values, got {short(changes)}")
        fields = changed(fields, changes)
    return fields


def read_recipe_file(path: Path) -> dict[str, Any]:
    """The fields in a YAML file, unchecked.

    Raises:
        ValueError: it holds something else.
    """
    try:
        with path.open(encoding="utf-8") as file:
            text = file.read(_MOST + 1)
    except UnicodeDecodeError:
        raise ValueError(f"{path} is no recipe: it is not text") from None
    if len(text) > _MOST:
        raise ValueError(f"{path} is no recipe: it is longer than {_MOST:,} characters")
    if text.startswith(_START) and _END not in text:
        raise ValueError(f"{path} is no whole recipe: its last lines are missing")
    content = from_yaml(text, str(path))
    if not isinstance(content, dict):
        got = "nothing" if content is None else short(content)
        raise ValueError(f"{path} is no recipe: expected fields and their values, got {got}")
    return content


def write_recipe_file(path: Path, text: str) -> None:
    """The YAML of a run's recipe, so that :func:`read_recipe_file` notices if its end gets lost."""
    write_text(path, f"{_START}{text}{_END}", durable=True)


def list_recipes() -> dict[str, tuple[str, ...]]:
    """Lists the paper's recipes, each with its variants.

    Returns:
        Variants by the name of the recipe.

    Example:
        >>> list_recipes()["hue_shift_mnist"][0]
        'z2cnn'
    """
    return {
        name: tuple(yaml.safe_load(path.read_text(encoding="utf-8")).get("variants", {}))
        for name, path in paper_recipes().items()
    }


def paper_recipes() -> dict[str, Path]:
    """Beside the package in an installed wheel, at the top of the repository in a clone."""
    package = Path(__file__).parents[1]
    for folder in (package / "recipes", package.parents[1] / "recipes"):
        if folder.is_dir():
            return {path.stem: path for path in sorted(folder.glob("*.yaml"))}
    return {}


def renewed(values: dict[str, Any]) -> dict[str, Any]:
    """The fields of a recipe of this format or an earlier one, under their names of now."""
    written = values.pop("format", 1)
    if not isinstance(written, int) or not 1 <= written <= FORMAT:
        raise ValueError(
            f"the recipe is of format {written!r}, this version reads formats up to {FORMAT}: upgrade equicolor"
        )
    twice = [f"{old} and {new}" for old, new in _RENAMED.items() if old in values and new in values]
    if twice:
        raise ValueError(f"a recipe has {twice[0]}, which are names of one field: keep the second")
    if (learns := values.pop("canonicalizer_learns", None)) is not None:  # its values were others, too
        values.setdefault("canonicalizer_training", "together" if learns in (True, "true") else "first")
    return {_RENAMED.get(name, name): value for name, value in values.items()}


def changed(values: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """``values`` with ``changes``. Options join those that are there; how long is said anew in one way.

    Another optimiser does not take over the options of the one before.
    """
    result = dict(values)
    if changes.get("optimizer", values.get("optimizer")) != values.get("optimizer"):
        result.pop("optimizer_options", None)
    for name, value in changes.items():
        outer, _, inner = str(name).partition(".")
        if isinstance(value, str) and (inner or outer.endswith("_options")):
            value = from_yaml(value, f"{name} of a recipe")
        value = {inner: value} if inner else value
        if isinstance(value, Mapping):
            before = result.get(outer) or {}
            if not isinstance(before, Mapping):
                options = f": did you mean {outer}_options.{inner}?" if inner else ""
                raise ValueError(f"{outer} of a recipe has no options, got {short(name)}{options}")
            value = {**before, **value}
        result[outer] = value
    for one, other in (("epochs", "iterations"), ("iterations", "epochs")):
        if changes.get(one) is not None and other not in changes:
            result[other] = None
    return result
