"""The original formats of the data sets, one file each: a folder on disk to images and labels."""

from dataclasses import dataclass, field
from pathlib import Path

from torch import Tensor

from equicolor.data._images import Decoding
from equicolor.data._sources import Source


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
