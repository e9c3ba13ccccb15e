"""Networks that know of saturation or luminance, tested where it is not what it was in training.

The question is whether the exact action generalises better than the paper's clamped one, so both are also held against
each other, seed by seed, and images are shifted by both: neither network is tested on its own kind of shift alone.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from equicolor._tools.pages import Drawing
from equicolor._tools.pictures import new_figure
from equicolor._tools.tables import Table
from equicolor.color import Action
from equicolor.comparison import Measured, Outcome, Record, Row, Runner, run_records
from equicolor.data import ImageSet, load
from equicolor.experiments._conclusions import of_rows
from equicolor.experiments._pictures import line_styles
from equicolor.experiments._rows import chosen_rows, rows_of
from equicolor.experiments._setting import Setting
from equicolor.experiments._several import missing
from equicolor.experiments._tables import row_lines
from equicolor.train import Run
from equicolor.trained import evaluate_curve

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
    all_rows = {part.title: rows_of(setting, part.recipe, part.networks, quick=quick) for part in parts}
    absent = {part.title: missing(all_rows[part.title][0].recipe.data) for part in parts}
    there = [part for part in parts if not absent[part.title]]
    chosen = chosen_rows(setting, [row for part in there for row in all_rows[part.title]])
    runs = runner.train(chosen, weights=True)
    records, tables, pictures, conclusion = run_records(runs), [], {}, list[str]()
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
        every = [(row, run) for row in rows for run in runs[row.label]]
        work = len(images) * len(every) * sum(map(len, _SHIFTS.values()))
        with runner.progress(f"shifting {part.title}", work) as advance:
            curves = [
                {"data": part.title, "network": row.label, "seed": run.recipe.seed, **point}
                for row, run in every
                for point in _curve(run, images, quantity, advance)
            ]
        records += curves
        tables += _tables(part, rows, runs, curves)
        conclusion += _conclusion(part, rows, runs, curves)
        pictures[f"{_NAMES[quantity]}-{part.name}"] = _draw(part, rows, curves, _NAMES[quantity])
    notes = [f"{title} is left out. {text}" for title, text in absent.items() if text]
    notes += [
        f"“{_OVER['clamp']}” and “{_OVER['exact']}” are means of the error over {_NAMES[quantity]} shifts of "
        f"{_spoken('clamp')} by the paper's clamped action, and of {_spoken('exact')} in logits by the exact one.",
        f"Shifted are samples of the first split, {' and '.join(shifted)}, the other columns are of whole splits: "
        "the pictures have the error of the samples unshifted. In them, * marks what the table calls reduced.",
    ]
    return Outcome(records, tables, pictures, notes, conclusion)


def _conclusion(
    part: Part, rows: Sequence[Row], runs: Mapping[str, Sequence[Run]], curves: Sequence[Mapping[str, Any]]
) -> list[str]:
    """Which of the differences between the two actions are larger than their deviation, and who errs least."""
    errors = {row.label: _errors(part, runs[row.label], curves, row.label) for row in rows}
    compared, apart = 0, []
    for exact, clamp in _pairs(errors):
        for column, difference in _differences(errors[exact], errors[clamp]).items():
            compared += 1
            if len(difference.values) > 1 and abs(difference.mean) > difference.deviation:
                apart.append(f"{column}, {exact} {difference:+}")
    found = []
    if compared:
        text = f"{part.title}: of {compared} differences between the exact and the clamped action, "
        found.append(text + f"{len(apart)} {'is' if len(apart) == 1 else 'are'} larger than the deviation over seeds")
        found[0] += f" (exact minus clamped, in points): {'; '.join(apart)}." if apart else "."
    return [*found, *(f"{part.title}: {each}" for each in of_rows(rows, runs, part.columns)[:2])]


def _pairs(labels: Iterable[str]) -> list[tuple[str, str]]:
    """The rows that differ in the action alone: the exact one, and the clamped one."""
    known = list(labels)
    both = [(label, label.replace("exact", "clamp")) for label in known]
    return [(exact, clamp) for exact, clamp in both if exact != clamp and clamp in known]


def _differences(
    exact: Mapping[str, Mapping[int, float]], clamp: Mapping[str, Mapping[int, float]]
) -> dict[str, Measured]:
    """By column, the error of the exact action less that of the clamped one, seed by seed."""
    return {
        column: Measured([exact[column][seed] - clamp[column][seed] for seed in exact[column] if seed in clamp[column]])
        for column in exact
    }


def _spoken(action: Action) -> str:
    return ", ".join(f"{shift:+g}" for shift in _SHIFTS[action] if shift)


def _curve(
    run: Run, images: ImageSet, quantity: Literal["sat", "lum"], advance: Callable[[int], None]
) -> list[dict[str, Any]]:
    """The error of a trained network on images under each shift of both actions."""
    model = run.model
    return [
        {"action": action, "shift": shift, "error": evaluation.error}
        for action, shifts in _SHIFTS.items()
        for shift, evaluation in evaluate_curve(model, images, quantity, shifts, advance=advance, action=action).items()
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
    for label, other in _pairs(errors):
        apart = _differences(errors[label], errors[other])
        compared.append([f"{label} – {other}", *(f"{each:+}" if each.values else "" for each in apart.values())])
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


def _draw(part: Part, rows: Sequence[Row], curves: Sequence[Record], quantity: str) -> Drawing:
    """The error as a function of the shift, by either action: mean and standard deviation over seeds."""
    figure = new_figure(10, 4.5)
    panels = figure.subplots(1, 2, sharey=True)
    styles, said = line_styles([row.marked for row in rows]), list[str]()
    for axes, (action, shifts) in zip(panels, _SHIFTS.items(), strict=True):
        for row in rows:
            style = styles[row.marked]
            points = [each for each in curves if (each["network"], each["action"]) == (row.label, action)]
            at = [Measured([float(p["error"] or 0) for p in points if p["shift"] == shift]) for shift in shifts]
            mean, spread = [100 * each.mean for each in at], [100 * each.deviation for each in at]
            axes.plot(shifts, mean, label=row.marked, **style)
            said.append(f"{row.marked}, {action}: {min(mean):.1f} to {max(mean):.1f}")
            low, high = ([m + sign * s for m, s in zip(mean, spread, strict=True)] for sign in (-1, 1))
            axes.fill_between(shifts, low, high, color=style["color"], alpha=0.12, linewidth=0)
        unit = "in logits" if action == "exact" else "as in the paper"
        axes.set(xlabel=f"{quantity} shift, {action} ({unit})", xticks=shifts)
        axes.grid(alpha=0.3)
    panels[0].set_ylabel("error in %")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize="small")
    figure.suptitle(f"{part.title} under a shift of {quantity}")
    return Drawing(
        figure,
        f"Lines of the error in % under shifts of {quantity}, a panel for each action. From least to most: "
        f"{'; '.join(said)}.",
        "Means over seeds; bands reach one standard deviation to either side.",
    )
