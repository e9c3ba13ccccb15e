"""What there is to say about a data set: how it is read, cut into splits, and found."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from equicolor.data._download import Remote
from equicolor.data._images import Fit


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
    """Where the Hugging Face hub has the set, in which columns, and what it calls our splits.

    ``selects``: the hub's splits are ours already, rows need not be selected by columns.
    """

    path: str
    image: str = "image"
    label: str = "label"
    splits: Mapping[str, str] = field(default_factory=dict)
    selects: bool = False


@dataclass(frozen=True)
class Description:
    """A data set: how it is read, cut and found."""

    name: str
    title: str
    reader: str  # module:function below _readers
    splits: Mapping[str, Split]
    image_size: int
    folder: str  # below the data root
    signs: tuple[str, ...] = ()  # any of these below the folder: the set is there
    layout: str = ""  # which files belong there
    classes: tuple[str, ...] = ()  # for tables that do not name them
    grey: bool = False
    fit: Fit = "crop"
    segmentation_size: int | None = None  # of the images and masks, where there are masks
    original: str = ""  # below the folder: a file that takes the place of what is embedded
    hub: Hub | None = None
    remotes: tuple[Remote, ...] = ()

    @property
    def source(self) -> Literal["embedded", "files"]:
        """Whether the set needs files at all."""
        return "files" if self.signs or self.name == "folder" else "embedded"
