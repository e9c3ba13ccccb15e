"""Images on the page: read with care from what was uploaded, or from the examples that come with the package."""

import hashlib
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from equicolor._tools.images import Decoding, Fit, picture, said
from equicolor._tools.optional import require
from equicolor._tools.pixels import opened, upright

#: The longer side that is kept of an image, in pixels, and the side in which it is shown.
_KEPT, _SHOWN = 1024, 256
_EXAMPLES = Path(__file__).parent / "examples"


@dataclass(frozen=True, eq=False)
class Picture:
    """An image that somebody gave.

    Attributes:
        name: that of its file, without folders.
        pixels: RGB, uint8 ``(H, W, 3)``.
        label: its class, where that is known.
    """

    name: str
    pixels: NDArray[np.uint8]
    label: str | None = None

    @cached_property
    def digest(self) -> str:
        """What tells its pixels from all others."""
        return hashlib.sha256(repr(self.pixels.shape).encode() + self.pixels.tobytes()).hexdigest()

    def tensor(self, side: int = _SHOWN, fit: Fit = "crop") -> Tensor:
        """A batch of this one image in [0, 1], ``(1, 3, side, side)``."""
        fitted = picture(self.pixels, Decoding(side, fit))
        return torch.from_numpy(fitted.copy()).permute(2, 0, 1)[None].float() / 255


def read_picture(path: str | Path, name: str | None = None, label: str | None = None) -> Picture:
    """The image in a file.

    Args:
        path: of the file.
        name: what it is called in messages and on the page; by default as the file is.
        label: its class, where that is known.

    Raises:
        ValueError: it is no image, or one that is too large; the message names it.
    """
    name = name or Path(path).name
    pil = require("PIL.Image", "reading image files")
    try:
        with opened(Path(path)) as image:
            kept = upright(image)
            kept.thumbnail((_KEPT, _KEPT), pil.Resampling.BILINEAR)
            return Picture(name, np.asarray(kept), label)
    except Exception as error:  # PIL has many ways to say: no image
        raise ValueError(f"{name} cannot be read as an image ({said(error)}). Take a PNG or JPEG file.") from None


@lru_cache(maxsize=1)
def example_pictures() -> tuple[Picture, ...]:
    """The images that come with the package: shapes in colours that its networks were trained on."""
    return tuple(
        read_picture(path, path.stem.replace("-", " "), path.stem.rpartition("-")[0])
        for path in sorted(_EXAMPLES.glob("*.png"))
    )
