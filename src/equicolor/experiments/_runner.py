"""The means to train the rows of an experiment: a folder of runs, where nothing finished is trained again."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from equicolor.experiments._log import Clock, Log
from equicolor.experiments._rows import Row
from equicolor.experiments._runs import Change, Runs
from equicolor.train import Run


@dataclass(frozen=True)
class Runner:
    """Trains rows.

    Attributes:
        root: the folder of all experiments; runs that several of them need are shared there.
        log: where progress is said.
    """

    root: Path
    log: Log = field(default_factory=Log)

    @property
    def runs(self) -> Runs:
        """The runs there are."""
        return Runs(self.root)

    def train(self, rows: Sequence[Row], *, weights: bool = False) -> dict[str, list[Run]]:
        """Every row trained with every seed, by label. Finished runs are not repeated, an unfinished one is resumed.

        Args:
            rows: what to train.
            weights: whether the trained networks are needed, and not their results alone.
        """
        grid = [(row, recipe) for row in rows for recipe in row.seeded]
        if weights:  # before hours of training, not after
            for _, recipe in grid:
                self.runs.check_network(recipe)
        finished = [self.runs.finished(recipe) is not None for _, recipe in grid]
        clock = Clock([recipe.group or "" for _, recipe in grid], finished)
        result: dict[str, list[Run]] = {row.label: [] for row in rows}
        for number, (row, recipe) in enumerate(grid):
            if not finished[number]:
                self.log(f"[{number + 1}/{len(grid)}] {row.label}, seed {recipe.seed}{clock.left(number)}")
            start = time.perf_counter()
            result[row.label].append(self.runs.trained(recipe, quiet=self.log.quiet))
            if not finished[number]:
                clock.took(number, time.perf_counter() - start)
        return result

    def error_under(self, run: Run, split: str, shift: str) -> float:
        """The error of a trained network on a split under a colour shift; measured once, then kept with the results."""
        return self.runs.error_under(run, split, shift)

    def error_on(self, run: Run, split: str, name: str, change: Change) -> float:
        """The same on images changed in a way that is no shift of a data set; it is kept by this name."""
        return self.runs.error_on(run, split, name, change)
