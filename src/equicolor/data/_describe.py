"""What a user's own files are, before anything is computed from them: classes, counts, sizes, how they were read."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median_low

import torch

from equicolor._tools.images import Decoding
from equicolor.data._column import Column
from equicolor.data._cut import rows_of
from equicolor.data._description import Layout, Raw, Request
from equicolor.data._names import Place, data_root, is_own, look, resolve
from equicolor.data._registry import DATASETS
from equicolor.data._remote import as_address

#: So many classes are counted one by one in a line of text.
_LISTED = 12


@dataclass(frozen=True)
class Contents:
    """A description of your own images, made by :func:`describe`.

    Attributes:
        name: ``"folder"`` or ``"table"``.
        root: where.
        layout: how the files were read, in words: ``"class/image"``, ``"split/class/image"`` or the columns of a table.
        cut: who made the splits: they are ``"given"`` by the files, or a ``"random"`` cut by the seed.
        classes: their names.
        counts: split → class → number of images.
        image_size: height and width that images are brought to unless others are asked for.
        sizes: (width, height) of a sample of the images → how many of it, the most frequent first.
        domains: split → domain → number of images, where domains are known.
        groups: split → number of groups, where groups are known.
        notes: what to know before numbers come.
    """

    name: str
    root: Path
    layout: str
    cut: str
    classes: tuple[str, ...]
    counts: Mapping[str, Mapping[str, int]]
    image_size: int
    sizes: Mapping[tuple[int, int], int]
    domains: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    groups: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        """The number of images."""
        return sum(sum(counts.values()) for counts in self.counts.values())

    def lines(self) -> list[str]:
        """The description as lines of text."""
        where = as_address(self.root) or self.root
        said = [f"{where}: {self.total:,} images of {len(self.classes):,} classes, read as {self.layout}"]
        for split, counts in self.counts.items():
            more = f", of {self.groups[split]:,} groups" if self.groups else ""
            said.append(f"  {split}: {sum(counts.values()):,} images{more}: {_counted(counts)}")
            if self.domains:
                said.append(f"    domains: {_counted(self.domains[split])}")
        return [*said, f"  {self.size_line()}", *(f"  Note: {note}" for note in self.notes)]

    def size_line(self) -> str:
        """A line on how large the files are, and in which size they are read."""
        if not self.sizes:
            return f"none of the images that were asked says its size; read as {self.image_size}×{self.image_size}"
        shown = [f"{width}×{height}" for width, height in list(self.sizes)[:3]]
        if len(self.sizes) > 3:
            small, large = min(map(min, self.sizes)), max(map(max, self.sizes))
            shown = [f"{len(self.sizes):,} different sizes with sides from {small} to {large}"]
        return (
            f"files of {' and '.join(shown)}; read as {self.image_size}×{self.image_size} unless image_size says "
            "otherwise (the median of their short sides, 256 at the most)"
        )


def describe(name: Place, root: Place | None = None, *, layout: Layout | None = None, seed: int = 0) -> Contents:
    """Describes your own images: their classes, how many of each in each split, their sizes, and how they were read.

    No image is decoded.

    Args:
        name: the path of a folder or a table; or ``"folder"`` or ``"table"``, with ``root``.
        root: the folder or the file.
        layout: what folders are, as for :func:`load`.
        seed: what splits that are cut at random depend on.

    Returns:
        The description; :meth:`Contents.lines` gives it as text.

    Raises:
        DataNotFoundError: there is nothing there, or a file that a table names is missing.
        AmbiguousLayoutError: folders that could be splits or classes.
        ValueError: this is a data set of :func:`list_datasets`, not images of your own.
    """
    known, place = resolve(name, root)
    if not is_own(known):
        raise ValueError(f"describe is for images of your own, a folder or a table; {known} is one of list_datasets()")
    description = DATASETS[known]
    home = data_root(description, place)
    found = look(description, home, layout)
    assert found is not None
    sizes = Counter(found.sizes())
    parts: dict[str, Raw] = {}
    counts, domains, groups = dict[str, dict[str, int]](), dict[str, dict[str, int]](), dict[str, int]()
    for split, cut in found.splits.items():
        if split == "all":
            continue
        raw = parts.setdefault(
            cut.part, parts.get(cut.part) or found.reader(Request(home, cut.part, Decoding(1), seed))
        )
        rows = rows_of(raw, cut, seed, found.splits.values())
        counts[split] = Column(raw.classes, raw.labels[rows]).counts()
        if raw.domains is not None:
            domains[split] = raw.domains[rows].counts()
        if raw.clusters is not None:
            groups[split] = len(torch.unique(raw.clusters.codes[rows]))
    classes = tuple(dict.fromkeys(name for each in counts.values() for name in each))
    return Contents(
        known,
        home,
        found.layout,
        found.cut,
        classes,
        counts,
        usual_size(list(sizes.elements()), description.image_size),
        dict(sizes.most_common()),
        domains,
        groups,
        found.notes,
    )


def usual_size(sizes: Sequence[tuple[int, int]], largest: int) -> int:
    """Height and width of images that nobody gave a size for: the median of their short sides.

    All splits have one size, and a network trained on small images is not given enlarged ones.

    >>> usual_size([(30, 40), (50, 31), (400, 300)], largest=256)
    31
    """
    return min(median_low(min(size) for size in sizes), largest) if sizes else largest


def _counted(counts: Mapping[str, int]) -> str:
    """How many of each, or of how many, where they are many."""
    if len(counts) <= _LISTED:
        return ", ".join(f"{name} {count:,}" for name, count in counts.items())
    return f"from {min(counts.values()):,} to {max(counts.values()):,} of each of {len(counts):,}"
