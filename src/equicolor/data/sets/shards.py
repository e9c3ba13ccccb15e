"""A user's own images in sharded Parquet files, as Hugging Face ``datasets`` writes them: on disk or at an address."""

import json
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

import torch
from torch import Tensor

from equicolor._tools.images import sides
from equicolor.data._description import Description, Found, Layout, Raw, Request, Split
from equicolor.data._errors import DataNotFoundError
from equicolor.data._parquet import first_images, named_column, read_column, read_footer
from equicolor.data._registry import register_data_set
from equicolor.data._remote import as_address, find_files
from equicolor.data._shards import Shards
from equicolor.data.sets._own import LARGEST, LOOKED_AT, RANDOM, UNGROUPED, WHOLE, check_names

#: What columns of classes are called, the first that is there.
LABEL_COLUMNS = ("label", "class", "fine_label", "cls")
#: ``train-00000-of-00042``, ``train-3``, ``00007``: the split, if there is one, and the number.
_NUMBERED = re.compile(r"(?:(?P<split>.+?)[-_])??\d+(?:-of-\d+)?")
_ASKED_AT_ONCE = 16


def look(root: Path, layout: Layout | None) -> Found:
    """The shards at ``root``, which may have been an address."""
    if layout is not None:
        raise ValueError(f"layout says what folders of images are, {root} has Parquet files: leave it out")
    place = as_address(root) or str(root)
    parts = _splits(place)
    reader, sizes = partial(_read, parts), partial(_sizes, [file for files in parts.values() for file in files])
    words = f"{sum(map(len, parts.values())):,} Parquet files"
    if set(parts) == {"all"}:
        return Found(RANDOM | WHOLE, reader, sizes, words, "random", (UNGROUPED,))
    return Found({name: Split(name) for name in check_names(parts, place)} | WHOLE, reader, sizes, words, "given")


def holds_shards(folder: Path) -> bool:
    """Whether there are numbered Parquet files in a folder, or one folder below."""
    files = (path for pattern in ("*.parquet", "*/*.parquet") for path in folder.glob(pattern))
    return any(_NUMBERED.fullmatch(path.stem) for path in files)


def _splits(place: str) -> dict[str, list[str]]:
    """The Parquet files of each split: named by the folder they are in, or by what their names begin with."""
    if as_address(Path(place)):
        every = find_files(place)
    else:
        every = sorted(path.as_posix() for path in Path(place).rglob("*.parquet"))
    files = [file for file in every if file.lower().endswith(".parquet")]
    if not files:
        raise DataNotFoundError(f"there are no Parquet files at {place}")
    top = len(PurePosixPath(place).parts)
    found: dict[str, list[str]] = {}
    for file in files:
        path = PurePosixPath(file)
        inside = [part for part in path.parts[top:-1] if part != "data"]
        numbered = _NUMBERED.fullmatch(path.stem)
        named = numbered["split"] if numbered else path.stem
        found.setdefault(inside[0] if inside else named or "all", []).append(file)
    return found


def _read(parts: dict[str, list[str]], request: Request) -> Raw:
    files = [file for name, some in parts.items() if request.part in ("all", name) for file in some]
    with ThreadPoolExecutor(_ASKED_AT_ONCE) as pool:
        columns = list(pool.map(_labels, files))
    labels, classes = _numbered([cell for column in columns for cell in column], _names(files[0]), files[0])
    return Raw(Shards(files, request.how), labels, classes)


def _label_column(file: str) -> str:
    return named_column(file, LABEL_COLUMNS, "classes")


def _labels(file: str) -> list[Any]:
    return read_column(file, _label_column(file))


def _names(file: str) -> tuple[str, ...] | None:
    """The names of classes that Hugging Face ``datasets`` wrote into a file, if it did."""
    try:
        written = json.loads(read_footer(file).metadata[b"huggingface"])
        return tuple(map(str, written["info"]["features"][_label_column(file)]["names"]))
    except (KeyError, TypeError, ValueError):
        return None


def _numbered(cells: Sequence[Any], names: tuple[str, ...] | None, file: str) -> tuple[Tensor, tuple[str, ...]]:
    """Labels and the names of their classes, of numbers or names."""
    if None in cells:
        raise ValueError(f"row {cells.index(None)} of the shards that begin with {file} has no class")
    if all(isinstance(cell, int) for cell in cells):
        labels = torch.tensor(cells, dtype=torch.long)
        classes = names or tuple(map(str, range(int(labels.max()) + 1 if len(labels) else 0)))
        if len(labels) and not 0 <= int(labels.min()) <= int(labels.max()) < len(classes):
            raise ValueError(
                f"the shards that begin with {file} have labels from {int(labels.min())} to {int(labels.max())} for "
                f"{len(classes)} classes"
            )
        return labels, classes
    classes = tuple(sorted(set(map(str, cells))))
    places = {name: label for label, name in enumerate(classes)}
    return torch.tensor([places[str(cell)] for cell in cells], dtype=torch.long), classes


def _sizes(files: Sequence[str]) -> list[tuple[int, int]]:
    """Of the first images of a few files."""
    chosen = files[:: -(-len(files) // 5)]
    images = [image for file in chosen for image in first_images(file, LOOKED_AT // len(chosen))]
    return [size for image in images if (size := sides(image)) is not None]


register_data_set(
    Description(
        "shards",
        "your own images, in sharded Parquet files, here or at an address",
        lambda request: look(request.folder, None).reader(request),
        RANDOM | WHOLE,
        image_size=LARGEST,
        folder="",
        layout="the folder or address of Parquet files with the columns image and label",
        look=look,
    )
)
