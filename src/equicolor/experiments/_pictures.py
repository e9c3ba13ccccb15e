"""Pictures that several experiments share."""

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import torch

from equicolor._tools.pictures import contact_sheet, new_figure
from equicolor.data import load
from equicolor.experiments._rows import Row
from equicolor.experiments._tables import Measured
from equicolor.train import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from PIL.Image import Image


def bars(
    rows: Sequence[Row], runs: Mapping[str, Sequence[Run]], splits: Mapping[str, str], metric: str = "error"
) -> "Figure":
    """Error in % of every network on every split, mean and standard deviation over seeds; reduced rows are marked."""
    figure = new_figure(max(6.0, 1.5 * len(rows) + 1), 3.6)
    axes = figure.subplots()
    width = 0.8 / len(splits)
    for place, (split, name) in enumerate(splits.items()):
        errors = [Measured([run.results[split][metric] for run in runs[row.label]]) for row in rows]
        axes.bar(
            [number + (place - (len(splits) - 1) / 2) * width for number in range(len(rows))],
            [100 * error.mean for error in errors],
            width,
            yerr=[100 * error.deviation for error in errors],
            label=name,
        )
    axes.set_xticks(range(len(rows)), [_in_lines(row.marked) for row in rows])
    axes.set(ylabel=f"{metric.replace('_', ' ')} in %")
    if any(row.reduced for row in rows):
        axes.set_xlabel("* reduced: see the table")
    axes.legend(title="trained/tested on")
    axes.grid(axis="y", alpha=0.3)
    return figure


def _in_lines(label: str) -> str:
    r"""A label below its bars: one line for each part, none too long.

    >>> _in_lines("canonical light and exposure, jitter")
    'canonical light\nand exposure\njitter'
    """
    return "\n".join(textwrap.fill(part, 16) for part in label.split(", "))


def curves(
    x: str, y: str, lines: Mapping[str, Mapping[float, float]], *, log_x: bool = False, log_y: bool = False
) -> "Figure":
    """One line for each network: place on the axis → value."""
    figure = new_figure(7.5, 4.2)
    axes = figure.subplots()
    for number, (label, line) in enumerate(lines.items()):
        places = sorted(line)
        axes.plot(places, [line[place] for place in places], marker="osv^D"[number % 5], markersize=4, label=label)
    axes.set(xlabel=x, ylabel=y)
    if log_x:
        axes.set_xscale("log")
        places = sorted({place for line in lines.values() for place in line})
        axes.set_xticks(places, [f"{place:g}" for place in places])
        axes.minorticks_off()
    if log_y:
        axes.set_yscale("log", subs=(2, 5))
        axes.yaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_minor_formatter("{x:g}")
        axes.grid(axis="y", which="minor", alpha=0.3)
    axes.legend(fontsize="small")
    axes.grid(alpha=0.3)
    return figure


def examples(data: str, splits: Mapping[str, str]) -> "Image":
    """A few images of every split."""
    count = 12
    sets = {name: load(data, split=split, in_memory=False).sample(count)[:].images for split, name in splits.items()}
    images = torch.cat(list(sets.values())).mul(255).round().to(torch.uint8)
    sections = [(name, range(place * count, (place + 1) * count)) for place, name in enumerate(sets)]
    return contact_sheet(images, sections)
