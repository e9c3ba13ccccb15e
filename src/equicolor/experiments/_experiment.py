"""What an experiment is: a function from a :class:`Setting`, which trains for it, to an :class:`Outcome`."""

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from equicolor.experiments._runs import is_finished, needs_network, run_folder, trained
from equicolor.train import Recipe, Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from PIL.Image import Image

Value: TypeAlias = str | int | float | bool | None
Record: TypeAlias = Mapping[str, Value]


@dataclass(frozen=True)
class Table:
    """A table as it is read; cells are texts."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Outcome:
    """What an experiment found.

    Attributes:
        records: every number, one record for each measurement: ``{"network": "Hue-3", "seed": 1999, "error": 0.01}``.
        tables: the numbers as a person reads them, with the paper's beside ours.
        pictures: by name, which is that of their PNG file.
        notes: what must be known to read the tables; one paragraph each.
    """

    records: Sequence[Record]
    tables: Sequence[Table] = ()
    pictures: "Mapping[str, Figure | Image]" = field(default_factory=dict)
    notes: Sequence[str] = ()


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


@dataclass(frozen=True)
class Setting:
    """How an experiment is to be run, and the means to.

    Attributes:
        root: the folder of all experiments; runs that several of them need are shared there.
        quick: minutes instead of hours: few images, short training, one seed.
        seeds: instead of those of the recipes.
        reduce: changes to the recipes of some rows, ``{"CEConv-3": {"train_size": 20000}}``, which they then show.
        only: the rows wanted, by label; all if empty.
        quiet: no progress.
    """

    root: Path
    quick: bool = False
    seeds: tuple[int, ...] = ()
    reduce: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    only: tuple[str, ...] = ()
    quiet: bool = False

    def row(
        self,
        label: str,
        recipe: str,
        overrides: Mapping[str, Any] | None = None,
        quick: Mapping[str, Any] | None = None,
    ) -> Row:
        """A row by one of the paper's recipes.

        Args:
            label: what the paper calls the network.
            recipe: the name of a recipe, with its variant: ``"hue_shift_mnist:hue3"``.
            overrides: fields that this experiment changes.
            quick: fields that the quick version changes on top; its one seed is the first.
        """
        fields: dict[str, Any] = {"evaluate_every": 0, "loggers": ["csv"], **(overrides or {})}
        if self.quick:
            fields |= {"seeds": Recipe.load(recipe).seeds[:1], **(quick or {})}
        if self.seeds:
            fields["seeds"] = list(self.seeds)
        changes = dict(self.reduce.get(label, {}))
        return Row(
            label, Recipe.load(recipe, {**fields, **changes}), ", ".join(_spoken(*item) for item in changes.items())
        )

    def chosen(self, rows: Sequence[Row]) -> list[Row]:
        """Those of the rows that are wanted."""
        labels = [row.label for row in rows]
        for asked in (*self.only, *self.reduce):
            if asked not in labels:
                raise ValueError(f"this experiment has no row {asked!r}: there are {', '.join(labels)}")
        return [row for row in rows if not self.only or row.label in self.only]

    def single_seed(self) -> None:
        """Refuses several seeds, for an experiment that shows one network of each kind."""
        for seeds in (self.seeds, *(changes.get("seeds", ()) for changes in self.reduce.values())):
            if len(seeds) > 1:
                raise ValueError(f"this experiment shows networks of one seed, got {', '.join(map(str, seeds))}")

    def train(self, rows: Sequence[Row], *, weights: bool = False) -> dict[str, list[Run]]:
        """Every row trained with every seed, by label. Finished runs are not repeated, an unfinished one is resumed."""
        grid = [(row, recipe) for row in rows for recipe in row.seeded]
        if weights:  # before hours of training, not after
            for _, recipe in grid:
                needs_network(run_folder(recipe, self.root))
        finished = [is_finished(recipe, self.root) for _, recipe in grid]
        clock = _Clock([recipe.group or "" for _, recipe in grid], finished)
        result: dict[str, list[Run]] = {row.label: [] for row in rows}
        for number, (row, recipe) in enumerate(grid):
            if not finished[number]:
                self.say(f"[{number + 1}/{len(grid)}] {row.label}, seed {recipe.seed}{clock.left(number)}")
            start = time.perf_counter()
            result[row.label].append(trained(recipe, self.root, quiet=self.quiet))
            if not finished[number]:
                clock.took(number, time.perf_counter() - start)
        return result

    def say(self, text: str) -> None:
        """A line of progress."""
        if not self.quiet:
            print(text, file=sys.stderr, flush=True)


@dataclass(frozen=True)
class Experiment:
    """One table or figure of the paper, or one of our own.

    Attributes:
        name: on the command line.
        title: of its report.
        paper: which table or figure of the paper it repeats; empty for our own.
        about: one or two sentences on what is asked.
        run: the experiment itself.
        quick: what the quick version does instead, in a sentence.
    """

    name: str
    title: str
    paper: str
    about: str
    run: Callable[[Setting], Outcome]
    quick: str


class _Clock:
    """The time left, from the runs already timed: those of the same kind, or else all of them."""

    def __init__(self, kinds: Sequence[str], finished: Sequence[bool] = ()) -> None:
        self.kinds = kinds
        self.finished = finished or [False] * len(kinds)
        self.seconds: dict[str, list[float]] = {}

    def took(self, number: int, seconds: float) -> None:
        self.seconds.setdefault(self.kinds[number], []).append(seconds)

    def left(self, number: int) -> str:
        every = [value for values in self.seconds.values() for value in values]
        if not every:
            return ""
        total = 0.0
        for kind, finished in zip(self.kinds[number:], self.finished[number:], strict=True):
            if finished:
                continue
            known = self.seconds.get(kind, every)
            total += sum(known) / len(known)
        return f" (about {total / 60:.0f} min left)" if total > 90 else f" (about {total:.0f} s left)"


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
