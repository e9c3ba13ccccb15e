"""Pictures of a diagnosis: the colours of two sets, images before and after a move, errors against moves."""

from typing import TYPE_CHECKING, Any

import numpy as np
from torch import Tensor

from equicolor._tools.pages import Drawing
from equicolor._tools.palette import COLORS, FRAMES
from equicolor._tools.pictures import new_figure
from equicolor.trained.diagnosis._colors import thumbnails
from equicolor.trained.diagnosis._network import ModelDiagnosis
from equicolor.trained.diagnosis._sets import ColorDiagnosis

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Axes on which colours are seen: red against green and blue, and green against red and blue, without brightness.
_WARM, _GREEN = np.array([1.0, 0.0, -1.0]), np.array([-0.5, 1.0, -0.5])


def plot_sets(diagnosis: ColorDiagnosis) -> "Figure":
    """Draws the colours of both sets, and of the source moved onto the target; below, images of all three.

    Args:
        diagnosis: what :func:`diagnose` gave for two sets.

    Returns:
        The figure.
    """
    source, target = diagnosis.seen
    rows = [("source", source.pixels, source.shown), ("target", target.pixels, target.shown)]
    if diagnosis.best is not None:
        rows.insert(1, ("source, moved", diagnosis.carried(source.pixels), diagnosis.carried(source.shown)))
    count = len(rows)
    figure = new_figure(3.6 * count, 3.6 + 1.15 * count)
    halves: Any = figure.subfigures(2, 1, height_ratios=(3.6, 1.15 * count))
    extent = max(float(np.quantile(np.abs(_plane(pixels)), 0.995)) for _, pixels, _ in rows) or 1.0
    names = {"source": diagnosis.source, "target": diagnosis.target, "source, moved": str(diagnosis.best)}
    for axes, (title, pixels, _) in zip(halves[0].subplots(1, count, squeeze=False)[0], rows, strict=True):
        places, colours = _plane(pixels), pixels.permute(0, 2, 3, 1).reshape(-1, 3).numpy()
        axes.scatter(*places.T, c=colours, s=5, linewidths=0)
        axes.set(xlim=(-extent, extent), ylim=(-extent, extent), facecolor="0.92")
        axes.set_xlabel("blue – red")
        axes.set_ylabel("magenta – green")
        axes.set_title(f"{title}\n{names[title]}", fontsize="small")
    shown = max(len(images) for _, _, images in rows)
    grid = halves[1].subplots(count, shown, squeeze=False)
    for line, (title, _, images) in zip(grid, rows, strict=True):
        pictures = thumbnails(images)
        for place, axes in enumerate(line):
            axes.set(xticks=[], yticks=[])
            if place < len(pictures):
                axes.imshow(pictures[place].permute(1, 2, 0).numpy())
            else:
                axes.axis("off")
        line[0].set_ylabel(title.replace(", ", "\n"), rotation=0, ha="right", va="center")
    return figure


def plot_model(diagnosis: ModelDiagnosis) -> "Figure":
    """Draws the error of a network against the moves of each quantity; the range in which it holds is shaded.

    Args:
        diagnosis: what :func:`diagnose_model` gave.

    Returns:
        The figure.
    """
    columns = min(3, len(diagnosis.moves))
    lines = -(-len(diagnosis.moves) // columns)
    figure = new_figure(4 * columns, 2.8 * lines)
    panels = figure.subplots(lines, columns, squeeze=False, sharey=True).flatten()
    for axes, hold in zip(panels, diagnosis.moves, strict=False):
        errors = [100 * error for error in hold.errors.values()]
        axes.plot(list(hold.errors), errors, marker="o", markersize=3, color=FRAMES[0])
        axes.axvspan(hold.low, hold.high, color=COLORS["canonical"], alpha=0.15, linewidth=0)
        axes.axhline(100 * diagnosis.allowed, color="0.6", linestyle=":", linewidth=1)
        axes.set_xlabel(f"{hold.quantity} shift" + (f" in {hold.unit}" if hold.unit else ""))
        axes.grid(alpha=0.3)
    for axes in panels[len(diagnosis.moves) :]:
        axes.axis("off")
    for axes in panels[::columns]:
        axes.set_ylabel("error in %")
    panels[0].set_ylim(0, max(1.0, 110 * max(hold.worst for hold in diagnosis.moves)))
    return figure


def drawing_of_sets(diagnosis: ColorDiagnosis) -> Drawing:
    """:func:`plot_sets`, with what there is to see on it."""
    moved = "" if diagnosis.best is None else f", of {diagnosis.source} moved by {diagnosis.best}"
    return Drawing(
        plot_sets(diagnosis),
        f"Clouds of the colours of {diagnosis.source}{moved}, and of {diagnosis.target}, from blue to red and from "
        f"magenta to green; below, images of each. They are {diagnosis.distance:.1f} times as far apart as two samples "
        "of one set.",
        "Where the colours of both sets lie, without their brightness: each point is one. Below, a few of the images.",
    )


def drawing_of_model(diagnosis: ModelDiagnosis) -> Drawing:
    """:func:`plot_model`, with what there is to see on it."""
    said = "; ".join(f"{hold.quantity} up to {hold.worst:.1%}, holds within {hold.range}" for hold in diagnosis.moves)
    return Drawing(
        plot_model(diagnosis),
        f"Lines of the error against moves of each quantity, from {diagnosis.error:.1%} unmoved: {said}.",
        "The error as colours are moved. Shaded: the range in which it holds; dotted: what is still allowed.",
    )


def _plane(pixels: Tensor) -> Any:
    """Pixels on the plane of colours without brightness, ``(N, 2)``."""
    flat = pixels.permute(0, 2, 3, 1).reshape(-1, 3).numpy()
    return flat @ np.stack([_WARM, _GREEN], axis=1)
