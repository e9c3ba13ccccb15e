"""Images in class folders: a user's own, and the layout of ImageNet and Tiny-ImageNet."""

from collections.abc import Callable
from pathlib import Path

import torch

from equicolor.data._errors import DataNotFoundError
from equicolor.data._readers import Raw, Request
from equicolor.data._sources import Files

#: What counts as an image; everything else in a class folder is left alone.
SUFFIXES = frozenset({".bmp", ".gif", ".jpeg", ".jpg", ".png", ".ppm", ".tif", ".tiff", ".webp"})


def read(request: Request) -> Raw:
    """Every image below ``<part>/<class>/``; the part ``"all"`` stands for the folder itself."""
    return class_folders(request, request.folder if request.part == "all" else request.folder / request.part)


def class_folders(
    request: Request, folder: Path, ignore: frozenset[str] = frozenset(), naming: Callable[[str], str] = str
) -> Raw:
    """The images of the folders below ``folder``, classes and files in the order of their names."""
    if not folder.is_dir():
        raise DataNotFoundError(f"there is no folder {folder}: expected one folder of images for each class in it")
    classes = sorted(
        place.name for place in folder.iterdir() if place.is_dir() and place.name not in ignore and place.name[0] != "."
    )
    names: list[str] = []
    labels: list[int] = []
    for label, name in enumerate(classes):
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
    classes = [naming(name) for name in classes]
    return Raw(Files(folder, names, request.how), torch.tensor(labels, dtype=torch.long), tuple(classes))
