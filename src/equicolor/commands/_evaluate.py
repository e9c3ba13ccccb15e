"""``equicolor evaluate``."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from equicolor._tools.files import complete_file, write_csv, write_picture
from equicolor._tools.tables import Table, show_table
from equicolor.commands import _console as console
from equicolor.commands._registry import register_command
from equicolor.commands._shared import DataSet, say_what_is_unknown

if TYPE_CHECKING:
    from equicolor.trained import Evaluation, Opened

#: Larger confusion matrices are written to a file, not printed.
_LARGEST_PRINTED = 12


@register_command(place=20)
def evaluate(
    model: str,
    *,
    data: str,
    root: Path | None = None,
    split: str = "test",
    shift: str | None = None,
    curve: str | None = None,
    limit: int | None = None,
    image_size: int | None = None,
    folder: Path = Path("evaluation"),
    batch_size: int = 256,
    device: str = "auto",
    download: bool = False,
) -> "Evaluation | dict[float, Evaluation]":
    """Measures the error, the confusions and the calibration of a network on a data set.

    Images are prepared as in its training: the card of the network says how. Classes are matched by name: the set may
    have fewer than the network knows, in any order.

    With --curve, the error as a function of a colour shift of the whole set. Tables are printed, and written with the
    plots into a folder.

    Args:
        model: the folder of a run or of a saved model, or a name on the Hugging Face hub.
        data: the data set, see 'equicolor data'.
        root: the folder that holds the data; by default the environment variable EQUICOLOR_DATA.
        split: which part of it.
        shift: a colour shift of all images: hue:90, hue:uniform, sat:-0.2, temp:0.3, or several joined by commas.
        curve: hue, the error at shifts from 0° to 360°; sat or lum, from -0.5 to 0.5; temp, tint or exp, from -1 to 1;
            or any other colour move that is registered.
        limit: evaluate on a random sample of so many images.
        image_size: show the network images of another size than that of its training.
        folder: where CSV, JSON and PNG files go.
        batch_size: how many images at once.
        device: cpu, cuda, …; auto takes a GPU where there is one.
        download: fetch the data where it is missing.

    Example:
        equicolor evaluate runs/digits --data digits --shift hue:uniform
        equicolor evaluate runs/digits --data digits --curve hue --limit 100
    """
    from equicolor.trained import default_shifts, evaluate_curve, open_model
    from equicolor.trained import evaluate as evaluate_once

    shifts = [] if curve is None else default_shifts(curve)
    opened = open_model(model, device, image_size)
    say_what_is_unknown(opened)
    folder.mkdir(parents=True, exist_ok=True)  # what cannot be written should fail before it is computed
    images = DataSet(data, root, split, shift, limit, download).load(opened, opened.model.task)
    title = f"{opened.describe()}, on {data} {split}" + (f" under {images.shift}" if images.shift else "")
    stem = folder / "-".join(filter(None, (data, split, (shift or "").replace(":", "_").replace(",", "-"))))
    if curve is None:
        with console.progress("evaluating", len(images)) as advance:
            result = evaluate_once(opened.model, images, batch_size, advance)
        _show(title, result, stem)
        return result
    with console.progress(f"{curve} curve", len(images) * len(shifts)) as advance:
        results = evaluate_curve(opened.model, images, curve, shifts, batch_size, advance)
    _show_curve(title, curve, results, stem, opened)
    return results


def _show(title: str, result: "Evaluation", stem: Path) -> None:

    numbers = [
        ("error", f"{result.error:.2%}"),
        ("calibration error (ECE)", f"{result.calibration_error:.2%}"),
        ("predictions", f"{result.count:,}"),
    ]
    show_table(Table(title, ("", "value"), numbers))
    confusion = result.confusion.tolist()
    rows = [
        (name, *counts, "" if error != error else f"{error:.1%}")
        for name, counts, error in zip(result.classes, confusion, result.class_errors, strict=True)
    ]
    header = ("true \\ predicted", *result.classes, "error")
    if len(result.classes) <= _LARGEST_PRINTED:
        show_table(Table("Confusion", header, rows))
    written = write_csv(stem.with_name(f"{stem.name}-confusion.csv"), header, rows)
    summary = stem.with_name(f"{stem.name}.json")
    with complete_file(summary, "w") as file:
        json.dump({"title": title, **result.summary()}, file, indent=2)
    console.note(f"Confusion: {written}\nAll numbers: {summary}")


def _show_curve(title: str, quantity: Any, results: "dict[float, Evaluation]", stem: Path, opened: "Opened") -> None:
    from equicolor.groups import factor_kind
    from equicolor.trained import plot_curve

    unit = factor_kind(quantity).unit
    rows = [(f"{shift:g}{unit}", f"{r.error:.2%}", f"{r.calibration_error:.2%}") for shift, r in results.items()]
    show_table(Table(title, (f"{quantity} shift", "error", "ECE"), rows, left=()))
    exact = [(shift, r.error, r.calibration_error) for shift, r in results.items()]
    header = ("shift", "error", "calibration_error")
    table = write_csv(stem.with_name(f"{stem.name}-{quantity}-curve.csv"), header, exact)
    order = next((factor.order for factor in getattr(opened.group, "factors", ()) if factor.prefix == quantity), 0)
    figure = plot_curve(quantity, {shift: r.error for shift, r in results.items()}, title, order)
    plot = write_picture(table.with_suffix(".png"), figure)
    console.note(f"Table: {table}\nPlot: {plot}")
