"""``equicolor predict``."""

import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from equicolor._tools.files import digest
from equicolor.commands import _console as console
from equicolor.commands._chosen import Chosen, chosen_images
from equicolor.commands._engine import check_engine, pool
from equicolor.commands._output import is_complete, write_output
from equicolor.commands._registry import register_command
from equicolor.commands._rows import Layout
from equicolor.commands._shared import BadFiles, DataSet, say_what_is_unknown

if TYPE_CHECKING:
    from equicolor.trained import Actors, Opened, Prediction


@dataclass(frozen=True)
class Predicted:
    """What ``predict`` did; the predictions themselves are in the file, and not kept in memory.

    Attributes:
        count: rows that were written, with those that a stopped command had written before.
        new: those of this command.
        bad: files that could not be read.
        seconds: from the first image to the last row.
        out: the file, if there is one.
    """

    count: int
    new: int
    bad: int
    seconds: float
    out: Path | None


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
    format_: Literal["csv", "jsonl", "parquet"] | None = None,
    out: Path | None = None,
    resume: bool = False,
    batch_size: int = 64,
    workers: int | None = None,
    backend: Literal["torch", "onnx"] = "torch",
    compile_: bool = False,
    engine: Literal["local", "ray"] = "local",
    actors: str | None = None,
    device: str = "auto",
    download: bool = False,
) -> Predicted:
    """Says of images which class they show, with which probability, and the probabilities of all other classes.

    Images are prepared as in the training of the network: its card says how.

    Files that cannot be read are reported and counted on stderr and do not stop the rest; only if none can be read is
    the exit code not 0. With --out, rows are written as they come, into FILE.partial, which is called FILE when all are
    there: a command that was stopped goes on with --resume.

    Args:
        model: the folder of a run or of a saved model, a name on the Hugging Face hub, or an ONNX file.
        images: files, folders (with all below them) and globs, here or at an address such as s3://bucket/photos;
            Parquet files stand for the images in their rows.
        data: a data set instead of files, see 'equicolor data'.
        root: the folder that holds the data; by default the environment variable EQUICOLOR_DATA.
        split: which part of the data set.
        shift: a colour shift of the data set's images, such as hue:90.
        limit: take a random sample of so many images of the data set.
        image_size: show the network images of another size than that of its training.
        format_: csv, jsonl (one JSON object for each line) or parquet; by default as the name of the file ends, or csv.
        out: the file to write to, by default the terminal.
        resume: go on with a file that was stopped; begin where there is none.
        batch_size: how many images at once.
        workers: threads that decode files, 0 for none; by default as many as there are cores, and at most 8. With
            --engine ray those of each actor, which has as many cores; by default 1, and 4 beside a GPU.
        backend: what computes the network, torch or onnx (onnxruntime).
        compile_: compile the network first (torch only): worth it for very many images.
        engine: local, this process; or ray, the cluster that RAY_ADDRESS names, or else one of this machine.
        actors: with --engine ray, how many processes hold the network: 4, or 1:16 for a pool that grows and shrinks;
            by default from 1 to as many as there is room for.
        device: cpu, cuda, …; auto takes a GPU where there is one.
        download: fetch the data where it is missing.

    Example:
        equicolor predict runs/digits --data digits --shift hue:uniform --limit 5
        equicolor predict runs/digits --data digits --out said.parquet --resume
    """
    from equicolor.trained import class_names

    check_engine(engine, actors, compile_)
    if resume and out is not None and is_complete(out):
        console.note(f"{out} is complete, and left as it is: delete it to begin anew.")
        return Predicted(0, 0, 0, 0.0, out)
    opened = _opened(model, device, image_size, backend, compile_)
    say_what_is_unknown(opened)
    bad = BadFiles()
    chosen = DataSet(data, root, split, shift, limit, download) if data else None
    names = class_names(opened.classes)
    layout = Layout.of(format_, out, names)
    file = Path(model).expanduser()
    about = {
        "model": digest(file) if file.is_file() else opened.card.sha256,
        "preparation": None if opened.preparation is None else asdict(opened.preparation),
        "backend": backend,
        "compile": compile_,
        "data": [data, str(root), split, shift, limit] if data else None,
    }
    all_images = chosen_images(images, chosen, opened, bad)
    with write_output(out, layout, batch_size, about, resume) as output:
        before, start = output.count, time.monotonic()
        left = all_images.without(output.is_there) if before else all_images
        if before:
            console.note(f"{before:,} rows are there already, {len(left):,} images are left.")
        if engine == "ray":
            said = _on_ray(model, left, image_size, backend, names, pool(actors, workers, device), batch_size)
        else:
            said = _here(opened, left, names, batch_size, workers, compile_)
        with console.progress("predicting", len(left), shown=out is not None or not sys.stdout.isatty()) as advance:
            for each in said:
                output.add(each.path, each.label, each.probability, each.probabilities.tolist())
                if (output.count - before) % batch_size == 0:
                    advance(batch_size)
        bad.report(output.count)
    done = Predicted(output.count, output.count - before, len(bad.messages), time.monotonic() - start, out)
    if out:
        console.note(f"{done.count:,} predictions: {out} ({console.per_second(done.new, done.seconds)})")
    return done


def _opened(
    model: str, device: str, image_size: int | None, backend: Literal["torch", "onnx"], compiled: bool
) -> "Opened":
    """The network, and what computes it."""
    from equicolor.trained import is_onnx, open_network

    if compiled and (backend == "onnx" or is_onnx(model)):
        raise ValueError("--compile is for --backend torch: onnxruntime optimizes the graph by itself")
    return open_network(model, device, image_size, backend)


def _here(
    opened: "Opened", images: Chosen, names: Sequence[str], batch_size: int, workers: int | None, compiled: bool
) -> "Iterator[Prediction]":
    """What this process says."""
    from equicolor.trained import default_workers, predict

    batches = images.batches(batch_size, default_workers() if workers is None else workers)
    return predict(opened.model, batches, names, compiled)


def _on_ray(
    model: str,
    images: Chosen,
    image_size: int | None,
    backend: str,
    names: Sequence[str],
    actors: "Actors",
    batch_size: int,
) -> "Iterator[Prediction]":
    """What the actors of a cluster say."""
    from equicolor.trained import Packed, predict_on_ray

    packed = Packed.of(model, image_size, backend == "onnx")
    given = images.paths if images.images is None else images.images
    return predict_on_ray(packed, given, images.plan, names, actors, batch_size, images.bad)
