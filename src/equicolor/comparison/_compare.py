"""``compare``: networks on a user's own images, from rows to a conclusion."""

import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path

from equicolor._tools import environment
from equicolor._tools.tables import Table
from equicolor.comparison._columns import Column
from equicolor.comparison._conclusion import conclude
from equicolor.comparison._domains import results_in
from equicolor.comparison._grid import Grid
from equicolor.comparison._log import Log
from equicolor.comparison._measured import Measured, spoken_seeds
from equicolor.comparison._named import ROWS, blind_to
from equicolor.comparison._outcome import Outcome, Record
from equicolor.comparison._pictures import drawn_bars
from equicolor.comparison._plan import Plan, plan
from equicolor.comparison._report import Heading, write_report
from equicolor.comparison._runner import Runner
from equicolor.train import DivergedError, Recipe, Run

#: Metrics in the order of the table, by the task: what they are called, whether more is better, their unit and digits.
_METRICS = {
    "balanced_error": ("balanced error in %", False, 100, 1),
    "error": ("error in %", False, 100, 1),
    "auc": ("AUC", True, 1, 3),
    "iou": ("IoU", True, 1, 3),
}
_COSTS = ("parameters", "training time", "multiplications")
_OF_TASK = {"classification": ("balanced_error", "auc"), "segmentation": ("error", "iou")}
#: More columns of numbers than these do not fit beside each other, nor beside the costs: they get a table of their own.
_METRICS_BESIDE, _COSTS_BESIDE = 2, 3


def compare(
    recipe: Recipe,
    names: Sequence[str] = ROWS,
    folder: str | Path = "comparison",
    *,
    quiet: bool = False,
) -> Outcome:
    """Trains networks that differ in how they deal with colour, and says which of them helps on these images.

    Finished runs are not repeated and an unfinished one is resumed: the same call goes on where it stopped.

    Args:
        recipe: data, network, training and seeds, that all rows share.
        names: the names of the rows, see :func:`named_rows`; the first is plain, as a rule.
        folder: where runs and the report go: ``report.html``, ``comparison.png``, ``metrics.json`` and ``.csv``.
        quiet: show no progress.

    Returns:
        Records, table and picture, and before them the conclusion, in words.

    Example:
        >>> recipe = Recipe("folder", "z2cnn", data_options={"root": "cells"}, epochs=10)  # doctest: +SKIP
        >>> found = compare(recipe, ["plain", "gray", "hue4", "canonical:temp-tint"])  # doctest: +SKIP
        >>> print(*found.conclusion)  # doctest: +SKIP
    """
    log = Log(quiet)
    planned = plan(recipe, names, Path(folder), log)
    outcome = carry_out(planned, log)
    write_report(heading(planned), outcome, planned.folder, environment.command())
    return outcome


def carry_out(planned: Plan, log: Log) -> Outcome:
    """Trains what is missing of a plan, and turns runs into an outcome.

    A row whose training diverges is left out, and said.

    Args:
        planned: the plan.
        log: where progress is said.

    Returns:
        The outcome.

    Raises:
        DivergedError: the training of every row diverged.
    """
    runner, notes = Runner(planned.folder, log, brief=True), list[str]()

    def left_out(label: str, error: DivergedError) -> None:
        notes.append(f"{label} is left out: {error}.")
        log(notes[-1])

    expected = {label: seconds for label, seconds in planned.seconds.items() if seconds is not None}
    runs = runner.train(planned.rows, loaded=planned.data, expected=expected, diverged=left_out)
    results = {
        label: [results_in(run, planned.data.tests, runner) for run in those] for label, those in runs.items() if those
    }
    if not results:
        raise DivergedError(f"the training of every row diverged: lower the rate. {notes[-1]}")
    metrics = _OF_TASK[planned.recipe.task]
    grids = [_grid(planned, metric, results) for metric in metrics]
    grids = [grid for grid in grids if grid.values]
    blind = {row.label: blind_to(row.recipe) for row in planned.rows}
    measured = {
        column.name: {row: value for row in grids[0].labels if (value := grids[0].at(row, column))}
        for column in planned.columns
    }
    title, _, scale, digits = _METRICS[grids[0].metric]
    return Outcome(
        _records(planned, runs, results),
        _tables(planned, grids, runs),
        {"comparison": drawn_bars(measured, title, scale=scale, digits=digits)},
        [*notes, _note(grids[0].reference)],
        conclude(grids[0], blind, planned.chance),
    )


