"""Plots of what a trained network does: curves over a colour shift, and a look inside. Each is returned, not shown."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from equicolor._tools.palette import FRAMES, network_color
from equicolor._tools.pictures import new_figure
from equicolor.groups import factor_kind
from equicolor.trained._rows import Match

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from torch import Tensor

    from equicolor.trained._canonical import CanonicalCurve
    from equicolor.trained._inspect import Inspection


def plot_curve(
    quantity: str,
    errors: Mapping[float, float] | Mapping[str, Mapping[float, float]],
    title: str = "",
    order: int = 0,
    metric: str = "error",
    *,
    network: str = "",
    against: Mapping[str, Mapping[float, float] | Mapping[str, Mapping[float, float]]] | None = None,
) -> "Figure":
    """Draws the error as a function of a colour shift, on one set or on several, of one network or of several.

    Args:
        quantity: what is shifted, by the prefix of its factor.
        errors: the error, in [0, 1], for each shift; or such errors for each of several sets, by name.
        title: the network and the data.
        order: the number of elements of the network's group of such shifts, if they go around a circle; the elements,
            where the error must repeat, are marked.
        metric: what is drawn, if it is no error.
        network: what the network is called, which says its colour.
        against: the same of other networks, such as the plain one, by their names.

    Returns:
        The figure.
    """
    networks: dict[str, Any] = {network: errors, **(against or {})}
    figure = new_figure(7, 3.6)
    axes: Axes = figure.subplots()
    for place, (label, curves) in enumerate(networks.items()):
        color = network_color(label) if label else FRAMES[0]
        for number, (name, curve) in enumerate(zip(*_sets(curves), strict=True)):
            words = ", ".join(filter(None, (label if len(networks) > 1 else "", name)))
            values = [100 * error for error in curve.values()]
            axes.plot(
                list(curve),
                values,
                marker="os"[place % 2],
                clip_on=False,
                zorder=3,
                markersize=3,
                color=color,
                linestyle=_LINES[number % len(_LINES)],
                label=words or None,
            )
    kind = factor_kind(quantity)
    if kind.period is not None:
        axes.set_xticks([kind.period * eighth / 8 for eighth in range(9)])
        for element in range(order + 1 if order > 1 else 0):
            label = f"elements of {quantity}{order}" if element == 0 else ""
            axes.axvline(element * kind.period / order, color="0.6", linestyle=":", linewidth=1, label=label or None)
    unit = f" in {kind.unit}" if kind.unit else ""
    axes.set(xlabel=f"{kind.quantity} shift{unit}", ylabel=f"{metric} in %", title=title)
    every = [error for curves in networks.values() for curve in _sets(curves)[1] for error in curve.values()]
    axes.set_ylim(0, max([1.0, *(110 * error for error in every)]))
    if axes.get_legend_handles_labels()[1]:
        axes.legend(loc="best", fontsize="small")
    axes.grid(alpha=0.3)
    return figure


def _sets(curves: Any) -> tuple[list[str], list[Mapping[float, float]]]:
    """The names of sets and their curves; of one set there is no name to tell."""
    named = {name: curve for name, curve in curves.items() if isinstance(name, str)} or {"": curves}
    return (list(named) if len(named) > 1 else [""]), list(named.values())


def plot_inspection(inspection: "Inspection") -> "Figure":
    """Draws an image under every group element with the feature maps there, and how they move with its colours.

    Of a group network, beside it the same of the moved image: a frame of one colour, and its number, is around the same
    map on both sides. A feature map keeps its colour scale from row to row, so rows can be compared. Below, the
    equivariance error of each layer, where layers differ in it by more than rounding.

    Args:
        inspection: what :func:`inspect_model` gave.

    Returns:
        The figure.
    """
    sides = [(inspection.images, inspection.maps, tuple(Match(place, 0.0) for place in range(len(inspection.maps))))]
    headings = ["the image as it is" if inspection.after is not None else ""]
    if inspection.after is not None and inspection.after_images is not None:
        sides.append((inspection.after_images, inspection.after, inspection.matches))
        headings.append(f"the image moved by {inspection.move}")
    elements, channels = inspection.maps.shape[:2]
    above, below = 1.15 * elements + 0.9, 3.4 if inspection.has_story else 0.0
    figure = new_figure(max(8.0, len(sides) * 1.15 * (channels + 1) + 2.2), above + below)
    halves: Any = figure.subfigures(2, 1, height_ratios=(above, below)) if below else [figure.subfigures(1, 1)]
    halves[0].suptitle(inspection.title)
    shown: Any = halves[0].subfigures(1, len(sides), squeeze=False, width_ratios=(1.1, 1)[: len(sides)])[0]
    scales = [
        (min(float(side[1][:, place].min()) for side in sides), max(float(side[1][:, place].max()) for side in sides))
        for place in range(channels)
    ]
    for number, (part, heading, side) in enumerate(zip(shown, headings, sides, strict=True)):
        part.suptitle(heading, fontsize="medium")
        _draw_rows(part, inspection, side, scales, framed=len(sides) > 1, named=number == 0)
    if below:
        _draw_errors(halves[1].subplots(), inspection)
    return figure


def _draw_rows(
    part: Any,
    inspection: "Inspection",
    side: "tuple[Tensor, Tensor, Sequence[Match]]",
    scales: Sequence[tuple[float, float]],
    framed: bool,
    named: bool,
) -> None:
    """A row for each element: its image and maps, in the frame of the row that they are like."""
    images, maps, matches = side
    grid = part.subplots(len(maps), len(scales) + 1, squeeze=False)
    for row, match in enumerate(matches):
        picture = images[row] if images.shape[1] == 3 else images[row].mean(0).expand(3, -1, -1)  # grey, of others
        grid[row, 0].imshow(picture.permute(1, 2, 0).clamp(0, 1).numpy())
        element = inspection.elements[row].replace(", ", "\n") if named else ""
        if not named and not match.same:
            element = f"{min(match.distance, 9.99):.0%} off"
        grid[row, 0].set_ylabel(element, rotation=0, ha="right", va="center")
        for column, (low, high) in enumerate(scales, start=1):
            grid[row, column].imshow(maps[row, column - 1].numpy(), cmap="viridis", vmin=low, vmax=high)
        color = FRAMES[match.row % len(FRAMES)]
        for axes in grid[row] if framed else ():
            for spine in axes.spines.values():
                spine.set(edgecolor=color, linewidth=3, linestyle="-" if match.same else (0, (1, 1)))
        if framed:
            box = {"facecolor": color, "edgecolor": "none", "boxstyle": "round,pad=0.2"}
            grid[row, 0].text(
                0.04, 0.96, str(match.row + 1), color="white", weight="bold", fontsize="small", va="top",
                transform=grid[row, 0].transAxes, bbox=box,
            )  # fmt: skip
    for column, axes in enumerate(grid[0]):
        axes.set_title("image" if column == 0 else f"channel {inspection.channels[column - 1]}", fontsize="small")
    for axes in grid.flat:
        axes.set(xticks=[], yticks=[])


def _draw_errors(chart: "Axes", inspection: "Inspection") -> None:
    """A bar for each layer, on a logarithmic axis; what is exactly 0 stands at its foot."""
    names = list(inspection.errors)
    errors = [inspection.largest_error(name) for name in names]
    values = [max(error, _LEAST_ERROR) for error in errors]
    chart.bar(range(len(names)), values, color=[FRAMES[4] if name == "output" else FRAMES[0] for name in names])
    for place, error in enumerate(errors):
        if len(names) <= _MOST_LABELS or names[place] == "output":
            text = f"{error:.0e}" if error else "0"
            at = (place, max(error, _LEAST_ERROR))
            chart.annotate(text, at, (0, 2), textcoords="offset points", ha="center", fontsize=5, rotation=90)
    labelled = sorted({*range(0, len(names) - 1, math.ceil(len(names) / _MOST_LABELS)), len(names) - 1})
    chart.set_xticks(labelled, [names[place] for place in labelled], fontsize=7, rotation=90)
    chart.set(yscale="log", ylim=(_LEAST_ERROR, max(1.0, 30 * max(values))), xlim=(-1, len(names)))
    chart.set_title("relative equivariance error of each layer, largest over the group elements", fontsize="medium")
    chart.grid(axis="y", alpha=0.3)


def plot_canonical(curves: "Sequence[CanonicalCurve]", title: str = "") -> "Figure":
    """Draws how far the move that a canonicaliser finds is from what it should be, a panel for each direction.

    A line for each image; dashed, what else of the same unit it takes the move for. The range that it was trained for
    is shaded.

    Args:
        curves: what :func:`canonical_curves` gave.
        title: the title.

    Returns:
        The figure.
    """
    figure = new_figure(max(5.0, 4.2 * len(curves)), 3.6)
    for axes, curve in zip(figure.subplots(1, len(curves), squeeze=False)[0], curves, strict=True):
        factor = curve.factor
        for place, other in enumerate(curve.factors):
            if other.unit == factor.unit:
                style = "-" if place == curve.along else "--"
                errors = curve.errors[..., place].numpy()  # older matplotlib takes no tensors of two dimensions
                lines = axes.plot(curve.amounts, errors, style, color=FRAMES[place % len(FRAMES)], linewidth=1.2)
                lines[0].set_label(other.quantity)
        if not factor.closes:
            axes.axvspan(-curve.reach, curve.reach, color="0.92", zorder=0)
        unit = f" in {factor.unit}" if factor.unit else ""
        axes.set(xlabel=f"{factor.quantity} shift{unit}", ylabel=f"found, less what it should be{unit}")
        axes.grid(alpha=0.3)
        axes.legend(loc="best", fontsize="small")
    figure.suptitle(title)
    return figure


#: Of a network on several sets.
_LINES = ("-", "--", ":", "-.", (0, (6, 1)), (0, (1, 3)))
#: Where the axis of errors begins, below the rounding of float32.
_LEAST_ERROR = 1e-9
_MOST_LABELS = 40
