"""Canonicalisation: what a network that undoes colour moves is worth beside its rivals, and where it fails. Our own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import torch
from torch import Tensor

from equicolor._tools.pages import Drawing
from equicolor.color import shift_temperature
from equicolor.comparison import Measured, measured, multiplications, run_records, seeds_of
from equicolor.experiments import Outcome, Record, Row, Runner, Setting, Table, register_experiment
from equicolor.experiments._conclusions import of_part, quoted
from equicolor.experiments._pictures import curves
from equicolor.experiments._rows import chosen_parts, rows_of
from equicolor.experiments._stand_in import shift_columns
from equicolor.nn import Canonicalizer
from equicolor.train import Run

_RECIPE = "canonical_shapes3d"
#: How far light is moved, in temperature; and each half of an image, the one this way, the other the other.
MOVES, LAMPS = (-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0), (0.75, 1.5)
_QUICK_MOVES, _QUICK_LAMPS = (-3.0, 0.0, 1.0), (1.5,)
#: Light that canonicalisers are trained for.
REACH = Canonicalizer("temp-tint").reach[0]
_ANY_LIGHT = f"temp:{-REACH:g}..{REACH:g},tint:{-REACH:g}..{REACH:g}"
_QUICK = {"train_size": 160, "test_size": 100, "epochs": 1, "batch_size": 16, "canonicalizer_steps": 10}


@dataclass(frozen=True)
class _Part:
    """Networks on one data set: rows and variants of the recipe, and what the columns of its test splits are called."""

    name: str
    title: str
    networks: Mapping[str, str]
    columns: Mapping[str, str]


def _labelled(part: str, names: Mapping[str, str]) -> dict[str, str]:
    return {f"{part}, {label}": f"{part}-{variant}" for label, variant in names.items()}


_RIVALS = {"plain": "plain", "grey": "gray"}
_CANONICAL = {"canonicalised": "canonical", "canonicalised, jitter": "canonical-jitter"}
_FROZEN = {"canonicalised around plain": "around"}
_LIGHT = _Part(
    "light",
    "Shapes, trained in one light: error in %",
    _labelled(
        "light",
        _RIVALS
        | {"jitter of light": "jitter", "Light-3": "group"}
        | _CANONICAL
        | {"canonicalised, anchored": "canonical-anchored", "canonicalised by gains, anchored": "canonical-gains"}
        | {"canonicalised, together": "together"}
        | _FROZEN,
    ),
    {"test_a": "the same light"},
)
_HUE = _Part(
    "hue",
    "Shapes, trained on one half of all hues (A), tested on the other (B), and with the object alone of the other (C): "
    "error in %",
    _labelled("hue", _RIVALS | {"jitter of hue": "jitter", "Hue-4": "group"} | _CANONICAL | _FROZEN),
    shift_columns("hue_shift_shapes3d"),
)
_COLOUR = _Part(
    "colour",
    "Where the colour is the class, red or cyan: error in %, chance 50",
    _labelled(
        "colour",
        _RIVALS
        | {"jitter of hue": "jitter", "Hue-4": "group"}
        | {"canonicalised by hue": "canonical", "canonicalised by light": "canonical-light"},
    ),
    {"test": "test"},
)
_PARTS = {part.name: part for part in (_LIGHT, _HUE, _COLOUR)}


@register_experiment(
    "canonical",
    title="Canonicalised networks, their rivals, and where they fail",
    about=(
        "A small network finds the colour move of an image and undoes it, then a plain one looks. Is that better than "
        "taking the colour away, than jitter of the same family, than a group network? And where does it fail: when "
        "the colour is the class, when light is moved farther than it was trained for, when two lamps light one image. "
        "On embedded shapes, and very short training."
    ),
    quick="160 images, ten steps, one seed: shows that everything works.",
    place=140,
)
def _run(setting: Setting, runner: Runner) -> Outcome:
    every = {part.name: rows_of(setting, _RECIPE, part.networks, quick=_QUICK) for part in _PARTS.values()}
    chosen = chosen_parts(setting, every)
    wanted = [row for rows in chosen.values() for row in rows]
    runs = runner.train([row for row in wanted if not _is_around(row)])
    for row in filter(_is_around, wanted):
        runs[row.label] = _around(row, every, runner)
    moves, lamps = (_QUICK_MOVES, _QUICK_LAMPS) if setting.quick else (MOVES, LAMPS)
    records: list[Record] = []
    tables, pictures, conclusion = [], {}, list[str]()
    for name, rows in chosen.items():
        part = _PARTS[name]
        those = {row.label: runs[row.label] for row in rows}
        records += [{"part": part.name, **record} for record in run_records(those)]
        told = of_part(part.title.partition(":")[0], f"{part.name}, ", rows, runs, part.columns)
        if part is _LIGHT:
            runner.log("Moving the light of test images")
            unseen = _lights(those, runner, moves, lamps)
            records += unseen
            tables += [
                _table(part, rows, runs, unseen),
                _by_move(_FAR, rows, unseen, "one lamp", {f"{move:+g}": move for move in moves}),
                _by_move(_LAMPS, rows, unseen, "two lamps", {f"±{move:g}": move for move in lamps}),
            ]
            pictures["far-moves"] = _picture(rows, unseen, moves)
            conclusion += [told, _in_other_light(rows, unseen)]
        else:
            conclusion.append(told)
            tables.append(_table(part, rows, runs))
    notes = [_NOTE.format(seeds=seeds_of(records), reach=f"{REACH:g}"), *([] if setting.quick else [_PROTOCOL])]
    return Outcome(records, tables, pictures, notes, conclusion)


def _in_other_light(rows: Sequence[Row], records: Sequence[Record]) -> str:
    errors = {row.label.removeprefix("light, "): measured(records, network=row.label, light="any") for row in rows}
    said = ", ".join(
        f"{quoted(label)} {errors[label].written()}" for label in sorted(errors, key=lambda row: errors[row].mean)
    )
    return f"In other light, each image under a lamp of its own, errors in %, the least first: {said}."


# ------------------------------------------------------------------------------------------------ training


def _is_around(row: Row) -> bool:
    return row.label.endswith("around plain")


def _around(row: Row, every: Mapping[str, Sequence[Row]], runner: Runner) -> list[Run]:
    """A canonicaliser around the plain network of each seed."""
    plain = next(rows[0] for rows in every.values() if row in rows)
    result = []
    for recipe in row.seeded:
        network = replace(plain, recipe=plain.recipe.replace(seeds=[recipe.seed]))
        (run,) = runner.train([network])[plain.label]
        alone = replace(row, recipe=recipe.replace(seeds=[recipe.seed], around=str(run.folder)))
        result += runner.train([alone])[row.label]
    return result


# ------------------------------------------------------------------------------------------------ measuring


def two_lamps(images: Tensor, amount: float) -> Tensor:
    """The left half of each image under warmer light, the right half under colder, by so much in temperature."""
    left, right = images.tensor_split(2, dim=-1)
    return torch.cat([shift_temperature(left, amount), shift_temperature(right, -amount)], dim=-1)


def _lights(
    runs: Mapping[str, Sequence[Run]], runner: Runner, moves: Sequence[float], lamps: Sequence[float]
) -> list[Record]:
    """The errors of all networks in other light: any within reach, one lamp farther and farther away, two lamps."""
    records: list[Record] = []
    for label, those in runs.items():
        for run in those:
            about: Record = {"part": "light", "network": label, "seed": run.recipe.seed}
            records.append({**about, "light": "any", "error": runner.runs.error_under(run, "test_a", _ANY_LIGHT)})
            for move in moves:
                error = (
                    runner.runs.error_under(run, "test_a", f"temp:{move:g}") if move else run.results["test_a"]["error"]
                )
                records.append({**about, "light": "one lamp", "move": move, "error": error})
            for amount in lamps:
                error = runner.runs.error_on(run, "test_a", f"lamps:{amount:g}", partial(two_lamps, amount=amount))
                records.append({**about, "light": "two lamps", "move": amount, "error": error})
    return records


# ------------------------------------------------------------------------------------------------ showing


def _table(part: _Part, rows: Sequence[Row], runs: Mapping[str, Sequence[Run]], unseen: Sequence[Record] = ()) -> Table:
    """The errors of all networks, and what they cost."""
    lines = []
    plain = multiplications(runs[rows[0].label][0].recipe) if rows[0].label.endswith(", plain") else None
    for row in rows:
        those = runs[row.label]
        errors = [Measured([run.results[split]["error"] for run in those]) for split in part.columns]
        if unseen:
            errors.append(measured(unseen, network=row.label, light="any"))
        cost = multiplications(those[0].recipe)
        lines.append(
            [
                row.title,
                *map(str, errors),
                f"{those[0].summary['parameters']:,}",
                f"{cost / plain:.2f}" if plain else f"{cost:.1f} M",
            ]
        )
    columns = [*part.columns.values(), *(["other light"] if unseen else [])]
    return Table(part.title, ["network", *columns, "parameters", "multiplications"], lines)


def _by_move(
    title: str, rows: Sequence[Row], records: Sequence[Record], light: str, moves: Mapping[str, float]
) -> Table:
    lines = [
        [row.title, *(str(measured(records, network=row.label, light=light, move=move)) for move in moves.values())]
        for row in rows
    ]
    return Table(title, ["network", *moves], lines)


def _picture(rows: Sequence[Row], records: Sequence[Record], moves: Sequence[float]) -> Drawing:
    lines = {
        row.marked.removeprefix("light, "): {
            move: 100 * measured(records, network=row.label, light="one lamp", move=move).mean for move in moves
        }
        for row in rows
    }
    caption = (
        f"Shaded: light within ±{REACH:g}, for which canonicalisers are trained. Numbers are those at the right end."
    )
    return curves("shift of the light in temperature", "error in %", lines, shaded=(-REACH, REACH), caption=caption)


_FAR = f"Light moved by so much in temperature (canonicalisers are trained within ±{REACH:g}): error in %"
_LAMPS = "Two lamps in one image, the left half warmer and the right half colder by so much: error in %"
_NOTE = (
    "Means over {seeds}, with the standard deviation in brackets where there are several. “Other light”: each image "
    "under a lamp of its own, within ±{reach} in temperature and tint. “Around plain”: the plain network of the same "
    "seed, unchanged, behind a canonicaliser that was trained alone; “together”: both from the first step. "
    "Multiplications are those of inference for one image, relative to the plain network, which is a small one: the "
    "canonicalisers would cost as many in front of a large one."
)
_PROTOCOL = (
    "All networks are the paper's Z2CNN, trained for 90 steps of 32 from the same 480 images; canonicalisers of light "
    "for 150 steps of 128 from these, of hue for 50, without labels. Tested on 1,000 images of each split."
)
