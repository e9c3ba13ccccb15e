"""What there is to say about a data set: how it is read, cut into splits, and found."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from torch import Tensor

from equicolor._tools.images import Decoding, Fit
from equicolor._tools.renamed import renamed
from equicolor.data._column import Column
from equicolor.data._download import Remote
from equicolor.data._sources import Source

#: What the folders of a user are: ``split/class/image``, or ``class/image``.
Layout: TypeAlias = Literal["splits", "classes"]


@dataclass(frozen=True)
class Split:
    """A split of a data set: a part of its release, some rows of that, a share of these, under a shift.

    Args:
        part: the part of the original release that it is in.
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
    """Where a data set is on the Hugging Face hub.

    ``selects``: the hub's splits are ours already, rows need not be selected by columns.

    Args:
        path: the name of the set there.
        image: the column of images.
        label: the column of labels.
        splits: our splits to those of the hub; by default they have the same names.
        selects: whether the hub's splits are ours already, so that rows need not be selected by columns.
    """

    path: str
    image: str = "image"
    label: str = "label"
    splits: Mapping[str, str] = field(default_factory=lambda: {"train": "train", "test": "test"})
    selects: bool = False


@dataclass(frozen=True)
class Request:
    """What the reader of a data set is asked for.

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
    """What the reader of a data set returns.

    Args:
        source: the images.
        labels: ``(N,)`` int64.
        classes: their names.
        columns: further numbers of each image, to select rows by.
        masks: for segmentation.
        domains: where each image is from (a lab, a camera, a stain), by which results are told apart.
        clusters: which images belong together (a slide, a patient): no random split cuts one, and intervals are over
            these.
    """

    source: Source
    labels: Tensor
    classes: tuple[str, ...]
    columns: dict[str, Tensor] = field(default_factory=dict)
    masks: Source | None = None
    domains: Column | None = None
    clusters: Column | None = None


@dataclass(frozen=True)
class Found:
    """What a look at a user's own files found; no image is decoded.

    Args:
        splits: those there are, ``"all"`` of them together among them.
        reader: reads them.
        sizes: (width, height) of a sample of the images.
        layout: how the files were read, in words.
        cut: who made the splits: they are ``"given"`` by the files, or a ``"random"`` cut by the seed.
        notes: what a user should know before the numbers come.
    """

    splits: Mapping[str, Split]
    reader: Callable[[Request], Raw]
    sizes: Callable[[], Sequence[tuple[int, int]]]
    layout: str
    cut: Literal["given", "random"]
    notes: tuple[str, ...] = ()


@renamed(grey="gray")
@dataclass(frozen=True)
class Description:
    """A data set: how it is read, cut and found.

    Args:
        name: the name by which :func:`load` knows it.
        title: what it is, in a line.
        reader: reads its original format.
        splits: by name.
        image_size: height and width, where nothing else is asked for.
        folder: the folder of its files, below the root of all data; sets that share one share what they draw for an
            image, too.
        signs: globs below that, of which any that matches says that the set is there. Without, it needs no files.
        layout: which files belong there, in words.
        classes: for tables that do not name them.
        gray: whether the images have no colour.
        fit: how images of other shapes are fitted into the square.
        segmentation_size: height and width of images and masks, where there are masks.
        original: a file below the folder that takes the place of what is embedded.
        hub: where the Hugging Face hub has it.
        remotes: where its authors publish it.
        look: finds out what files of the user's own are, at the root given, instead of all of the above.
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
    gray: bool = False
    fit: Fit = "crop"
    segmentation_size: int | None = None
    original: str = ""
    hub: Hub | None = None
    remotes: tuple[Remote, ...] = ()
    look: Callable[[Path, Layout | None], Found] | None = None

    @property
    def source(self) -> Literal["embedded", "files"]:
        """Whether the set is embedded, or needs files."""
        return "files" if self.signs or self.look else "embedded"
