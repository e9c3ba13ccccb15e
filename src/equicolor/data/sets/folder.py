"""A user's own images, in class folders, cut into splits already or not."""

from pathlib import Path

from equicolor.data._description import Description, Raw, Request, Split
from equicolor.data._registry import register_data_set
from equicolor.data.sets._class_folders import class_folders, subfolders

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


register_data_set(
    Description(
        "folder",
        "your own images, in one folder for each class",
        read,
        {
            "train": Split("all", share=(0, 8, 10)),
            "val": Split("all", share=(8, 9, 10)),
            "test": Split("all", share=(9, 10, 10)),
            "all": Split("all"),
        },
        image_size=256,
        folder="",
        layout="<split>/<class>/<image> or <class>/<image>",
    )
)
