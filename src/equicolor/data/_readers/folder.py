"""Images in class folders: a user's own, and the layout of ImageNet and Tiny-ImageNet."""

from collections.abc import Sequence
from pathlib import Path

import torch

from equicolor.data._errors import DataNotFoundError
from equicolor.data._readers import Raw, Request
from equicolor.data._sources import Files

#: What counts as an image; everything else in a class folder is left alone.
SUFFIXES = frozenset({".bmp", ".gif", ".jpeg", ".jpg", ".png", ".ppm", ".tif", ".tiff", ".webp"})


_SPLITS = frozenset({"train", "val", "test"})


def read(request: Request) -> Raw:
    """Every image below ``<class>/`` for the part ``"all"``, or below ``<part>/<class>/``."""
    if request.part == "all":
        return class_folders(request, request.folder)
    return class_folders(request, request.folder / request.part, siblings=split_folders(request.folder))


def split_folders(folder: Path) -> list[Path]:
    """The folders of splits, if ``folder`` holds nothing but those; a class may well be called *train*."""
    inside = subfolders(folder) if folder.is_dir() else []
    return inside if {place.name for place in inside} <= _SPLITS else []


def subfolders(folder: Path) -> list[Path]:
    """The folders in a folder in the order of their names, hidden ones left out."""
    return sorted(place for place in folder.iterdir() if place.is_dir() and place.name[0] != ".")


def class_folders(
    request: Request, folder: Path, ignore: frozenset[str] = frozenset(), siblings: Sequence[Path] = ()
) -> Raw:
    """The images of the folders below ``folder``, classes and files in the order of their names.

    Classes are those of ``siblings``, the other parts, as well: all parts number them alike.
    """
    if not folder.is_dir():
        raise DataNotFoundError(f"there is no folder {folder}: expected one folder of images for each class in it")
    places = {place.name for part in (folder, *siblings) if part.is_dir() for place in subfolders(part)}
    classes = sorted(places - ignore)
    names: list[str] = []
    labels: list[int] = []
    for label, name in enumerate(classes):
        if not (folder / name).is_dir():
            continue  # a class of another part only
        files = sorted(
            path.relative_to(folder).as_posix()
            for path in (folder / name).rglob("*")
            if path.suffix.lower() in SUFFIXES and path.is_file()
        )
        if not files:
            raise DataNotFoundError(
                f"the class folder {folder / name} holds no images (looked for {', '.join(sorted(SUFFIXES))})"
            )
        names += files
        labels += [label] * len(files)
    if not names:
        raise DataNotFoundError(
            f"{folder} holds no class folders: expected {folder / '<class>' / '<image>.jpg'} and so on"
        )
    return Raw(Files(folder, names, request.how), torch.tensor(labels, dtype=torch.long), tuple(classes))
