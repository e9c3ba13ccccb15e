"""Plots of what a trained network does: curves over a colour shift, and a look inside. Each is returned, not shown."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from equicolor._tools.pictures import new_figure
from equicolor.groups import factor_kind

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from equicolor.trained._canonical import CanonicalCurve
    from equicolor.trained._evaluate import Quantity
    from equicolor.trained._inspect import Inspection


def plot_curve(quantity: "Quantity", errors: Mapping[float, float], title: str = "", order: int = 0) -> "Figure":
    """The error as a function of a colour shift.

    Args:
        quantity: what is shifted, by the prefix of its factor.
        errors: shift → error, in [0, 1].
        title: the network and the data.
        order: of the network's group of such shifts, if they go around a circle; its elements, where the error must
            repeat, are marked.
    """
    figure = new_figure(7, 3.6)
    axes: Axes = figure.subplots()
    axes.plot(list(errors), [100 * error for error in errors.values()], marker="o", markersize=3)
    kind = factor_kind(quantity)
    if kind.period is not None:
        axes.set_xticks([kind.period * eighth / 8 for eighth in range(9)])
        for element in range(order + 1 if order > 1 else 0):
            label = f"elements of {quantity}{order}" if element == 0 else None
            axes.axvline(element * kind.period / order, color="0.6", linestyle=":", linewidth=1, label=label)
        if order > 1:
            axes.legend(loc="best", fontsize="small")
    unit = f" in {kind.unit}" if kind.unit else ""
    axes.set(xlabel=f"{kind.quantity} shift{unit}", ylabel="error in %", title=title)
    axes.set_ylim(0, max(1.0, 110 * max(errors.values())))
    axes.grid(alpha=0.3)
    return figure


def plot_inspection(inspection: "Inspection") -> "Figure":
    """The image under every group element with the feature maps there, and the equivariance error of each layer.

    A feature map keeps its colour scale from row to row, so rows can be compared.
    """
    maps, images = inspection.maps, inspection.images
    elements, channels = maps.shape[:2]
    names = list(inspection.errors)
    width = 1.15 * (channels + 1) + 1.6
    above, below = 1.15 * elements + 0.6, 3.4
    figure = new_figure(max(8.0, width), above + below)
    halves: Any = figure.subfigures(2, 1, height_ratios=(above, below))
    top, bottom = halves
    grid = top.subplots(elements, channels + 1, squeeze=False)
    for row in range(elements):
        colours = images[row] if images.shape[1] == 3 else images[row].mean(0).expand(3, -1, -1)  # grey, of others
        grid[row, 0].imshow(colours.permute(1, 2, 0).numpy())
        grid[row, 0].set_ylabel(inspection.elements[row].replace(", ", "\n"), rotation=0, ha="right", va="center")
        for column in range(channels):
            low, high = (float(bound) for bound in maps[:, column].aminmax())
            grid[row, column + 1].imshow(maps[row, column].numpy(), cmap="viridis", vmin=low, vmax=high)
    for column, axes in enumerate(grid[0]):
        axes.set_title("image" if column == 0 else f"channel {inspection.channels[column - 1]}", fontsize="small")
    for axes in grid.flat:
        axes.set(xticks=[], yticks=[])
    top.suptitle(inspection.title)

    chart: Axes = bottom.subplots()
    values = [max(inspection.largest_error(name), _LEAST_ERROR) for name in names]
    chart.bar(range(len(names)), values, color=["C1" if name == "output" else "C0" for name in names])
    labelled = sorted({*range(0, len(names) - 1, math.ceil(len(names) / _MOST_LABELS)), len(names) - 1})
    chart.set_xticks(labelled, [names[place] for place in labelled], fontsize=7, rotation=90)
    chart.set(yscale="log", ylim=(_LEAST_ERROR, max(1.0, 2 * max(values))), xlim=(-1, len(names)))
    chart.set_title("relative equivariance error of each layer, largest over the group elements", fontsize="medium")
    chart.grid(axis="y", alpha=0.3)
    return figure


def plot_canonical(curves: "Sequence[CanonicalCurve]", title: str = "") -> "Figure":
    """A panel for each direction: how far the move that a canonicaliser finds is from what it should be.

    A line for each image; dashed, what else of the same unit it takes the move for. The range that it was trained for
    is shaded.
    """
    figure = new_figure(max(5.0, 4.2 * len(curves)), 3.6)
    for axes, curve in zip(figure.subplots(1, len(curves), squeeze=False)[0], curves, strict=True):
        factor = curve.factor
        for place, other in enumerate(curve.factors):
            if other.unit == factor.unit:
                style = "-" if place == curve.along else "--"
                errors = curve.errors[..., place].numpy()  # older matplotlib takes no tensors of two dimensions
                lines = axes.plot(curve.amounts, errors, style, color=f"C{place}", linewidth=1.2)
                lines[0].set_label(other.quantity)
        if not factor.closes:
            axes.axvspan(-curve.reach, curve.reach, color="0.92", zorder=0)
        unit = f" in {factor.unit}" if factor.unit else ""
        axes.set(xlabel=f"{factor.quantity} shift{unit}", ylabel=f"found, less what it should be{unit}")
        axes.grid(alpha=0.3)
        axes.legend(loc="best", fontsize="small")
    figure.suptitle(title)
    return figure


#: Where the axis of errors begins, below the rounding of float32.
_LEAST_ERROR = 1e-9
_MOST_LABELS = 40
