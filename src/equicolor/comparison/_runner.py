"""The means to train the rows of an experiment: a folder of runs, where nothing finished is trained again."""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from equicolor._tools.progress import progress
from equicolor.comparison._log import Clock, Log
from equicolor.comparison._row import Row
from equicolor.comparison._runs import Runs
from equicolor.train import DivergedError, ImageData, Run


@dataclass(frozen=True)
class Runner:
    """Trains the rows of an experiment or a comparison.

    Attributes:
        root: the folder of all experiments; runs that several of them need are shared there.
        log: where progress is said.
        brief: a line for each run that is trained, and nothing of what happens within it.
    """

    root: Path
    log: Log = field(default_factory=Log)
    brief: bool = False

    @property
    def runs(self) -> Runs:
        """The runs that there are, and what was measured of them."""
        return Runs(self.root, self.log.quiet)

    def progress(
        self, title: str, total: int, unit: str = "images", *, still: bool = False
    ) -> AbstractContextManager[Callable[[int], None]]:
        """Shows a bar for what is measured of networks, unless the log is quiet.

        Args:
            title: what is being done.
            total: how many there are.
            unit: what is counted.
            still: nothing is drawn but when told of more: for what is timed.

        Returns:
            A context that gives what is told how many more have been done.
        """
        return progress(title, total, shown=not self.log.quiet, unit=unit, still=still)

    def train(
        self,
        rows: Sequence[Row],
        *,
        weights: bool = False,
        loaded: ImageData | None = None,
        expected: Mapping[str, float] | None = None,
        diverged: Callable[[str, DivergedError], None] | None = None,
    ) -> dict[str, list[Run]]:
        """Trains every row with every seed; finished runs are not repeated, an unfinished one is resumed.

        Args:
            rows: what to train.
            weights: whether the trained networks are needed, and not their results alone.
            loaded: images that need not be read again for rows that are trained on them.
            expected: the seconds that a run of a row takes, by label, for the time that is left; by default told from
                the runs before it.
            diverged: called with each row whose training diverged; the row then has no runs, and the others go on. By
                default that is an error.

        Returns:
            The runs of each row, by label.
        """
        grid = [(row, recipe) for row in rows for recipe in row.seeded]
        if weights:  # before hours of training, not after
            for _, recipe in grid:
                self.runs.check_network(recipe)
        finished = [self.runs.finished(recipe) is not None for _, recipe in grid]
        clock = Clock([row.label for row, _ in grid], finished, expected)
        result: dict[str, list[Run]] = {row.label: [] for row in rows}
        failed: set[str] = set()
        bar = (
            self.progress("training", finished.count(False), "runs") if self.brief else nullcontext(lambda count: None)
        )
        with bar as advance:
            for number, (row, recipe) in enumerate(grid):
                if row.label in failed:
                    continue
                if not finished[number]:
                    self.log(f"[{number + 1}/{len(grid)}] {row.label}, seed {recipe.seed}{clock.left(number)}")
                start = time.perf_counter()
                try:
                    run = self.runs.trained(recipe, quiet=self.brief or self.log.quiet, loaded=loaded)
                    result[row.label].append(run)
                except DivergedError as error:
                    if diverged is None:
                        raise
                    diverged(row.label, error)
                    failed.add(row.label)
                    continue
                if not finished[number]:
                    clock.took(number, time.perf_counter() - start)
                    advance(1)
                    if self.brief:
                        errors = ", ".join(f"{split} {kinds['error']:.1%}" for split, kinds in run.results.items())
                        self.log(f"    error on {errors}")
        return {label: [] if label in failed else those for label, those in result.items()}
