"""Which data sets are there already, and where: without reading any of them."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from equicolor.data._hub import parquet_files
from equicolor.data._load import data_root, folder_below
from equicolor.data._registry import DATASETS


@dataclass(frozen=True)
class Whereabouts:
    """What there is to know of a data set without reading it.

    Attributes:
        name, title: of the set.
        sizes: split → number of images, None where it depends on the files.
        image_size: height and width.
        state: ``"embedded"``, ``"present"`` or ``"absent"``; an embedded set whose original file is there is
            ``"present"``, for it is read from that.
        folder: where its files are, or belong; None for embedded ones.
        source: where they can be had.
    """

    name: str
    title: str
    sizes: dict[str, int | None]
    image_size: int
    state: Literal["embedded", "present", "absent"]
    folder: Path | None
    source: str


def whereabouts(name: str, root: str | os.PathLike[str] | None = None) -> Whereabouts:
    """Where a data set is, or belongs; ``root`` as for :func:`equicolor.data.load`.

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
    if name == "folder":
        return Whereabouts(**fixed, state="absent", folder=None, source="--root FOLDER")  # type: ignore[arg-type]
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


def original_file(name: str, root: str | os.PathLike[str] | None = None) -> Path | None:
    """The file that an embedded set is read from instead, where there is one."""
    description = DATASETS[name]
    if not description.original:
        return None
    file = folder_below(description, data_root(description, root)) / description.original
    return file if file.is_file() else None
