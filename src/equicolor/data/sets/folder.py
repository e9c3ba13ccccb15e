"""A user's own images in folders, cut into splits already or not; which of the two, ``_tree`` says."""

from functools import partial
from pathlib import Path

from equicolor._tools.images import sides
from equicolor.data._description import Description, Found, Layout, Raw, Request, Split
from equicolor.data._registry import register_data_set
from equicolor.data.sets._class_folders import by_class, without_images
from equicolor.data.sets._own import LARGEST, LOOKED_AT, RANDOM, UNGROUPED, WHOLE, check_names, counted
from equicolor.data.sets._tree import Branch, branches, images_in, layout_of


def look(root: Path, layout: Layout | None) -> Found:
    """What the folders at ``root`` are: splits of classes, or classes to be cut at random."""
    if layout not in (None, "splits", "classes"):
        raise ValueError(f"layout must be 'splits' or 'classes', got {layout!r}")
    if root.is_file():
        raise ValueError(f"{root} is a file, expected a folder of images; a table of them is data set 'table'")
    found = branches(root)
    chosen = layout or layout_of(root, found)
    loose = images_in(root)
    notes = [f"{counted(len(loose))} directly in {root}, in no class, left out"] if loose else []
    sizes = partial(_sizes, root, found)
    if chosen == "classes":
        reader = partial(_read_classes, root, found)
        return Found(RANDOM | WHOLE, reader, sizes, "class/image", "random", (*notes, UNGROUPED))
    for branch in found:
        if branch.direct:
            raise ValueError(
                f"as a split, {root / branch.name} holds {counted(len(branch.direct))} in none of its class "
                f"folders, such as {branch.direct[0]}: move them into one"
            )
    splits = {name: Split(name) for name in check_names([branch.name for branch in found], root)} | WHOLE
    return Found(splits, partial(_read_splits, root, found), sizes, "split/class/image", "given", tuple(notes))


def _read_classes(root: Path, found: list[Branch], request: Request) -> Raw:
    """Every image below ``<class>/``."""
    for branch in found:
        if not branch.images:
            raise without_images(root / branch.name)
    return by_class(
        request, root, {branch.name: [f"{branch.name}/{name}" for name in branch.images] for branch in found}
    )


def _read_splits(root: Path, found: list[Branch], request: Request) -> Raw:
    """Every image below ``<part>/<class>/``, or of all parts. All number their classes alike: those of train first."""
    train = {name for branch in found if branch.name == "train" for name in branch.inside}
    every = {name for branch in found for name in branch.inside}
    parts = [branch for branch in found if request.part in ("all", branch.name)]
    there = {name for branch in parts for name in branch.inside}
    classes = [*sorted(train or every), *sorted(there - (train or every))]
    whole = request.part == "all"
    files: dict[str, list[str]] = {name: [] for name in classes}
    for branch in parts:
        for name, images in branch.inside.items():
            if not images:
                raise without_images(root / branch.name / name)
            files[name] += [f"{branch.name}/{image}" for image in images] if whole else images
    return by_class(request, root if whole else root / request.part, files)


def _sizes(root: Path, found: list[Branch]) -> list[tuple[int, int]]:
    files = [f"{branch.name}/{name}" for branch in found for name in branch.images]
    sample = files[:: -(-len(files) // LOOKED_AT)]
    return [size for name in sample if (size := sides(root / name)) is not None]


register_data_set(
    Description(
        "folder",
        "your own images, in one folder for each class",
        lambda request: look(request.folder, None).reader(request),
        RANDOM | WHOLE,
        image_size=LARGEST,
        folder="",
        layout="the folder that holds your images: <split>/<class>/<image> or <class>/<image>",
        look=look,
    )
)
