"""``load``: a data set by name, found on disk, embedded or on the hub, cut into splits and put under a shift."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Literal, TypeAlias

import torch
from torch import Tensor

from equicolor._tools.images import Decoding, Fit, OnError
from equicolor.data._description import Description, Raw, Request, Split
from equicolor.data._download import fetch
from equicolor.data._errors import BY_CALL, DataNotFoundError
from equicolor.data._hub import from_hub, from_parquet, parquet_files
from equicolor.data._imageset import ImageSet
from equicolor.data._random import permutation
from equicolor.data._registry import DATASETS
from equicolor.data._sources import Encoded, Held, Resized
from equicolor.data.sets.folder import split_folders, usual_size
from equicolor.data.shift import Shift
from equicolor.models import Task

Where: TypeAlias = Literal["auto", "disk", "hub"]

#: Sets of up to this many bytes are held in memory unless told otherwise; larger ones stream.
MEMORY_LIMIT = 2 << 30


def list_datasets() -> dict[str, tuple[str, ...]]:
    """The names of all data sets, each with its splits.

    >>> list_datasets()["hue_shift_mnist"]
    ('train', 'test_a', 'test_b')
    """
    return {name: tuple(description.splits) for name, description in DATASETS.items()}


def load(
    name: str,
    root: str | os.PathLike[str] | None = None,
    split: str = "train",
    shift: str | Shift | None = None,
    *,
    seed: int = 0,
    image_size: int | None = None,
    task: Task = "classification",
    fit: Fit | None = None,
    in_memory: bool | None = None,
    as_bytes: bool = False,
    on_error: OnError = "raise",
    download: bool = False,
    where: Where = "auto",
    check_size: bool = True,
    cache: str | os.PathLike[str] | None = None,
) -> ImageSet:
    """A split of a data set.

    Args:
        name: one of :func:`list_datasets`.
        root: the folder that holds ``<name>/``, or holds the files of the set itself. By default the environment
            variable ``EQUICOLOR_DATA``, or ``~/.cache/equicolor``. For ``"folder"``, your own folder.
        split: one of those that :func:`list_datasets` gives for the set.
        shift: a colour shift, such as ``"hue:90"``; see :mod:`equicolor.data.shift`. A split that is under a shift of
            its own, as those of ``hue_shift_mnist``, is moved by it first.
        seed: decides how seeded splits are cut, and what each image draws from a shift.
        image_size: height and width; by default the set's own: for ``"folder"`` the median of the short sides of its
            files, 256 at the most.
        task: ``"segmentation"`` for masks instead of labels, where the set has them (caltech101, the shapes).
        fit: how images of other shapes are fitted into the square: ``"crop"`` or ``"stretch"``. Masks and their images
            are stretched unless told otherwise, as in the paper.
        in_memory: hold all images in one tensor, or stream them; by default, hold what fits into 2 GiB.
        as_bytes: batches hold uint8 images as they are stored, a quarter of the traffic between workers and to a
            device; :class:`Augment` and ``Lift`` take them. Not for sets under a shift.
        on_error: images that cannot be read ``"raise"`` an error that names the file, or are left out: ``"skip"``.
        download: fetch what is missing, from where its authors publish it, or from the hub.
        where: ``"disk"`` and ``"hub"`` look in one place only.
        check_size: compare the number of images with the published one, which finds incomplete downloads.
        cache: where Hugging Face ``datasets`` keeps its tables, by default where it always does.

    Raises:
        DataNotFoundError: the files are not there; the message says which to put where.
    """
    description = _described(name)
    cut = _split(description, split)
    if where not in ("auto", "disk", "hub"):
        raise ValueError(f"where must be 'auto', 'disk' or 'hub', got {where!r}")
    moves = [Shift.parse(each).moves for each in (cut.shift, shift) if each]
    moved = Shift(tuple(move for each in moves for move in each)) if moves else None
    if as_bytes and moved:
        raise ValueError(f"as_bytes=True is for images as they are stored, {name} {split} is under the shift {moved}")
    masks = _wants_masks(description, task)
    if image_size is not None and (not isinstance(image_size, int) or image_size < 1):
        raise ValueError(f"image_size must be a positive number of pixels, for height and width, got {image_size!r}")
    home = data_root(description, root)
    own = usual_size(home) if name == "folder" and image_size is None else description.image_size
    size = image_size or (description.segmentation_size if masks else None) or own
    how = Decoding(size, fit or ("stretch" if masks else description.fit), on_error)
    if name == "folder" and split_folders(home):
        cut = Split(split)  # cut by the user already
    request = Request(home, cut.part, how, seed, dict(cut.drawn), masks)
    raw, selected = _read(description, split, request, download, where, None if cache is None else Path(cache))
    if selected:
        cut = replace(cut, only={})
    rows = _rows(raw, cut, seed)
    if check_size and cut.size is not None and len(rows) != cut.size:
        raise ValueError(
            f"{name} {split} has {len(rows):,} images here, {cut.size:,} as published: the files are incomplete or "
            "changed. Pass check_size=False to use them as they are."
        )
    source = raw.source if raw.source.image_size == size else Resized(raw.source, size)
    images = ImageSet(
        name,
        split,
        source=source,
        rows=rows,
        original_rows=rows,
        labels=raw.labels[rows],
        classes=raw.classes,
        task=task,
        grey=description.grey,
        fit=how.fit,
        shift=moved,
        seed=seed,
        as_bytes=as_bytes,
        draws=f"{description.folder}/{cut.part}",
        masks=raw.masks,
        origin=tuple(part for part in (raw.source, raw.masks) if isinstance(part, Encoded)),
    )
    fits = len(rows) * source.channels * size**2 <= MEMORY_LIMIT
    return images.in_memory() if in_memory or (in_memory is None and (fits or isinstance(source, Held))) else images


def _described(name: str) -> Description:
    if name not in DATASETS:
        raise ValueError(f"unknown data set {name!r}: expected one of {', '.join(DATASETS)}")
    return DATASETS[name]


def _split(description: Description, split: str) -> Split:
    if split not in description.splits:
        raise ValueError(
            f"{description.name} has no split {split!r}: expected one of {', '.join(map(repr, description.splits))}"
        )
    return description.splits[split]


def _wants_masks(description: Description, task: Task) -> bool:
    if task not in ("classification", "segmentation"):
        raise ValueError(f"task must be 'classification' or 'segmentation', got {task!r}")
    if task == "segmentation" and description.segmentation_size is None:
        raise ValueError(f"{description.name} has no masks: for segmentation there are {_with_masks()}")
    return task == "segmentation"


def _with_masks() -> str:
    return ", ".join(name for name, each in DATASETS.items() if each.segmentation_size is not None)


def data_root(description: Description, root: str | os.PathLike[str] | None) -> Path:
    """Where all data is: the given folder, that of the environment, or the cache."""
    if description.name == "folder" and root is None:
        raise ValueError(
            "load('folder', root=...) takes the folder that holds your images, in one folder for each class"
        )
    given = root or os.environ.get("EQUICOLOR_DATA") or Path.home() / ".cache" / "equicolor"
    return Path(given).expanduser()


def _rows(raw: Raw, cut: Split, seed: int) -> Tensor:
    """The rows of a split, in the order of the original files."""
    keep = torch.ones(len(raw.source), dtype=torch.bool)
    for column, values in cut.only.items():
        keep &= torch.isin(raw.columns[column], torch.tensor(values))
    rows = keep.nonzero().flatten()
    if cut.share is None:
        return rows
    start, stop, of = cut.share
    order = permutation(len(rows), seed)
    return rows[order[len(rows) * start // of : len(rows) * stop // of].sort().values]


# ------------------------------------------------------------------------------------------------ finding


def _read(
    description: Description, split: str, request: Request, download: bool, where: Where, cache: Path | None
) -> tuple[Raw, bool]:
    """What the set consists of, and whether its rows are those of the split already."""
    if description.source == "embedded" or description.name == "folder":
        place = folder_below(description, request.folder)
        return description.reader(replace(request, folder=place)), False
    hub, folder, reason = description.hub, request.folder / description.folder, ""
    if where != "hub":
        for place in (folder, request.folder):
            if any(_present(place, sign) for sign in description.signs):
                try:
                    return description.reader(replace(request, folder=place)), False
                except DataNotFoundError as error:  # some files are there, not all: a download may have been cut off
                    folder, reason = place, str(error)
                    break
            if hub and split in hub.splits and not request.masks and (files := parquet_files(place, hub.splits[split])):
                return from_parquet(description, split, files, request.how, cache), hub.selects
        if download and description.remotes:
            try:
                for remote in description.remotes:
                    fetch(remote, folder)
                return description.reader(replace(request, folder=folder)), False
            except DataNotFoundError as error:
                reason = str(error)
    if hub and split in hub.splits and not request.masks and (where == "hub" or (download and where == "auto")):
        try:
            return from_hub(description, split, request.how, cache), hub.selects
        except DataNotFoundError as error:
            reason = f"{reason}\n{error}".strip()
    raise _not_found(description, folder, request.masks, reason)


def folder_below(description: Description, home: Path) -> Path:
    """The folder of a set that needs none: the root itself where there is no other."""
    folder = home / description.folder
    return folder if folder.is_dir() else home


def _present(place: Path, sign: str) -> bool:
    return any(not path.name.endswith(".part") for path in place.glob(sign))


def _not_found(description: Description, folder: Path, masks: bool, reason: str) -> DataNotFoundError:
    lines = [f"{description.name} is not there. Put into {folder}: {description.layout}."]
    if description.remotes:
        lines.append("Published at " + " , ".join(remote.url for remote in description.remotes) + " .")
    if description.hub and not masks:
        lines.append(f"Or put there the Parquet files of {description.hub.path} on the Hugging Face hub" + BY_CALL)
    if reason:
        lines.append(f"What was tried: {reason}")
    return DataNotFoundError("\n".join(lines))
