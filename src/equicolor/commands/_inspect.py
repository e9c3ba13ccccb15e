"""``equicolor inspect``."""

from pathlib import Path
from typing import TYPE_CHECKING

from equicolor._tools.files import write_csv, write_picture
from equicolor._tools.pages import Drawing
from equicolor._tools.tables import Table, show_table
from equicolor._tools.words import in_unit
from equicolor.commands import _console as console
from equicolor.commands._again import command_line
from equicolor.commands._chosen import chosen_images
from equicolor.commands._page import write_page
from equicolor.commands._registry import register_command
from equicolor.commands._shared import BadFiles, DataSet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from equicolor.trained import CanonicalCurve, Inspection


@register_command(place=50)
def inspect(
    model: str,
    image: str | None = None,
    *,
    data: str | None = None,
    root: Path | None = None,
    split: str = "test",
    index: int = 0,
    shift: str | None = None,
    layer: str | None = None,
    channels: int = 5,
    group: str | None = None,
    image_size: int | None = None,
    out: Path = Path("inspection.png"),
    device: str = "auto",
    download: bool = False,
) -> "Inspection":
    """Draws the feature maps of an image under every group element, and how they move with its colours.

    Of a group network, beside them are those of the same image with its colours moved: a frame of one colour is around
    the same map on both sides. Below, the equivariance error of every layer, where layers differ in it. Of a
    canonicalised network also how well its canonicaliser follows moves of the image, in a second picture.

    Args:
        model: the folder of a run or of a saved model, or a name on the Hugging Face hub.
        image: a file.
        data: a data set instead of a file, see 'equicolor data'.
        root: the folder that holds the data; by default the environment variable EQUICOLOR_DATA.
        split: which part of the data set.
        index: which image of it.
        shift: a colour shift of the data set's image, such as hue:90.
        layer: whose maps to draw, such as layers.0; by default what the first convolution gives, rectified.
        channels: how many of its channels: those that differ most between the group elements.
        group: which colour moves; by default the network's own, and hue4 for a conventional network.
        image_size: show the network an image of another size than those of its training.
        out: the picture; beside it go a page and the errors of all layers as a CSV file, those of a canonicaliser into
            *-canonicaliser.png and *-canonicaliser.csv.
        device: cpu, cuda, …; auto takes a GPU where there is one.
        download: fetch the data where it is missing.

    Example:
        equicolor inspect runs/digits --data digits --shift hue:200
    """
    from equicolor.trained import inspect_model, open_model, plot_inspection

    opened = open_model(model, device, image_size)
    bad = BadFiles(quiet=True)
    chosen = DataSet(data, root, split, shift, None, download, only=index) if data else None
    files = [] if image is None else [image]
    _, pictures = next(chosen_images(files, chosen, opened, bad).batches(1), (None, None))
    if pictures is None:
        raise ValueError("; ".join(bad.messages))
    seen = inspect_model(opened.model, pictures[0].to(opened.device), layer, channels, group)
    figure = plot_inspection(seen)
    write_picture(out, figure)
    rows = [(name, *(f"{value:.3e}" for value in errors)) for name, errors in seen.errors.items()]
    written = write_csv(out.with_suffix(".csv"), ("layer", *seen.elements), rows)
    worst = max(seen.errors, key=seen.largest_error)
    shown = (
        {"output": "output", worst: f"worst layer: {worst}"} if worst != "output" else {"output": "output, the worst"}
    )
    lines = [(title, *(f"{value:.1e}" for value in seen.errors[name])) for name, title in shown.items()]
    table = Table(f"{opened.describe()}: relative equivariance error", ("", *seen.elements), lines)
    show_table(table)
    print("\n".join(seen.said()))
    drawing = Drawing(
        figure,
        f"Feature maps of {seen.title}: a row for each of {len(seen.elements)} elements. {' '.join(seen.said())}",
        "One row for each element of the group; channels are those that differ most between them."
        + (" Frames of one colour, and their number, are around the same maps." if seen.matches else ""),
    )
    asked = {"data": data, "root": root, "split": split if data else None, "index": index, "shift": shift}
    asked |= {"layer": layer, "group": group, "image_size": image_size}
    command = command_line("inspect", model, *files, **asked)
    page = write_page(out.with_suffix(".html"), f"Inside of {seen.title}", seen.said(), [table], [drawing], command)
    console.note(f"Picture: {out}\nPage: {page}\nErrors of all {len(rows)} layers: {written}")
    if seen.curves:
        _report_curves(seen.curves, out.with_name(f"{out.stem}-canonicaliser{out.suffix}"), opened.describe())
    return seen


def _report_curves(curves: "Sequence[CanonicalCurve]", out: Path, title: str) -> None:
    """The curves of canonicalisers as a picture, a file, and a table of the largest errors."""
    from equicolor.trained import plot_canonical

    write_picture(out, plot_canonical(curves, title))
    rows = [
        (curve.factor.quantity, f"{float(amount):g}", other.quantity, f"{float(error):.6g}")
        for curve in curves
        for amount, errors in zip(curve.amounts, curve.errors, strict=True)
        for other, error in zip(curve.factors, errors[0], strict=True)
    ]
    written = write_csv(out.with_suffix(".csv"), ("moved", "amount", "found", "error"), rows)
    lines = [
        (
            curve.factor.quantity,
            "all around" if curve.factor.closes else f"±{curve.reach:g}",
            in_unit(f"{curve.largest():.2g}", curve.factor.unit),
            "" if curve.factor.closes else in_unit(f"{curve.largest(beyond=True):.2g}", curve.factor.unit),
        )
        for curve in curves
    ]
    columns = ("", "trained for", "largest error within", "and up to 1.5 times as far")
    show_table(Table("The canonicaliser: how far the move it finds is from the one made", columns, lines))
    console.note(f"Curves of the canonicaliser: {out} and {written}")
