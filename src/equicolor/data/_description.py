"""What there is to say about a data set: how it is read, cut into splits, and found."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from torch import Tensor

from equicolor._tools.images import Decoding, Fit
from equicolor.data._download import Remote
from equicolor.data._sources import Source


@dataclass(frozen=True)
class Split:
    """How a split is cut from a release: a part of it, of which some rows, of which a share, under a shift.

    Args:
        part: of the original release.
        size: how many images the split has, by the paper or the authors of the set.
        only: column → the values that a row may have there.
        share: (start, stop, of): the rows of a seeded permutation from start/of to stop/of.
        shift: a colour shift that belongs to the split.
        drawn: ranges of the embedded shapes' saturation, and of the shift of their luminance by the light.
    """

    part: str
    size: int | None = None
    only: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    share: tuple[int, int, int] | None = None
    shift: str | None = None
    drawn: Mapping[str, tuple[float, float]] = field(default_factory=dict)


@dataclass(frozen=True)
class Hub:
    """Where the Hugging Face hub has the set, in which columns, and what it calls our splits: the same by default.

    ``selects``: the hub's splits are ours already, rows need not be selected by columns.
    """

    path: str
    image: str = "image"
    label: str = "label"
    splits: Mapping[str, str] = field(default_factory=lambda: {"train": "train", "test": "test"})
    selects: bool = False


@dataclass(frozen=True)
class Request:
    """What a reader is asked for.

    Args:
        folder: where the files are.
        part: which part of the original release, such as ``"train"``.
        how: how encoded images are to be decoded.
        seed: for what a reader draws.
        drawn: the ranges of the embedded shapes' saturation and luminance shift, where they vary.
        masks: the masks for segmentation are wanted too.
    """

    folder: Path
    part: str
    how: Decoding
    seed: int = 0
    drawn: dict[str, tuple[float, float]] = field(default_factory=dict)
    masks: bool = False


@dataclass(frozen=True)
class Raw:
    """What a reader gives: images, labels ``(N,)`` int64, class names, and further columns to select rows by."""

    source: Source
    labels: Tensor
    classes: tuple[str, ...]
    columns: dict[str, Tensor] = field(default_factory=dict)
    masks: Source | None = None


@dataclass(frozen=True)
class Description:
    """A data set: how it is read, cut and found.

    Args:
        name: by which :func:`load` knows it.
        title: what it is, in a line.
        reader: reads its original format.
        splits: by name.
        image_size: height and width, where nothing else is asked for.
        folder: of its files, below the root of all data; sets that share one share what they draw for an image, too.
        signs: globs below that, of which any that matches says that the set is there. Without, it needs no files.
        layout: which files belong there, in words.
        classes: for tables that do not name them.
        grey: whether the images are.
        fit: how images of other shapes are fitted into the square.
        segmentation_size: of images and masks, where there are masks.
        original: a file below the folder that takes the place of what is embedded.
        hub: where the Hugging Face hub has it.
        remotes: where its authors publish it.
    """

    name: str
    title: str
    reader: Callable[[Request], Raw]
    splits: Mapping[str, Split]
    image_size: int
    folder: str
    signs: tuple[str, ...] = ()
    layout: str = ""
    classes: tuple[str, ...] = ()
    grey: bool = False
    fit: Fit = "crop"
    segmentation_size: int | None = None
    original: str = ""
    hub: Hub | None = None
    remotes: tuple[Remote, ...] = ()

    @property
    def source(self) -> Literal["embedded", "files"]:
        """Whether the set needs files at all."""
        return "files" if self.signs or self.name == "folder" else "embedded"
