"""A user's own images in a table: CSV or Parquet with the columns ``file`` and ``class``, and perhaps more.

``file`` is relative to the folder of the table, or absolute; in Parquet there may be images instead, ``image``.
``split`` says which split an image is in; without it, splits are cut at random. ``domain`` says where an image is from
(a lab, a stain), ``group`` which images belong together (a slide, a patient): no random cut divides a group.
"""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import torch

from equicolor._tools.images import sides
from equicolor._tools.optional import require
from equicolor._tools.words import named
from equicolor.data._column import Column
from equicolor.data._description import Description, Found, Layout, Raw, Request, Split
from equicolor.data._errors import DataNotFoundError, reading
from equicolor.data._registry import register_data_set
from equicolor.data._sources import Files, Parquet, Source, encoded
from equicolor.data.sets._listing import Listing, read_listing, whole
from equicolor.data.sets._own import LARGEST, LOOKED_AT, RANDOM, UNGROUPED, WHOLE, check_names


def look(path: Path, layout: Layout | None) -> Found:
    """What a table lists."""
    if layout is not None:
        raise ValueError(f"layout says what folders are, {path} is a table: give splits in a column 'split'")
    listing = read_listing(path)
    _check_duplicates(listing)
    reader, sizes = partial(_read, listing), partial(_sizes, listing)
    columns = ", ".join(f"{role} ({name})" if name != role else role for role, name in listing.names.items())
    words = f"a table of {columns}"
    if listing.unused:
        words += f"; not used: {', '.join(listing.unused)}"
    if "split" in listing.values:
        names = check_names(listing.values["split"], path)
        splits = {name: Split(name, only={"split": (code,)}) for code, name in enumerate(names)}
        return Found(splits | WHOLE, reader, sizes, words, "given", _shared_groups(listing))
    if "group" not in listing.values:
        return Found(RANDOM | WHOLE, reader, sizes, words, "random", (UNGROUPED,))
    groups = len(set(listing.values["group"]))
    note = f"splits are cut at random, and keep the images of each of {groups:,} groups together"
    return Found(RANDOM | WHOLE, reader, sizes, words, "random", (note,))


def _read(listing: Listing, request: Request) -> Raw:
    """All rows, with the column ``split`` where splits are given; labels of classes that this part has not are -1."""
    values = listing.values
    splits = values.get("split")
    classes = _classes(values["class"], splits, request.part)
    places = {name: label for label, name in enumerate(classes)}
    labels = torch.tensor([places.get(name, -1) for name in values["class"]], dtype=torch.long)
    return Raw(
        _source(listing, request),
        labels,
        tuple(classes),
        {} if splits is None else {"split": Column.of(splits, check_names(splits, listing.path)).codes},
        domains=Column.of(values["domain"]) if "domain" in values else None,
        clusters=Column.of(values["group"]) if "group" in values else None,
    )


def _classes(classes: Sequence[str], splits: Sequence[str] | None, part: str) -> list[str]:
    """Those of the split ``train``, or of all where there is none; after them, those that only ``part`` has."""
    if splits is None:
        return _sorted(classes)
    both = list(zip(classes, splits, strict=True))
    train = {name for name, split in both if split == "train"} or set(classes)
    return [*_sorted(train), *_sorted({name for name, split in both if part in ("all", split)} - train)]


def _sorted(names: "Sequence[str] | set[str]") -> list[str]:
    """Each once: numbers by their size, names by the alphabet."""
    every = set(names)
    return sorted(every, key=int) if all(name.isascii() and name.isdigit() for name in every) else sorted(every)


def _source(listing: Listing, request: Request) -> Source:
    if "image" in listing.names:
        return Parquet(listing.path, listing.names["image"], listing.count, request.how)
    files = listing.values["file"]
    if request.how.on_error == "raise":
        _check_files(listing, files)
    return Files(listing.path.parent, files, request.how)


def _check_files(listing: Listing, files: Sequence[str]) -> None:
    """Before hours of training end at one that is not there. Several are asked for at once: a network answers late."""
    paths = (whole(listing.path, name) for name in files)
    with ThreadPoolExecutor(16) as pool:
        missing = [row for row, there in enumerate(pool.map(os.path.isfile, paths)) if not there]
    if missing:
        more = f", nor the files of {len(missing) - 1:,} other rows" if len(missing) > 1 else ""
        raise DataNotFoundError(
            f"{listing.where(missing[0])} of {listing.path} names the file {files[missing[0]]}, and there is no "
            f"{whole(listing.path, files[missing[0]])}{more}. Files are named from the folder of the table on"
        )


def _check_duplicates(listing: Listing) -> None:
    """A file that is listed twice is not in two classes, nor in two splits."""
    values, seen = listing.values, dict[str, int]()
    splits = values.get("split")
    for row, name in enumerate(values.get("file", ())):
        earlier = seen.setdefault(whole(listing.path, name), row)
        if earlier == row:
            continue
        both = f"{listing.where(earlier)} and {listing.where(row)} of {listing.path} name the same file, {name}"
        if values["class"][earlier] != values["class"][row]:
            raise ValueError(f"{both}, as {values['class'][earlier]!r} and as {values['class'][row]!r}")
        if splits is None:
            raise ValueError(f"{both}: a random cut could train on one and test on the other. List it once")
        if splits[earlier] != splits[row]:
            raise ValueError(f"{both}, in the splits {splits[earlier]!r} and {splits[row]!r}. List it in one")


def _shared_groups(listing: Listing) -> tuple[str, ...]:
    """A note where groups are in several of the splits that are given."""
    if "group" not in listing.values:
        return ()
    where: dict[str, set[str]] = {}
    for group, split in zip(listing.values["group"], listing.values["split"], strict=True):
        where.setdefault(group, set()).add(split)
    shared = [f"{group} ({', '.join(sorted(splits))})" for group, splits in where.items() if len(splits) > 1]
    if not shared:
        return (f"no split has images of a group of another: {len(where):,} groups",)
    return (f"{len(shared):,} of {len(where):,} groups have images in several splits: {named(shared)}",)


def _sizes(listing: Listing) -> list[tuple[int, int]]:
    if "image" in listing.names:
        sample = _some_images(listing)
    else:
        files = listing.values["file"]
        sample = [Path(whole(listing.path, name)) for name in files[:: -(-len(files) // LOOKED_AT)]]
    return [size for image in sample if (size := sides(image)) is not None]


def _some_images(listing: Listing) -> list[bytes | Path]:
    """The first images of some row groups: no more of a large file is read than that."""
    parquet = require("pyarrow.parquet", "reading Parquet files")
    cells: list[object] = []
    with reading(listing.path):
        file = parquet.ParquetFile(listing.path)
        column, groups = listing.names["image"], range(file.num_row_groups)
        chosen = groups[:: -(-len(groups) // 10)]
        each = -(-LOOKED_AT // len(chosen))
        for group in chosen:
            batch = next(file.iter_batches(each, row_groups=[group], columns=[column]), None)
            cells += [] if batch is None else batch.column(0).to_pylist()
    return [encoded(cell, listing.path.parent) for cell in cells]


register_data_set(
    Description(
        "table",
        "your own images, as a CSV or Parquet file lists them",
        lambda request: look(request.folder, None).reader(request),
        RANDOM | WHOLE,
        image_size=LARGEST,
        folder="",
        layout="the CSV or Parquet file that lists your images, with the columns file and class",
        look=look,
    )
)