def heading(planned: Plan) -> Heading:
    """Makes the heading of the report.

    Args:
        planned: the plan.

    Returns:
        The heading.
    """
    title = f"Which network for {planned.recipe.title}?"
    return Heading("compare", title, " ".join([*planned.about, f"{planned.count}."]))


# ------------------------------------------------------------------------------------------------ numbers


def _grid(planned: Plan, metric: str, results: Mapping[str, Sequence[Mapping[str, Mapping[str, float]]]]) -> Grid:
    values = {}
    for label, those in results.items():
        for column in planned.columns:
            found = [each[column.name][metric] for each in those if metric in each[column.name]]
            if found:
                values[label, column.name] = Measured(found)
    ascending = _METRICS[metric][1]
    labels = list(results)
    reference = planned.reference if planned.reference in labels else labels[0]
    return Grid(metric, labels, planned.columns, values, reference, ascending)


def _records(
    planned: Plan,
    runs: Mapping[str, Sequence[Run]],
    results: Mapping[str, Sequence[Mapping[str, Mapping[str, float]]]],
) -> list[Record]:
    """One for each network, seed and column."""
    return [
        {
            "network": label,
            "seed": run.recipe.seed,
            "split": column.split,
            "domain": column.domain,
            "images": column.images,
            **found[column.name],
            "parameters": run.summary["parameters"],
            "multiplications": planned.costs[label],
            "steps": run.summary["steps"],
            "seconds": run.summary["seconds"],
            "run": run.folder.name,
        }
        for label, those in results.items()
        for run, found in zip(runs[label], those, strict=True)
        for column in planned.columns
    ]


# ------------------------------------------------------------------------------------------------ showing


def _tables(planned: Plan, grids: Sequence[Grid], runs: Mapping[str, Sequence[Run]]) -> list[Table]:
    """One table, as far as it can be read; else the second metric in another, and the costs in the last."""
    numbers = len(planned.columns)
    parts = [grids] if len(grids) * numbers <= _METRICS_BESIDE else [[grid] for grid in grids]
    beside = numbers <= _COSTS_BESIDE
    tables = [_table(planned, part, runs, costs=beside and part is parts[0]) for part in parts]
    return tables if beside else [*tables, _table(planned, [grids[0]], runs, costs=True, numbers=False)]


def _table(
    planned: Plan, grids: Sequence[Grid], runs: Mapping[str, Sequence[Run]], costs: bool, numbers: bool = True
) -> Table:
    columns = planned.columns if numbers else []
    names = [_METRICS[grid.metric][0] for grid in grids]
    heads = [
        column.name if number == 0 else f"{column.name}, {names[number]}"
        for number in range(len(grids))
        for column in columns
    ]
    lines = []
    for label in grids[0].labels:
        line = [label, *(_cell(grid, label, column) for grid in grids for column in columns)]
        lines.append([*line, *_costs(planned, label, runs, grids[0].reference)] if costs else line)
    seeds = planned.recipe.seeds
    title = f"{' and '.join(names)}: mean{' ± deviation' if len(seeds) > 1 else ''} over {spoken_seeds(len(seeds))}"
    title = title[0].upper() + title[1:] if numbers else "What they cost"
    return Table(title, ["network", *heads, *(_COSTS if costs else ())], lines)


def _cell(grid: Grid, label: str, column: Column) -> str:
    value = grid.at(label, column)
    if value is None:
        return "–"
    _, _, scale, digits = _METRICS[grid.metric]
    mark = "* " if label == grid.best(column) else "≈ " if label in grid.level(column) else ""
    return mark + value.written(scale, digits)


def _costs(planned: Plan, label: str, runs: Mapping[str, Sequence[Run]], reference: str) -> list[str]:
    seconds = {name: statistics.median(run.summary["seconds"] for run in runs[name]) for name in (label, reference)}
    return [
        f"{runs[label][0].summary['parameters']:,}",
        f"{seconds[label] / max(seconds[reference], 1e-9):.2f}",
        f"{planned.costs[label] / planned.costs[reference]:.2f}",
    ]


def _note(reference: str) -> str:
    return (
        "* is the best of a column, ≈ what is not worse by more than chance: by more than √(s₁² + s₂² + 2e(1-e)/N), "
        "with the deviations over seeds, the mean e of both, and the number N of test images; nor with every one of "
        "three or more seeds. Training time and "
        f"multiplications of inference are relative to {reference}; times are those of this machine, with whatever "
        "else it did."
    )
