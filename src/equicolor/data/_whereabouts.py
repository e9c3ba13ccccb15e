"""Which data sets are there already, and where: without reading any of them."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from equicolor.data._hub import parquet_files
from equicolor.data._load import folder_below
from equicolor.data._names import data_root
from equicolor.data._registry import DATASETS


@dataclass(frozen=True)
class Whereabouts:
    """What there is to know of a data set without reading it.

    Attributes:
        sizes: split → number of images, None where it depends on the files.
        image_size: height and width.
        state: ``"embedded"``, ``"present"`` or ``"absent"``; an embedded set whose original file is there is
            ``"present"``, for it is read from that.
        folder: where its files are, or belong; None for embedded ones.
        source: where they can be had.
        name: the name of the set.
        title: what it is, in a line.
    """

    name: str
    title: str
    sizes: dict[str, int | None]
    image_size: int
    state: Literal["embedded", "present", "absent"]
    folder: Path | None
    source: str


def whereabouts(name: str, root: str | os.PathLike[str] | None = None) -> Whereabouts:
    """Says where a data set is, or belongs.

    Args:
        name: the name of the set.
        root: where to look, as for :func:`equicolor.data.load`.

    Returns:
        What is known of it.

    Example:
        >>> whereabouts("digits").sizes
        {'train': 1500, 'test': 297}
    """
    description = DATASETS[name]
    sizes = {split: cut.size for split, cut in description.splits.items()}
    fixed = {"name": name, "title": description.title, "sizes": sizes, "image_size": description.image_size}
    if description.source == "embedded":
        if file := original_file(name, root):
            return Whereabouts(**fixed, state="present", folder=file.parent, source="")  # type: ignore[arg-type]
        return Whereabouts(**fixed, state="embedded", folder=None, source="embedded")  # type: ignore[arg-type]
    if description.look:
        return Whereabouts(**fixed, state="absent", folder=None, source=f"--root {name.upper()}")  # type: ignore[arg-type]
    home = data_root(description, root)
    wanted = home / description.folder
    hub = description.hub
    present = [
        place
        for place in (wanted, home)
        if any(next(place.glob(sign), None) for sign in description.signs)
        or (hub and any(parquet_files(place, split) for split in hub.splits.values()))
    ]
    return Whereabouts(
        **fixed,  # type: ignore[arg-type]
        state="present" if present else "absent",
        folder=present[0] if present else wanted,
        source=f"hub: {hub.path}" if hub else "",
    )


def is_data_root(root: str | os.PathLike[str]) -> bool:
    """Whether a folder is for data sets, not for images of a user's own.

    Args:
        root: the folder.

    Returns:
        True where it has data sets in it, or nothing in folders.
    """
    home = Path(root).expanduser()
    inside = {place.name for place in home.iterdir() if place.is_dir()}
    return not inside or any(each.folder in inside for each in DATASETS.values())


def original_file(name: str, root: str | os.PathLike[str] | None = None) -> Path | None:
    """The file that an embedded set is read from instead, where there is one.

    Args:
        name: the name of the set.
        root: where to look, as for :func:`equicolor.data.load`.

    Returns:
        The file; None where there is none.
    """
    description = DATASETS[name]
    if not description.original:
        return None
    file = folder_below(description, data_root(description, root)) / description.original
    return file if file.is_file() else None
