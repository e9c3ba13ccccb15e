"""``equicolor export``."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from equicolor._tools.tables import Table, show_table
from equicolor._tools.words import spoken_size
from equicolor.commands import _console as console
from equicolor.commands._chosen import Chosen, chosen_images
from equicolor.commands._registry import register_command
from equicolor.commands._shared import BadFiles, DataSet, say_what_is_unknown

if TYPE_CHECKING:
    from torch import Tensor

    from equicolor.deploy import Exported, Quantized
    from equicolor.trained import Opened

#: Images of a batch whose speed is measured, and rounds of measuring.
_BATCH, _ROUNDS = 32, 9


@register_command(place=55)
def export(
    model: str,
    *,
    to: Literal["onnx", "torch-export", "safetensors"] = "onnx",
    quantize: Literal["int8"] | None = None,
    with_preprocessing: bool = False,
    out: Path | None = None,
    images: Sequence[str] = (),
    data: str | None = None,
    root: Path | None = None,
    split: str = "train",
    shift: str | None = None,
    limit: int = 512,
    image_size: int | None = None,
    tolerance: float | None = None,
    download: bool = False,
) -> "Exported":
    """Writes a trained network as one file for other programs, and checks that the file computes the same.

    The file holds the card of the network too: its classes, its group, and how images are prepared. It is compared with
    the network after it was written, on images of yours (--data or --images) or on some that are made up; where it
    differs by more than rounding explains, there is an error and no file.

    --quantize int8 computes convolutions with whole numbers of 8 bits, by onnxruntime. It takes images like those to
    come, of which every other is calibrated on, and the rest are measured on: size, speed and error, before and after.

    Args:
        model: the folder of a run or of a saved model, or a name on the Hugging Face hub.
        to: onnx; torch-export, a program that PyTorch runs without equicolor; or safetensors, the weights alone.
        quantize: int8, of onnx.
        with_preprocessing: put the preparation of images into the graph: uint8 images of any size in, probabilities
            out.
        out: the file; by default called after the network, in the working folder.
        images: files, folders (with all below them) and globs to compare and to calibrate on.
        data: a data set instead of files, see 'equicolor data'.
        root: the folder that holds the data; by default the environment variable EQUICOLOR_DATA.
        split: which part of the data set.
        shift: a colour shift of the data set's images, such as hue:uniform.
        limit: take at most so many images.
        image_size: show the network images of another size than that of its training.
        tolerance: the largest difference that is allowed, of logits up to 1 or of probabilities, 0.001 by default (0.02
            with preprocessing); with --quantize the mean one, 0.05.
        download: fetch the data where it is missing.

    Example:
        equicolor export runs/digits --to onnx --with-preprocessing --out digits.onnx
    """
    from equicolor.deploy import SUFFIXES, export_network, export_quantized
    from equicolor.trained import open_model

    if quantize and to != "onnx":
        raise ValueError(f"--quantize is for --to onnx, which onnxruntime computes, not for {to}")
    if quantize and not (images or data):
        raise ValueError("--quantize takes images like those to come: --data NAME, or --images FOLDER")
    if limit < 1:
        raise ValueError(f"--limit must be positive, got {limit}")
    opened = open_model(model, "cpu", image_size)
    say_what_is_unknown(opened)
    out = out or Path(opened.card.name + (f"-{quantize}" if quantize else "") + SUFFIXES[to])
    if out.suffix.lower() != SUFFIXES[to]:
        raise ValueError(f"--to {to} writes files that end in {SUFFIXES[to]}, got --out {out}")
    chosen, given = None, None
    if images or data:
        chosen = _chosen(images, DataSet(data, root, split, shift, limit, download) if data else None, opened, limit)
        given = _gathered(chosen)
    if quantize:
        assert chosen is not None
        assert given is not None
        labels = _labels(chosen, opened)  # before the work: what cannot be is said at once
        console.note(f"Calibrating on {len(given[0::2]):,} images, measuring on {len(given[1::2]):,} others.")
        with console.progress("calibrating and comparing", None, unit="steps"):
            both = export_quantized(opened.model, out, given, with_preparation=with_preprocessing, tolerance=tolerance)
        _show(both, labels)
        done = both.after
    else:
        options = {"with_preparation": with_preprocessing, "images": given, "tolerance": tolerance}
        with console.progress("exporting and comparing", None, unit="steps"):
            done = export_network(opened.model, out, to, **options)  # type: ignore[arg-type]
    result, what = done.agreement, "probabilities" if with_preprocessing or quantize else "logits"
    whose = f"{result.images:,} images" + ("" if given is not None else ", made up")
    print(
        f"{opened.describe()}: {done.path} ({spoken_size(done.bytes)})\n"
        f"Largest difference from the network: {result.largest:.2g}, of {what} up to {result.scale:.3g}, on {whose}"
    )
    return done


def _chosen(images: Sequence[str], data: DataSet | None, opened: "Opened", limit: int) -> Chosen:
    """The images that were asked for, at most ``limit`` of them; of files, spread over all of them."""
    from dataclasses import replace

    bad = BadFiles()
    chosen = chosen_images(images, data, opened, bad)
    if not len(chosen):
        bad.report(0)
    step = max(1, len(chosen.paths) // limit)
    return replace(chosen, paths=chosen.paths[::step][:limit])


def _gathered(chosen: Chosen) -> "Tensor":
    """All of them, uint8, fitted as the network is shown them."""
    import torch

    batches = []
    with console.progress("reading images", len(chosen)) as advance:
        for _, batch in chosen.batches(_BATCH):
            batches.append(batch if batch.dtype == torch.uint8 else (255 * batch).round().to(torch.uint8))
            advance(len(batch))
    chosen.bad.report(sum(map(len, batches)))
    return torch.cat(batches)


def _labels(chosen: Chosen, opened: "Opened") -> "Tensor | None":
    """What is true of the images that are measured on, where that is known."""
    if chosen.images is None:
        return None
    named = chosen.images if opened.card.classes is None else chosen.images.with_classes(opened.classes)
    return named.labels[1::2]


def _show(both: "Quantized", labels: "Tensor | None") -> None:
    """The table: what was gained, what was lost."""
    from equicolor.bench import interleaved

    counts = (1, min(_BATCH, len(both.given)))
    timings = interleaved(
        {
            (place, count): lambda run=run, count=count: run(both.given[:count])  # type: ignore[misc]
            for place, run in enumerate(both.runs)
            for count in counts
        },
        _ROUNDS,
        watch=partial(console.progress, unit="timings", still=True),
        title="timing both files",
    )
    columns = [
        "",
        "size",
        *(f"ms/image, batch of {count}" for count in counts),
        "largest difference",
        "mean",
        "same class",
    ]
    rows = []
    for place, (name, file) in enumerate([("float32", both.before), ("int8", both.after)]):
        result = file.agreement
        speed = [f"{1e3 * timings.median((place, count)) / count:.3g}" for count in counts]
        row = [
            name,
            spoken_size(file.bytes),
            *speed,
            f"{result.largest:.2g}",
            f"{result.mean:.2g}",
            f"{result.same:.2%}",
        ]
        if labels is not None:
            row.append(f"{float((both.probabilities[place].argmax(1) != labels).double().mean()):.2%}")
        rows.append(row)
    note = f"on {both.after.agreement.images:,} images that were not calibrated on; differences are of probabilities"
    show_table(Table(f"Before and after, {note}", [*columns, *(["error"] if labels is not None else [])], rows))
