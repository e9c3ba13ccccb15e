"""A user's own images, in class folders, cut into splits already or not."""

from pathlib import Path
from statistics import median_low

from equicolor._tools.images import IMAGE_SUFFIXES, short_side
from equicolor.data._description import Description, Raw, Request, Split
from equicolor.data._registry import register_data_set
from equicolor.data.sets._class_folders import class_folders, subfolders

_SPLITS = frozenset({"train", "val", "test"})
#: Height and width of images that nobody gave a size for, at the most.
_LARGEST = 256
#: So many files say how large the others are.
_LOOKED_AT = 200


def read(request: Request) -> Raw:
    """Every image below ``<class>/`` for the part ``"all"``, or below ``<part>/<class>/``."""
    if request.part == "all":
        return class_folders(request, request.folder)
    return class_folders(request, request.folder / request.part, siblings=split_folders(request.folder))


def split_folders(folder: Path) -> list[Path]:
    """The folders of splits, if ``folder`` holds nothing but those; a class may well be called *train*."""
    inside = subfolders(folder) if folder.is_dir() else []
    return inside if {place.name for place in inside} <= _SPLITS else []


def usual_size(folder: Path) -> int:
    """The side that images of a folder are brought to: the median of their short sides, and 256 at the most.

    All splits have one size, and a network trained on small images is not given enlarged ones. A sample of the files is
    asked, none is decoded.
    """
    files = sorted(path for path in folder.rglob("*") if path.suffix.lower() in IMAGE_SUFFIXES and path.is_file())
    sides = [side for path in files[:: -(-len(files) // _LOOKED_AT) or 1] if (side := short_side(path)) is not None]
    return min(median_low(sides), _LARGEST) if sides else _LARGEST


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
        image_size=_LARGEST,
        folder="",
        layout="<split>/<class>/<image> or <class>/<image>",
    )
)
