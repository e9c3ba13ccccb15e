"""Windows: what helps a group that is a window of an infinite one, whose moves push features out at its edge."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

import torch
from torch import nn

from equicolor.comparison import Measured, run_records
from equicolor.experiments import Outcome, Record, Row, Runner, Setting, Table, register_experiment
from equicolor.experiments._conclusions import of_part
from equicolor.experiments._rows import chosen_parts, rows_of
from equicolor.experiments._several import missing
from equicolor.experiments._stand_in import SHORT, shift_columns
from equicolor.groups import group as as_group
from equicolor.measure import equivariance_error
from equicolor.nn import GroupConv2d, Lift, Window
from equicolor.train import Run

#: Untrained networks of up to so many layers on this group are measured.
_DEPTHS, _WIDE, _CHANNELS = (1, 2, 3), "sat9", 8


@dataclass(frozen=True)
class _Part:
    """Networks on one data set: rows and variants of a recipe, test splits and their columns, and what is counted."""

    title: str
    recipe: str
    networks: Mapping[str, str]
    columns: Mapping[str, str]
    metric: str


_SHAPES = _Part(
    "Embedded shapes, trained on middle saturation (A), tested on paler (B) and stronger colours (C): error in %",
    "saturation_shift_shapes3d",
    {
        "Z2CNN": "z2cnn",
        "Sat-3": "sat3-exact-wide",
        "Sat-3, rescaled": "sat3-rescale",
        "Sat-3, replicated": "sat3-replicate",
        "Sat-3, mean": "sat3-mean",
        "Sat-3, logsumexp": "sat3-logsumexp",
        "Sat-5": "sat5",
        "Sat-5, valid": "sat5-valid",
        "Sat-5, valid, mean": "sat5-valid-mean",
        "Sat-7, valid": "sat7-valid",
    },
    shift_columns("saturation_shift_shapes3d"),
    "error",
)
_CELLS = _Part(
    "Malaria cells, trained on blue slides: balanced error in %",
    "malaria",
    {
        "cells, Z2CNN": "z2cnn",
        "cells, Z2CNN, grey": "z2cnn-gray",
        "cells, Z2CNN, jitter of light": "z2cnn-jitter",
        "cells, Light-3": "light3",
        "cells, Light-3, rescaled": "light3-rescale",
        "cells, Light-3, replicated": "light3-replicate",
        "cells, Light-3, mean": "light3-mean",
        "cells, Light-3, logsumexp": "light3-logsumexp",
        "cells, Light-5": "light5",
        "cells, Light-5, valid": "light5-valid",
        "cells, Light-5, valid, mean": "light5-valid-mean",
        "cells, Light-7, valid": "light7-valid",
    },
    {"blue_test": "blue", "pink_test": "pink", "between": "between"},
    "balanced_error",
)


@register_experiment(
    "windows",
    title="What a window loses, and what helps",
    about=(
        "A group of saturation or light is a window of an infinite one: what a move pushes out of it is lost. Zeros "
        "come in (the rule of the paper), or zeros made up for (rescaled), or the element at the edge (replicated); or "
        "nothing does, as every convolution takes less of a wider window (valid). Pooling is by maximum, mean or "
        "logsumexp. Tested on shapes of other saturations and on blood cells of other stains; Light-n is temperature "
        "by tint, n by n."
    ),
    quick="A few hundred shapes, one seed, no cells.",
    place=130,
)
def _run(setting: Setting, runner: Runner) -> Outcome:
    parts = [_SHAPES] if setting.quick else [_SHAPES, _CELLS]
    absent = {part.recipe: text for part in parts[1:] if (text := missing(part.recipe))}
    there = [part for part in parts if part.recipe not in absent]
    every = {part.recipe: rows_of(setting, part.recipe, part.networks, quick=SHORT) for part in there}
    chosen = chosen_parts(setting, every)
    runs = runner.train([row for rows in chosen.values() for row in rows])
    records: list[Record] = []
    tables: list[Table] = []
    conclusion = []
    for part in there:
        if rows := chosen.get(part.recipe):
            tables.append(_table(part, rows, runs))
            records += run_records({row.label: runs[row.label] for row in rows}, part.metric)
            name = part.title.partition(",")[0]
            conclusion.append(of_part(name, "cells, ", rows, runs, part.columns, part.metric))
    measured = equivariance_of_windows()
    tables.append(_equivariance_table(measured))
    conclusion.append(_equivariance(measured))
    notes = [_NOTE, *(f"Cells are left out. {text}" for text in absent.values())]
    return Outcome([*records, *measured], tables, notes=notes, conclusion=conclusion)


def _equivariance(records: Sequence[Record]) -> str:
    """The deepest networks that were measured, the least error first."""
    errors = {str(r["window"]): float(r["equivariance_error"] or 0) for r in records if r["layers"] == max(_DEPTHS)}
    said = ", ".join(f"{window} {errors[window]:.0e}" for window in sorted(errors, key=lambda window: errors[window]))
    return f"Relative equivariance error of {max(_DEPTHS)} untrained layers, by what comes in at the edge: {said}."


def _table(part: _Part, rows: Sequence[Row], runs: Mapping[str, Sequence[Run]]) -> Table:
    """The mean over seeds and, where there are several, what each of them has."""
    lines = []
    for row in rows:
        those = runs[row.label]
        cells = [_cell([run.results[split][part.metric] for run in those]) for split in part.columns]
        seconds = Measured([run.summary["seconds"] for run in those]).mean
        lines.append([row.title, *cells, f"{those[0].summary['parameters']:,}", f"{seconds:.0f}"])
    return Table(part.title, ["network", *part.columns.values(), "parameters", "seconds"], lines)


def equivariance_of_windows() -> list[Record]:
    """How far networks of a few layers are from equivariant to a move by one step, where both sides are known."""
    images = torch.rand(4, 3, 16, 16, generator=torch.Generator().manual_seed(0))
    records: list[Record] = []
    for window in get_args(Window):
        for depth in _DEPTHS:
            layers: list[nn.Module] = [Lift(_WIDE)]
            group, channels = as_group(_WIDE), 3
            with torch.random.fork_rng(devices=[]):
                torch.default_generator.manual_seed(0)
                for _ in range(depth):
                    conv = GroupConv2d(group, channels, _CHANNELS, 3, window=window)
                    layers += [conv, nn.ReLU()]
                    group, channels = conv.out_group, _CHANNELS
            error = equivariance_error(nn.Sequential(*layers), images, group, elements=[1]).item()
            records.append({"window": window, "layers": depth, "equivariance_error": error})
    return records


def _equivariance_table(records: Sequence[Record]) -> Table:
    lines = [
        [window, *(f"{record['equivariance_error']:.0e}" for record in records if record["window"] == window)]
        for window in get_args(Window)
    ]
    title = f"Untrained layers on {_WIDE}: relative equivariance error of one step, on the overlap"
    return Table(title, ["window", *(f"{depth} layer{'s' * (depth > 1)}" for depth in _DEPTHS)], lines)


def _cell(values: Sequence[float]) -> str:
    mean = f"{100 * Measured(values).mean:.2f}"
    return mean if len(values) == 1 else f"{mean} ({', '.join(f'{100 * value:.1f}' for value in values)})"


_NOTE = (
    "Means over seeds, and each seed's value in parentheses. Seconds are those of the whole training, on a machine "
    "that did other work beside it: good for an order of magnitude."
)
