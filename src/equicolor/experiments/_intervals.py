"""Intervals of runs over slides, or whatever belongs together in a test set: kept with the runs, and as tables."""

from collections.abc import Mapping, Sequence
from functools import cache, partial
from statistics import fmean
from typing import Any, TypeAlias

from equicolor._tools.tables import Table
from equicolor.comparison import Record, Row, Runner
from equicolor.data import ImageSet, load
from equicolor.train import Run
from equicolor.trained import evaluate

#: By split, then by metric and end: ``{"pink_test": {"auc_low": 0.97, "auc_high": 0.99}}``.
Intervals: TypeAlias = Mapping[str, Mapping[str, float]]


class ClusterIntervals:
    """The intervals of finished runs; a test set is read once.

    Args:
        runner: whose runs keep what is measured.
        metrics: of which.
    """

    def __init__(self, runner: Runner, metrics: Sequence[str]) -> None:
        self.runner, self.metrics = runner, tuple(metrics)

        @cache
        def images(data: str, split: str, options: tuple[tuple[str, Any], ...], size: int | None) -> ImageSet:
            loaded = load(data, split=split, **dict(options))
            return loaded.sample(size) if size else loaded

        self._images = images

    def of(self, run: Run) -> Intervals:
        """Those of a run on its test splits, measured once; none where its results were kept without its network."""
        found = {}
        for split in run.results:
            if ends := self.runner.runs.measured_if_there(run, f"intervals {split}", partial(self._ends, run, split)):
                found[split] = ends
        return found

    def _ends(self, run: Run, split: str) -> dict[str, float]:
        recipe = run.recipe
        options = tuple(sorted(recipe.data_options.items()))
        scores = evaluate(run.model, self._images(recipe.data, split, options, recipe.test_size)).metrics
        ends: dict[str, float] = {}
        for metric in self.metrics:
            score = scores.get(metric)
            if score is not None and score.low is not None and score.high is not None:
                ends |= {f"{metric}_low": score.low, f"{metric}_high": score.high}
        return ends


def interval_table(
    title: str,
    rows: Sequence[Row],
    intervals: Mapping[str, Sequence[Intervals]],
    splits: Mapping[str, str],
    metric: str,
) -> Table:
    """The intervals of every network on every split in %: their ends, averaged over the seeds that have them.

    Args:
        title: of the table.
        rows: its rows.
        intervals: of the runs of each row, by label.
        splits: which splits, and what they are called.
        metric: of which.
    """
    lines = []
    for row in rows:
        own = [each for each in intervals[row.label] if each]
        cells = []
        for split in splits:
            ends = [[each[split][f"{metric}_{end}"] for each in own if split in each] for end in ("low", "high")]
            cells.append("–" if not ends[0] else " to ".join(f"{100 * fmean(values):.1f}" for values in ends))
        lines.append([row.title, *cells, str(len(own))])
    return Table(title, ["network", *splits.values(), "seeds"], lines)


def with_intervals(record: Record, intervals: Intervals, metrics: Sequence[str]) -> Record:
    """The record of a run on a split with the ends of its intervals; None where they are not known."""
    ends = intervals.get(str(record["split"]), {})
    return {
        **record,
        **{f"{metric}_{end}": ends.get(f"{metric}_{end}") for metric in metrics for end in ("low", "high")},
    }
