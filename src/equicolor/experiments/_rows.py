"""The rows of a table: a network and the recipe that it is trained by, made from what a setting asks for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from equicolor.experiments._setting import Setting
from equicolor.train import Recipe


@dataclass(frozen=True)
class Row:
    """A row of a table: a network, trained by one recipe over several seeds.

    Attributes:
        label: what the paper calls it.
        recipe: how it is trained; its ``seeds`` are those of the row.
        reduced: how this differs from the experiment's own protocol, in words; empty if it does not.
    """

    label: str
    recipe: Recipe
    reduced: str = ""

    @property
    def title(self) -> str:
        """The label, and beside it how the row is reduced."""
        return f"{self.label} [{self.reduced}]" if self.reduced else self.label

    @property
    def marked(self) -> str:
        """The label as pictures have it, which leave to the table how the row is reduced."""
        return f"{self.label}*" if self.reduced else self.label

    @property
    def seeded(self) -> list[Recipe]:
        """The recipe with each of its seeds."""
        return [replace(self.recipe, seed=seed) for seed in self.recipe.seeds]


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
    changes = dict(setting.reduce.get(label, {}))
    reduced = ", ".join(_spoken(*item) for item in changes.items())
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
    for asked in (*setting.only, *setting.reduce):
        if asked not in labels:
            raise ValueError(f"this experiment has no row {asked!r}: there are {', '.join(labels)}")
    return [row for row in rows if not setting.only or row.label in setting.only]


def spoken_seeds(count: int) -> str:
    """A number of seeds in words.

    >>> spoken_seeds(1), spoken_seeds(3)
    ('1 seed', '3 seeds')
    """
    return "1 seed" if count == 1 else f"{count} seeds"


def _spoken(field_name: str, value: Any) -> str:
    """A change of a recipe in words."""
    if field_name == "seeds":
        return spoken_seeds(len(value) if isinstance(value, list | tuple) else 1)
    if field_name in ("train_size", "test_size"):
        count = f"{int(value):,}" if str(value).isdecimal() else "all"
        return f"{count} {field_name[:-5]}ing images"
    return f"{field_name.replace('_', ' ')} {value}"
