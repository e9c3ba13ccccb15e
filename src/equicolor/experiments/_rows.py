"""The rows of an experiment, made from what a setting asks for."""

from collections.abc import Mapping, Sequence
from typing import Any

from equicolor._tools.spelling import spelled_as
from equicolor.comparison import Row, spoken_seeds
from equicolor.experiments._setting import EVERY, Setting
from equicolor.train import Recipe


def new_row(
    setting: Setting,
    label: str,
    recipe: str,
    overrides: Mapping[str, Any] | None = None,
    quick: Mapping[str, Any] | None = None,
) -> Row:
    """A row by a recipe, as the setting wants it.

    Args:
        setting: what is asked for.
        label: what the paper calls the network.
        recipe: what :meth:`Recipe.load` takes, with its variant: ``"hue_shift_mnist:hue3"``.
        overrides: fields that this experiment changes.
        quick: fields that the quick version changes on top; its one seed is the first.
    """
    fields: dict[str, Any] = {"evaluate_every": 0, "loggers": ["csv"], **(overrides or {})}
    if setting.quick:
        fields |= {"seeds": Recipe.load(recipe).seeds[:1], **(quick or {})}
    if setting.seeds:
        fields["seeds"] = list(setting.seeds)
    changes = {**setting.reduce.get(EVERY, {}), **setting.reduce.get(spelled_as(label, setting.reduce), {})}
    reduced = ", ".join(_spoken(*item) for item in changes.items() if item[0] != "workers")  # which changes no result
    return Row(label, Recipe.load(recipe, {**fields, **changes}), reduced)


def rows_of(
    setting: Setting,
    recipe: str,
    variants: Mapping[str, str],
    overrides: Mapping[str, Any] | None = None,
    quick: Mapping[str, Any] | None = None,
) -> list[Row]:
    """Rows by the variants of one recipe, ``{"Hue-3": "hue3"}``; the other arguments are those of :func:`new_row`."""
    return [new_row(setting, label, f"{recipe}:{variant}", overrides, quick) for label, variant in variants.items()]


def chosen_rows(setting: Setting, rows: Sequence[Row]) -> list[Row]:
    """Those of an experiment's rows that are asked for.

    Raises:
        ValueError: the setting names a row that is not there.
    """
    labels = [row.label for row in rows]
    only = [spelled_as(asked, labels) for asked in setting.only]
    for asked in (*only, *(label for label in setting.reduce if label != EVERY)):
        if spelled_as(asked, labels) not in labels:
            raise ValueError(f"this experiment has no row {asked!r}: there are {', '.join(labels)}")
    return [row for row in rows if not only or row.label in only]


def chosen_parts(setting: Setting, parts: Mapping[str, Sequence[Row]]) -> dict[str, list[Row]]:
    """The same of an experiment in parts, by name; those of which no row is asked for are left out."""
    chosen = chosen_rows(setting, [row for rows in parts.values() for row in rows])
    return {name: own for name, rows in parts.items() if (own := [row for row in rows if row in chosen])}


def _spoken(field_name: str, value: Any) -> str:
    """A change of a recipe in words."""
    if field_name == "seeds":
        return spoken_seeds(len(value) if isinstance(value, list | tuple) else 1)
    if field_name in ("train_size", "test_size"):
        count = f"{int(value):,}" if str(value).isdecimal() else "all"
        return f"{count} {field_name[:-5]}ing images"
    return f"{field_name.rpartition('.')[2].replace('_', ' ')} {value}"
