"""Networks that know of saturation or luminance, tested where it is not what it was in training.

The question is whether the exact action generalises better than the paper's clamped one, so both are also held against
each other, seed by seed, and images are shifted by both: neither network is tested on its own kind of shift alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from equicolor._tools.pictures import new_figure
from equicolor._tools.tables import Table
from equicolor.color import Action
from equicolor.data import ImageSet, load
from equicolor.experiments._experiment import Outcome, Record
from equicolor.experiments._rows import Row, chosen_rows, rows_of
from equicolor.experiments._runner import Runner
from equicolor.experiments._setting import Setting
from equicolor.experiments._several import missing
from equicolor.experiments._tables import Measured, row_lines, run_records
from equicolor.train import Run
from equicolor.trained import evaluate_curve

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NAMES = {"sat": "saturation", "lum": "luminance"}
#: A colour of half saturation, or a middle grey, moves about as far by the one as by the other.
_SHIFTS: dict[Action, list[float]] = {
    "clamp": [-0.3, -0.2, -0.1, 0.0, 0.1, 0.2, 0.3],
    "exact": [-1.2, -0.8, -0.4, 0.0, 0.4, 0.8, 1.2],
}
_OVER: dict[Action, str] = {"clamp": "clamped shifts", "exact": "exact shifts"}


@dataclass(frozen=True)
class Part:
    """Networks on one data set.

    Attributes:
        name: of the data, short, and ``title``: in full.
        recipe: for it, by name.
        networks: rows and the variants of the recipe. Two whose names differ in ``clamp`` and ``exact`` are compared.
        columns: the test splits and what the table calls them; the first is the one that is shifted.
        images: how many of it are.
    """

    name: str
    title: str
    recipe: str
    networks: Mapping[str, str]
    columns: Mapping[str, str]
    images: int


def error_under_shifts(
    setting: Setting,
    runner: Runner,
    quantity: Literal["sat", "lum"],
    parts: Sequence[Part],
    quick: Mapping[str, Any],
) -> Outcome:
    """Trains all networks of all parts whose data are there and tests each on its splits and under both shifts."""
    every = {part.title: rows_of(setting, part.recipe, part.networks, quick=quick) for part in parts}
    absent = {part.title: missing(every[part.title][0].recipe.data) for part in parts}
    there = [part for part in parts if not absent[part.title]]
    chosen = chosen_rows(setting, [row for part in there for row in every[part.title]])
    runs = runner.train(chosen, weights=True)
    records, tables, pictures = run_records(runs), [], {}
    shifted: list[str] = []
    for part in there:
        rows = [row for row in chosen if row.label in part.networks]
        if not rows:
            continue
        runner.log(f"Shifting the {_NAMES[quantity]} of {part.title}")
        data = rows[0].recipe
        images = load(data.data, split=next(iter(part.columns)), in_memory=False)
        images = images.sample(100 if setting.quick else part.images).in_memory()
        shifted.append(f"{len(images):,} of {part.title}")
        curves = [
            {"data": part.title, "network": row.label, "seed": run.recipe.seed, **point}
            for row in rows
            for run in runs[row.label]
            for point in _curve(run, images, quantity)
        ]
        records += curves
        tables += _tables(part, rows, runs, curves)
        pictures[f"{_NAMES[quantity]}-{part.name}"] = _draw(part, rows, curves, _NAMES[quantity])
    notes = [f"{title} is left out. {text}" for title, text in absent.items() if text]
    notes += [
        f"“{_OVER['clamp']}” and “{_OVER['exact']}” are means of the error over {_NAMES[quantity]} shifts of "
        f"{_spoken('clamp')} by the paper's clamped action, and of {_spoken('exact')} in logits by the exact one.",
        f"Shifted are samples of the first split, {' and '.join(shifted)}, the other columns are of whole splits: "
        "the pictures have the error of the samples unshifted. In them, * marks what the table calls reduced.",
    ]
    return Outcome(records, tables, pictures, notes)


def _spoken(action: Action) -> str:
    return ", ".join(f"{shift:+g}" for shift in _SHIFTS[action] if shift)


def _curve(run: Run, images: ImageSet, quantity: Literal["sat", "lum"]) -> list[dict[str, Any]]:
    """The error of a trained network on images under each shift of both actions."""
    model = run.model
    return [
        {"action": action, "shift": shift, "error": evaluation.error}
        for action, shifts in _SHIFTS.items()
        for shift, evaluation in evaluate_curve(model, images, quantity, shifts, action=action).items()
    ]


def _tables(
    part: Part, rows: Sequence[Row], runs: Mapping[str, Sequence[Run]], curves: Sequence[Mapping[str, Any]]
) -> list[Table]:
    """The errors of all networks, and by how much those of the exact action differ from those of the clamped one."""
    columns = [*part.columns.values(), *_OVER.values()]
    errors = {row.label: _errors(part, runs[row.label], curves, row.label) for row in rows}
    lines: list[list[str]] = []
    for row in rows:
        ours = {column: Measured(list(errors[row.label][column].values())) for column in columns}
        those = runs[row.label]
        lines += row_lines(row, ours, None, [str(len(those)), f"{those[0].summary['parameters']:,}"])
    tables = [Table(f"{part.title}: error in %", ["network", *columns, "seeds", "parameters"], lines)]
    compared = []
    for label in errors:
        other = label.replace("exact", "clamp")
        if other == label or other not in errors:
            continue
        cells = []
        for column in columns:
            exact, clamp = errors[label][column], errors[other][column]
            apart = Measured([exact[seed] - clamp[seed] for seed in exact if seed in clamp])
            cells.append(f"{apart:+}" if apart.values else "")
        compared.append([f"{label} – {other}", *cells])
    if compared:
        title = f"{part.title}: exact minus clamped action, in points, over seeds; negative where exact is better"
        tables.append(Table(title, ["networks", *columns], compared))
    return tables


def _errors(
    part: Part, runs: Sequence[Run], curves: Sequence[Mapping[str, Any]], label: str
) -> dict[str, dict[int, float]]:
    """Column → seed → error of one network."""
    result = {
        column: {run.recipe.seed: run.results[split]["error"] for run in runs} for split, column in part.columns.items()
    }
    for action, column in _OVER.items():
        points = [each for each in curves if (each["network"], each["action"]) == (label, action) and each["shift"]]
        seeds = dict.fromkeys(point["seed"] for point in points)
        result[column] = {
            seed: Measured([point["error"] for point in points if point["seed"] == seed]).mean for seed in seeds
        }
    return result


def _draw(part: Part, rows: Sequence[Row], curves: Sequence[Record], quantity: str) -> "Figure":
    """The error as a function of the shift, by either action: mean and standard deviation over seeds."""
    figure = new_figure(10, 4.5)
    panels = figure.subplots(1, 2, sharey=True)
    for axes, (action, shifts) in zip(panels, _SHIFTS.items(), strict=True):
        for number, row in enumerate(rows):
            points = [each for each in curves if (each["network"], each["action"]) == (row.label, action)]
            at = [Measured([float(p["error"] or 0) for p in points if p["shift"] == shift]) for shift in shifts]
            mean, spread = [100 * each.mean for each in at], [100 * each.deviation for each in at]
            axes.plot(shifts, mean, marker="o", markersize=4, color=f"C{number}", label=row.marked)
            low, high = ([m + sign * s for m, s in zip(mean, spread, strict=True)] for sign in (-1, 1))
            axes.fill_between(shifts, low, high, color=f"C{number}", alpha=0.12, linewidth=0)
        unit = "in logits" if action == "exact" else "as in the paper"
        axes.set(xlabel=f"{quantity} shift, {action} ({unit})", xticks=shifts)
        axes.grid(alpha=0.3)
    panels[0].set_ylabel("error in %")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize="small")
    figure.suptitle(f"{part.title} under a shift of {quantity}")
    return figure
