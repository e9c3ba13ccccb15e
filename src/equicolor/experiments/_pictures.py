"""Pictures that several experiments share."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch

from equicolor._tools.pages import Drawing
from equicolor._tools.palette import kind_of, network_color
from equicolor._tools.palette import shaded as shade
from equicolor._tools.pictures import contact_sheet, new_figure
from equicolor.data import load

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Networks of one kind in a picture, whose colours are shades of one, have other lines and markers.
STYLES = (("-", "o"), ("--", "s"), (":", "D"), ("-.", "^"), ((0, (6, 1)), "v"), ((0, (1, 1)), "P"))


def line_styles(labels: Sequence[str]) -> dict[str, dict[str, Any]]:
    """How the line of each network is drawn: its own colour, and of several of a kind the next kind of line."""
    seen: Counter[str] = Counter()
    styles: dict[str, dict[str, Any]] = {}
    for label in labels:
        kind = kind_of(label)
        line, marker = STYLES[seen[kind] % len(STYLES)]
        seen[kind] += 1
        styles[label] = {"color": network_color(label), "linestyle": line, "marker": marker, "markersize": 4}
    return styles


def curves(
    x: str,
    y: str,
    lines: Mapping[str, Mapping[float, float]],
    *,
    log_x: bool = False,
    log_y: bool = False,
    falling: bool = False,
    shaded: tuple[float, float] | None = None,
    caption: str = "",
) -> Drawing:
    """One line for each network, place on the axis → value, with its name at its end.

    Args:
        x, y: what the axes are.
        lines: by the label of the network, which says its colour.
        log_x, log_y: logarithmic axes.
        falling: the axis below goes from large to small.
        shaded: a range of the axis below to be marked.
        caption: below the picture, what must be known to read it.
    """
    figure = new_figure(8.5, 5.2 if log_y else 4.6)
    axes = figure.subplots()
    styles = line_styles(list(lines))
    for label, line in lines.items():
        places = sorted(line, reverse=falling)
        axes.plot(places, [line[place] for place in places], **styles[label])
    axes.set(xlabel=x, ylabel=y)
    places = sorted({place for line in lines.values() for place in line}, reverse=falling)
    if log_x:
        axes.set_xscale("log")
        axes.set_xticks(places, [f"{place:g}" for place in places])
        axes.minorticks_off()
    if falling:
        axes.invert_xaxis()
    if log_y:
        _logarithmic(axes)
    axes.grid(alpha=0.3)
    if shaded is not None:
        axes.axvspan(*shaded, color="0.5", alpha=0.12, linewidth=0)
    end = min if falling else max
    _name_ends(axes, {label: (end(line), line[end(line)]) for label, line in lines.items()}, styles)
    return Drawing(figure, _in_words(x, y, lines, falling), caption)


def curves_beside(y: str, panels: Mapping[str, Mapping[str, Mapping[float, float]]], caption: str = "") -> Drawing:
    """Lines of the same networks against several things, beside each other, on one logarithmic axis.

    Args:
        y: what that axis is.
        panels: what the axes below are, and the lines of each panel, as in :func:`curves`.
        caption: below the picture, what must be known to read it.
    """
    figure = new_figure(8.5, 4.6)
    every = figure.subplots(1, len(panels), sharey=True)
    *_, named = panels.values()
    styles = line_styles(list(named))
    for axes, (x, lines) in zip(every, panels.items(), strict=True):
        for label, line in lines.items():
            axes.plot(list(line), list(line.values()), **styles[label])
        axes.set(xlabel=x)
        _logarithmic(axes)
        axes.grid(alpha=0.3)
    every[0].set(ylabel=y)
    _name_ends(every[-1], {label: list(line.items())[-1] for label, line in named.items()}, styles)
    said = " ".join(_in_words(x, y, lines, falling=False) for x, lines in panels.items())
    return Drawing(figure, said, caption)


def _logarithmic(axes: "Axes") -> None:
    """Values on a logarithmic axis, with numbers between the powers of ten."""
    axes.set_yscale("log", subs=(1.5, 2, 2.5, 3, 4, 5, 6, 8))
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.set_minor_formatter("{x:g}")
    axes.tick_params(axis="y", which="minor", labelsize="small")
    axes.grid(axis="y", which="minor", alpha=0.25)


def _name_ends(
    axes: "Axes", points: Mapping[str, tuple[float, float]], styles: Mapping[str, Mapping[str, Any]]
) -> None:
    """The names beside the ends of their lines, as near as they have room above each other."""
    axes.get_xlim(), axes.get_ylim()  # fits them to the lines, if that is still to do
    ends = sorted((axes.transData.transform(point)[1], label) for label, point in points.items())
    low, high = (point[1] for point in axes.transAxes.transform([(0, 0), (0, 1)]))
    heights = _apart([(end - low) / (high - low) for end, _ in ends], min(0.042, 1 / max(len(ends), 1)))
    for (_, label), height in zip(ends, heights, strict=True):
        axes.annotate(
            f"{label}  {points[label][1]:.1f}",
            xy=points[label],
            xytext=(1.03, height),
            textcoords="axes fraction",
            color=shade(styles[label]["color"], -0.25),  # letters are thin
            fontsize="small",
            va="center",
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "relpos": (0, 0.5),
                "shrinkA": 0,
                "color": styles[label]["color"],
                "alpha": 0.5,
                "linewidth": 0.8,
            },
        )


def _apart(wanted: Sequence[float], room: float) -> list[float]:
    """Places in ascending order, each as near to what is wanted as it can be, and so far from the next.

    >>> [round(place, 2) for place in _apart([0.1, 0.5, 0.5], 0.1)]
    [0.1, 0.45, 0.55]
    """
    groups: list[tuple[float, int]] = []  # the middle of labels that touch each other, and how many they are
    for place in wanted:
        groups.append((place, 1))
        while len(groups) > 1 and groups[-1][0] - groups[-2][0] < room * (groups[-1][1] + groups[-2][1]) / 2:
            (low, few), (high, many) = groups[-2:]
            groups[-2:] = [((low * few + high * many) / (few + many), few + many)]
    return [middle + room * (number - (count - 1) / 2) for middle, count in groups for number in range(count)]


def _in_words(x: str, y: str, lines: Mapping[str, Mapping[float, float]], falling: bool) -> str:
    said = []
    for label, line in lines.items():
        first, *_, last = [*sorted(line, reverse=falling)] * 2  # of a single point, twice that
        said.append(f"{label} {line[first]:.1f} at {round(first, 2):g} and {line[last]:.1f} at {round(last, 2):g}")
    return f"Lines of the {y}, against the {x}, from end to end: {'; '.join(said)}."


def examples(data: str, splits: Mapping[str, str]) -> Drawing:
    """A few images of every split."""
    count = 12
    sets = {name: load(data, split=split, in_memory=False).sample(count)[:].images for split, name in splits.items()}
    images = torch.cat(list(sets.values())).mul(255).round().to(torch.uint8)
    sections = [(name, range(place * count, (place + 1) * count)) for place, name in enumerate(sets)]
    return Drawing(
        contact_sheet(images, sections),
        f"{count} images each of {', '.join(sets)}, one set below the other.",
        "Images of each test set, drawn at random.",
    )
