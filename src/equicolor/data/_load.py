"""``load``: a data set by name, found on disk, embedded or on the hub, cut into splits and put under a shift."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Literal, TypeAlias

from equicolor._tools.images import Decoding, Fit, OnError
from equicolor.data._cut import rows_of
from equicolor.data._describe import usual_size
from equicolor.data._description import Description, Layout, Raw, Request, Split
from equicolor.data._download import fetch
from equicolor.data._errors import BY_CALL, DataNotFoundError
from equicolor.data._hub import from_hub, from_parquet, parquet_files
from equicolor.data._imageset import ImageSet
from equicolor.data._names import data_root, look, resolve, title
from equicolor.data._registry import DATASETS
from equicolor.data._sources import Encoded, Held, Resized
from equicolor.data.shift import Shift
from equicolor.models import Task

Where: TypeAlias = Literal["auto", "disk", "hub"]

#: Sets of up to this many bytes are held in memory unless told otherwise; larger ones stream.
MEMORY_LIMIT = 2 << 30


def list_datasets() -> dict[str, tuple[str, ...]]:
    """Lists the names of all data sets, each with its splits.

    Returns:
        Splits by name.

    Example:
        >>> list_datasets()["hue_shift_mnist"]
        ('train', 'test_a', 'test_b')
    """
    return {name: tuple(description.splits) for name, description in DATASETS.items()}


def load(
    name: str | os.PathLike[str],
    root: str | os.PathLike[str] | None = None,
    split: str = "train",
    shift: str | Shift | None = None,
    *,
    seed: int = 0,
    layout: Layout | None = None,
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
    """Loads a split of a data set.

    Args:
        name: one of :func:`list_datasets`, or the path of your own images: a folder, or a table that lists them.
        root: the folder that holds ``<name>/``, or holds the files of the set itself. By default the environment
            variable ``EQUICOLOR_DATA``, or ``~/.cache/equicolor``. For ``"folder"``, your own folder; for ``"table"``,
            the CSV or Parquet file.
        split: one of those that :func:`splits_of` gives for the set.
        shift: a colour shift, such as ``"hue:90"``; see :mod:`equicolor.data.shift`. A split that is under a shift of
            its own, as those of ``hue_shift_mnist``, is moved by it first.
        seed: decides how seeded splits are cut, and what each image draws from a shift.
        layout: what your folders are, where that cannot be told from their names: ``"splits"`` that hold classes, or
            ``"classes"``.
        image_size: height and width; by default the set's own: of your own images, the median of their short sides, 256
            at the most.
        task: ``"segmentation"`` for masks instead of labels, where the set has them (caltech101, the shapes).
        fit: how images of other shapes are fitted into the square, ``"crop"`` or ``"stretch"``. Masks and their images
            are stretched unless told otherwise, as in the paper.
        in_memory: hold all images in one tensor, or stream them; by default, those that fit into 2 GiB are held.
        as_bytes: whether batches hold uint8 images as they are stored, a quarter of the traffic between workers and to
            a device; :class:`Augment` and ``Lift`` take them. Not for sets under a shift.
        on_error: what is done with images that cannot be read: ``"raise"`` an error that names the file, or ``"skip"``
            them.
        download: fetch what is missing, from where its authors publish it, or from the hub.
        where: ``"disk"`` or ``"hub"`` to look in one place only.
        check_size: compare the number of images with the published one, which finds incomplete downloads.
        cache: where Hugging Face ``datasets`` keeps its tables; by default where it always does.

    Returns:
        The images and their labels.

    Raises:
        DataNotFoundError: the files are not there; the message says which to put where.
        AmbiguousLayoutError: folders that could be splits or classes; the message names both readings.
        ValueError: there is no such set, split or shift, or an argument does not go with it.

    Example:
        >>> load("digits", split="test")[:2].images.shape
        torch.Size([2, 3, 28, 28])
    """
    called = title(name)
    name, root = resolve(name, root)
    description, home = DATASETS[name], data_root(DATASETS[name], root)
    masks = _wants_masks(description, task)
    how = Decoding(1, fit or ("stretch" if masks else description.fit), on_error)
    if image_size is not None and (not isinstance(image_size, int) or image_size < 1):
        raise ValueError(f"image_size must be a positive number of pixels, for height and width, got {image_size!r}")
    found = look(description, home, layout)
    if found is not None:
        description = replace(description, splits=found.splits, reader=found.reader)
    cut = _split(description, split, home)
    if where not in ("auto", "disk", "hub"):
        raise ValueError(f"where must be 'auto', 'disk' or 'hub', got {where!r}")
    moves = [Shift.parse(each).moves for each in (cut.shift, shift) if each]
    moved = Shift(tuple(move for each in moves for move in each)) if moves else None
    if as_bytes and moved:
        raise ValueError(f"as_bytes=True is for images as they are stored, {called} {split} is under the shift {moved}")
    own = usual_size(found.sizes(), description.image_size) if found and not image_size else description.image_size
    size = image_size or (description.segmentation_size if masks else None) or own
    how = replace(how, size=size)
    request = Request(home, cut.part, how, seed, dict(cut.drawn), masks)
    raw, selected = _read(description, split, request, download, where, None if cache is None else Path(cache))
    if selected:
        cut = replace(cut, only={})
    rows = rows_of(raw, cut, seed, description.splits.values())
    if check_size and cut.size is not None and len(rows) != cut.size:
        raise ValueError(
            f"{called} {split} has {len(rows):,} images here, {cut.size:,} as published: the files are incomplete or "
            "changed. Pass check_size=False to use them as they are."
        )
    source = raw.source if raw.source.image_size == size else Resized(raw.source, size)
    images = ImageSet(
        called,
        split,
        source=source,
        rows=rows,
        original_rows=rows,
        labels=raw.labels[rows],
        classes=raw.classes,
        task=task,
        gray=description.gray,
        fit=how.fit,
        shift=moved,
        seed=seed,
        as_bytes=as_bytes,
        draws=f"{description.folder}/{cut.part}",
        masks=raw.masks,
        origin=tuple(part for part in (raw.source, raw.masks) if isinstance(part, Encoded)),
        domains=None if raw.domains is None else raw.domains[rows],
        clusters=None if raw.clusters is None else raw.clusters[rows],
    )
    fits = len(rows) * source.channels * size**2 <= MEMORY_LIMIT
    return images.in_memory() if in_memory or (in_memory is None and (fits or isinstance(source, Held))) else images


def _split(description: Description, split: str, home: Path) -> Split:
    if split not in description.splits:
        whose = f"{description.name} {home}" if description.look else description.name
        raise ValueError(f"{whose} has no split {split!r}: expected one of {', '.join(map(repr, description.splits))}")
    return description.splits[split]


def _wants_masks(description: Description, task: Task) -> bool:
    if task not in ("classification", "segmentation"):
        raise ValueError(f"task must be 'classification' or 'segmentation', got {task!r}")
    if task == "segmentation" and description.segmentation_size is None:
        others = ", ".join(name for name, each in DATASETS.items() if each.segmentation_size is not None)
        raise ValueError(f"{description.name} has no masks: for segmentation there are {others}")
    return task == "segmentation"


# ------------------------------------------------------------------------------------------------ finding


def _read(
    description: Description, split: str, request: Request, download: bool, where: Where, cache: Path | None
) -> tuple[Raw, bool]:
    """What the set consists of, and whether its rows are those of the split already."""
    if description.look:
        return description.reader(request), False
    if description.source == "embedded":
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
