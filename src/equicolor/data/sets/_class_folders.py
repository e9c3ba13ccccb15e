"""Images in one folder for each class: the layout of a user's own, and of several releases."""

from collections.abc import Sequence
from pathlib import Path

import torch

from equicolor._tools.images import IMAGE_SUFFIXES
from equicolor.data._description import Raw, Request
from equicolor.data._errors import DataNotFoundError
from equicolor.data._sources import Files


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
    files: dict[str, list[str]] = {}
    for name in sorted(places - ignore):
        files[name] = sorted(
            path.relative_to(folder).as_posix()
            for path in (folder / name).rglob("*")
            if path.suffix.lower() in IMAGE_SUFFIXES and path.is_file()
        )
        if not files[name] and (folder / name).is_dir():  # else it is a class of another part only
            raise without_images(folder / name)
    return by_class(request, folder, files)


def by_class(request: Request, folder: Path, files: dict[str, list[str]]) -> Raw:
    """The images of each class, by their names below ``folder``."""
    names = [name for images in files.values() for name in images]
    if not names:
        raise DataNotFoundError(f"{folder} holds no images in class folders: expected {folder / '<class>' / '<image>'}")
    labels = [label for label, images in enumerate(files.values()) for _ in images]
    return Raw(Files(folder, names, request.how), torch.tensor(labels, dtype=torch.long), tuple(files))


def without_images(folder: Path) -> DataNotFoundError:
    """What is said of a class that has none."""
    return DataNotFoundError(
        f"the class folder {folder} holds no images (looked for {', '.join(sorted(IMAGE_SUFFIXES))})"
    )
