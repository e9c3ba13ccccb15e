"""Images from files, and what a network says about them. A file that cannot be read is reported, and the rest go on."""

import glob
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from equicolor._tools.images import Fit
from equicolor.data import IMAGE_SUFFIXES, CorruptImageError, Decoding, ImageSet, decode
from equicolor.deploy import optimize_for_inference
from equicolor.trained._logits import class_probabilities
from equicolor.trained._prepared import prepared

#: Is told of each file that cannot be used: its name, and why.
OnBad: TypeAlias = Callable[[str, str], None]


@dataclass(frozen=True)
class Prediction:
    """What a network says about one file.

    Attributes:
        path: its name.
        label: the likeliest class, and its ``probability``.
        probabilities: of all classes, ``(K,)``, in the order of their names.
    """

    path: str
    label: str
    probability: float
    probabilities: Tensor = field(repr=False, compare=False)


def find_images(names: Sequence[str], on_bad: OnBad) -> list[Path]:
    """The image files that ``names`` stand for: files, folders (with all below them) and globs, each file once.

    The order is that of the names, and within a folder or glob that of the alphabet.

    Args:
        names: ``**`` in a glob stands for folders of any depth.
        on_bad: is told of names that stand for nothing.
    """
    found: dict[Path, None] = {}
    for name in names:
        path = Path(name).expanduser()
        if path.is_dir():
            paths = sorted(p for p in path.rglob("*") if p.suffix.lower() in IMAGE_SUFFIXES and p.is_file())
            problem = "the folder holds no images"
        elif path.exists() or not glob.has_magic(name):
            paths, problem = [path] if path.exists() else [], "there is no such file or folder"
        else:
            matches = sorted(map(Path, glob.glob(os.path.expanduser(name), recursive=True)))
            paths, problem = [p for p in matches if p.is_file()], "no file matches"
        if not paths:
            on_bad(name, problem)
        found |= dict.fromkeys(paths)
    return list(found)


def read_images(
    paths: Sequence[Path], image_size: int, on_bad: OnBad, fit: Fit = "crop"
) -> Iterator[tuple[Path, NDArray[np.uint8]]]:
    """Each file that can be read, fitted into RGB ``(image_size, image_size, 3)``, one after the other."""
    for path in paths:
        image = _read(path, Decoding(image_size, fit), on_bad)
        if image is not None:
            yield path, image


def _read(path: Path, how: Decoding, on_bad: OnBad) -> NDArray[np.uint8] | None:
    try:
        return decode(path, how, lambda: str(path))
    except CorruptImageError as error:
        on_bad(str(path), f"cannot be read as an image ({error.__cause__ or error})")
        return None


def file_batches(
    paths: Sequence[Path], image_size: int, batch_size: int, on_bad: OnBad, fit: Fit = "crop"
) -> Iterator[tuple[list[str], Tensor]]:
    """The same in batches with their names, uint8 ``(B, 3, image_size, image_size)``; one is in memory at a time."""
    if batch_size < 1:
        raise ValueError(f"batch_size must be positive, got {batch_size}")
    images = read_images(paths, image_size, on_bad, fit)
    while batch := list(islice(images, batch_size)):
        stacked = torch.from_numpy(np.stack([image for _, image in batch]))
        yield [str(path) for path, _ in batch], stacked.permute(0, 3, 1, 2)


def set_batches(images: ImageSet, batch_size: int) -> Iterator[tuple[list[str], Tensor]]:
    """The images of a data set in batches, each named by its set, split and place in there."""
    names = [f"{images.name}/{images.split}/{place}" for place in images.original_rows.tolist()]
    for number, batch in enumerate(images.batches(batch_size)):
        yield names[number * batch_size :][:batch_size], batch.images


def predict(
    model: nn.Module, batches: Iterable[tuple[list[str], Tensor]], classes: Sequence[str]
) -> Iterator[Prediction]:
    """The likeliest class of each image and the probabilities of all, in their order, as soon as they are known.

    Args:
        model: a classifier, from RGB images to logits ``(B, classes)``. One that gives a single logit tells two classes
            apart: the logit speaks for the second.
        batches: names and images, from :func:`file_batches` or :func:`set_batches`; they are prepared as
            ``model.preparation`` says.
        classes: the names of the logits; for a single one, both classes' names or the second's: ``["x"]`` stands for
            ``["not x", "x"]``.
    """
    classes = class_names(classes)
    ready = optimize_for_inference(model)
    device = next(ready.parameters()).device
    for names, images in batches:
        with torch.inference_mode():
            logits = ready(prepared(model, images).to(device))
            if logits.dim() != 2:
                raise ValueError("predict takes a classifier: this network gives a map of logits for each image")
            told_apart = class_probabilities(logits)
            if told_apart.shape[1] != len(classes):
                raise ValueError(f"got {len(classes)} names for the {told_apart.shape[1]} classes of the network")
            told_apart = told_apart.cpu()
            highest, predicted = told_apart.max(1)
        for name, label, probability, row in zip(names, predicted.tolist(), highest.tolist(), told_apart, strict=True):
            yield Prediction(name, classes[label], probability, row)


def class_names(classes: Sequence[str]) -> tuple[str, ...]:
    """A name for each class: of a single logit, the name of the class that it speaks for stands for both.

    >>> class_names(["cat"])
    ('not cat', 'cat')
    """
    return (f"not {classes[0]}", classes[0]) if len(classes) == 1 else tuple(classes)
