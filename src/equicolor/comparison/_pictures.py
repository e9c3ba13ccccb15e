"""Pictures of comparisons."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from equicolor._tools.pages import Drawing
from equicolor._tools.palette import network_color
from equicolor._tools.pictures import new_figure
from equicolor.comparison._measured import Measured
from equicolor.comparison._row import Row
from equicolor.train import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: A bar of nothing is drawn as so much of the axis, so that one sees that it is there, and that it is nothing.
_ZERO = 0.004
#: More networks than these are not all said in words: the table has them.
_SAID = 8


def bars(
    rows: Sequence[Row], runs: Mapping[str, Sequence[Run]], splits: Mapping[str, str], metric: str = "error"
) -> Drawing:
    """Draws the error in % of every network on every split, mean and standard deviation over seeds.

    Rows that were reduced are marked.

    Args:
        rows: the networks.
        runs: their runs, by label.
        splits: the splits, each with its title.
        metric: what is drawn.

    Returns:
        The picture, with its numbers in words.
    """
    panels = {
        name: {row.marked: Measured([run.results[split][metric] for run in runs[row.label]]) for row in rows}
        for split, name in splits.items()
    }
    note = "* reduced: see the table" if any(row.reduced for row in rows) else ""
    return drawn_bars(panels, f"{metric.replace('_', ' ')} in %", note)


def drawn_bars(
    panels: Mapping[str, Mapping[str, Measured]], axis: str, note: str = "", scale: float = 100, digits: int = 1
) -> Drawing:
    """Draws bars of any numbers, and says them in words.

    Args:
        panels: the numbers, by the name of the set, by that of the network.
        axis: what is measured.
        note: what stands below everything.
        scale: the unit of the values, 100 for %.
        digits: how many stand after the point.

    Returns:
        The picture.
    """
    several = any(len(value.values) > 1 for bars in panels.values() for value in bars.values())
    said = [
        f"{name}: "
        + ", ".join(f"{label} {value.written(scale, digits)}" for label, value in list(bars.items())[:_SAID])
        for name, bars in panels.items()
    ]
    longer = " The table has the others." if any(len(bars) > _SAID for bars in panels.values()) else ""
    return Drawing(
        panels_of_bars(panels, axis, note, scale, digits),
        f"Bars of the {axis}, a panel for each set. {'; '.join(said)}.{longer}",
        f"{axis[0].upper()}{axis[1:]}, a bar for each network"
        + (": means over seeds, lines reach one standard deviation to either side." if several else ".")
        + (f" {note[0].upper()}{note[1:]}." if note else ""),
    )


def panels_of_bars(
    panels: Mapping[str, Mapping[str, Measured]], axis: str, note: str = "", scale: float = 100, digits: int = 1
) -> "Figure":
    """A panel for each set, a bar for each network, from zero and with its number; zero itself is a line at zero.

    Args:
        panels: by the name of the set, by that of the network, which says its colour.
        axis: what is measured.
        note: below everything.
        scale: of the values, 100 for %.
        digits: after the point.
    """
    labels = list(dict.fromkeys(label for bars in panels.values() for label in bars))
    width = 0.075 * max(map(len, labels)) + 2.6 * len(panels)
    figure = new_figure(max(6.0, width), 0.32 * len(labels) + 1.2)
    every = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    longest = max(value.mean + value.deviation for bars in panels.values() for value in bars.values())
    written = max(len(value.written(scale, digits)) for bars in panels.values() for value in bars.values())
    end = scale * longest / (1 - min(0.6, 0.12 + 0.03 * written)) or 1  # room for the numbers
    for axes, (name, bars) in zip(every, panels.items(), strict=True):
        for place, label in enumerate(labels):
            if label not in bars:
                continue
            value, color = bars[label], network_color(label)
            mean, spread = scale * value.mean, scale * value.deviation
            whiskers = {"xerr": spread, "error_kw": {"elinewidth": 1, "ecolor": "0.25"}} if spread else {}
            axes.barh(place, mean, 0.75, color=color, **whiskers)
            if mean < _ZERO * end:
                axes.plot([0, 0], [place - 0.375, place + 0.375], color=color, linewidth=1.5, clip_on=False)
            text = value.written(scale, digits)
            axes.annotate(
                text, (mean + spread, place), (4, 0), textcoords="offset points", va="center", fontsize="small"
            )
        axes.set(title=name, xlabel=axis)
        axes.set_xlim(0, end)
        axes.grid(axis="x", alpha=0.3)
        axes.set_axisbelow(True)
    every[0].set_yticks(range(len(labels)), labels)
    every[0].invert_yaxis()
    if note:
        figure.supxlabel(note, fontsize="small")
    return figure
