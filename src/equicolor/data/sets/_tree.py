"""What a tree of folders is: splits that hold classes, or classes. One look at the names of all files says it.

- *split/class/image*, where all images are in folders inside of those at the top, and these are a folder ``train`` and
  any others that hold some of the same folders, or nothing but names of splits (``val``, ``test``, ``test_pink``, …).
- *class/image* otherwise; images may lie deeper in a class.
- Where both could be meant, neither is taken, and :class:`AmbiguousLayoutError` names the two: beside ``train`` there
  are folders that hold others, or images directly; or there is no ``train``, but all hold the same folders.
"""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from equicolor._tools.images import IMAGE_SUFFIXES
from equicolor._tools.words import named
from equicolor.data._description import Layout
from equicolor.data._errors import AmbiguousLayoutError, DataNotFoundError
from equicolor.data.sets._class_folders import subfolders
from equicolor.data.sets._own import counted

#: What folders of splits are called by most: ``test``, ``test2``, ``test_pink``. A valve is none, nor a testis.
_SPLIT = re.compile(r"(train|training|val|valid|validation|test|testing|dev|eval|holdout)(\d*|[-_. ].*)", re.IGNORECASE)


@dataclass(frozen=True)
class Branch:
    """A folder at the top of a tree.

    Attributes:
        name: of the folder.
        images: the files below it, by their names from there, sorted.
        inside: the folders in it, hidden ones left out, each with its images, sorted.
    """

    name: str
    images: list[str]
    inside: dict[str, list[str]]

    @property
    def direct(self) -> list[str]:
        """The images that are in no folder inside of this one."""
        return [name for name in self.images if "/" not in name]

    @property
    def holds_folders_of_images(self) -> bool:
        return any(self.inside.values())


def branches(root: Path) -> list[Branch]:
    """The folders at the top of a tree in the order of their names, hidden ones left out.

    Raises:
        DataNotFoundError: there is no folder ``root``, or none in it, or one of them has no image.
    """
    if not root.is_dir():
        raise DataNotFoundError(f"there is no folder {root}: expected one folder of images for each class in it")
    found = [_branch(place) for place in subfolders(root)]
    if not any(branch.images for branch in found):
        raise DataNotFoundError(f"{root} holds no class folders: expected {root / '<class>' / '<image>.jpg'} and so on")
    return found


def images_in(folder: Path) -> list[str]:
    """The images directly in a folder."""
    return sorted(entry.name for entry in os.scandir(folder) if _is_image(entry))


def layout_of(root: Path, found: Sequence[Branch]) -> Layout:
    """Which of the two a tree is.

    Raises:
        AmbiguousLayoutError: it could be both.
    """
    known = all(_SPLIT.fullmatch(branch.name) for branch in found)
    train = next((branch for branch in found if branch.name.lower() == "train"), None)
    flat = [branch for branch in found if branch.direct]
    nested = [branch for branch in found if branch.holds_folders_of_images]
    if not nested:
        return _refuse(root, found) if known else "classes"
    if flat:
        classes = not known and (train is None or not train.holds_folders_of_images)
        return "classes" if classes else _refuse(root, found)
    if train:
        others = [branch for branch in nested if not _SPLIT.fullmatch(branch.name)]
        alike = all(branch.inside.keys() & train.inside.keys() for branch in others)
        return "splits" if alike else _refuse(root, found)
    most = max(nested, key=lambda branch: len(branch.inside)).inside.keys()
    same = all(branch.inside.keys() <= most for branch in found)
    return "splits" if known else _refuse(root, found) if same else "classes"


def _refuse(root: Path, found: Sequence[Branch]) -> Layout:
    names = [branch.name for branch in found]
    classes = sorted({name for branch in found for name in branch.inside}) or ["none"]
    outside = [name for branch in found for name in branch.direct]
    but = f", where {counted(len(outside))} would be in no class" if outside else ""
    one_up = f", or give {root / names[0]} if that is what holds your classes" if len(names) == 1 else ""
    raise AmbiguousLayoutError(
        f"{root} can be read in two ways: as splits {named(names)} of the classes {named(classes)}{but}; or as "
        f"classes {named(names)}, with images in folders inside. Say which, layout='splits' or layout='classes' "
        f"(--layout of 'equicolor data', --set data_options.layout=splits in training){one_up}"
    )


def _branch(place: Path) -> Branch:
    images = [entry.name for entry in os.scandir(place) if _is_image(entry)]
    inside = {}
    for entry in sorted(place.iterdir()):
        if entry.is_dir():
            below = sorted(f"{entry.name}/{name}" for name in _images_below(entry))
            images += below
            if entry.name[0] != ".":
                inside[entry.name] = below
    return Branch(place.name, sorted(images), inside)


def _images_below(folder: str | os.PathLike[str]) -> Iterator[str]:
    """Every image below a folder, links to other folders left out, which may lead in circles."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from (f"{entry.name}/{name}" for name in _images_below(entry))
            elif _is_image(entry):
                yield entry.name


def _is_image(entry: "os.DirEntry[str]") -> bool:
    return os.path.splitext(entry.name)[1].lower() in IMAGE_SUFFIXES and entry.is_file()
