"""``equicolor predict``."""

import json
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from equicolor._tools.files import complete_file, csv_line
from equicolor.commands import _console as console
from equicolor.commands._registry import register_command
from equicolor.commands._shared import BadFiles, DataSet, image_batches, say_what_is_unknown

if TYPE_CHECKING:
    from equicolor.trained import Prediction


@register_command(place=30)
def predict(
    model: str,
    images: Sequence[str] = (),
    *,
    data: str | None = None,
    root: Path | None = None,
    split: str = "test",
    shift: str | None = None,
    limit: int | None = None,
    image_size: int | None = None,
    format_: Literal["csv", "jsonl"] = "csv",
    out: Path | None = None,
    batch_size: int = 64,
    device: str = "auto",
    download: bool = False,
) -> "list[Prediction]":
    """Says of images which class they show, with which probability, and the probabilities of all other classes.

    Images are prepared as in the training of the network: its card says how.

    Files that cannot be read are reported and counted on stderr and do not stop the rest; only if none can be read is
    the exit code not 0.

    Args:
        model: the folder of a run or of a saved model, or a name on the Hugging Face hub.
        images: files, folders (with all below them) and globs.
        data: a data set instead of files, see 'equicolor data'.
        root: the folder that holds the data; by default the environment variable EQUICOLOR_DATA.
        split: which part of the data set.
        shift: a colour shift of the data set's images, such as hue:90.
        limit: take a random sample of so many images of the data set.
        image_size: show the network images of another size than that of its training.
        format_: csv, or one JSON object for each line.
        out: the file to write to, by default the terminal.
        batch_size: how many images at once.
        device: cpu, cuda, …; auto takes a GPU where there is one.
        download: fetch the data where it is missing.

    Example:
        equicolor predict runs/digits --data digits --shift hue:uniform --limit 5
    """
    from equicolor.trained import class_names, open_model
    from equicolor.trained import predict as predictions

    opened = open_model(model, device, image_size)
    say_what_is_unknown(opened)
    bad = BadFiles()
    chosen = DataSet(data, root, split, shift, limit, download) if data else None
    batches = image_batches(images, chosen, opened, batch_size, bad)
    results, names = [], class_names(opened.classes)
    with ExitStack() as stack:
        target = stack.enter_context(complete_file(out, "w")) if out else sys.stdout
        if format_ == "csv":
            target.write(csv_line(["path", "class", "probability", *(f"p({name})" for name in names)]))
        for result in predictions(opened.model, batches, names):
            said = (result.path, result.label, _rounded(result.probability))
            each = map(_rounded, result.probabilities.tolist())
            if format_ == "csv":
                target.write(csv_line([*said, *each]))
            else:
                row = dict(zip(("path", "class", "probability"), said, strict=True))
                row["probabilities"] = dict(zip(names, each, strict=True))
                target.write(json.dumps(row, ensure_ascii=False) + "\n")
            results.append(result)
        bad.report(len(results))
    if out:
        console.note(f"{len(results):,} predictions: {out}")
    return results


def _rounded(probability: float) -> float:
    """Six digits, however small it is."""
    return float(f"{probability:.6g}")
