"""One encoded image (JPEG, PNG, …) to one uint8 tensor of a given size."""

import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from equicolor._tools.optional import require

Fit: TypeAlias = Literal["crop", "stretch"]
OnError: TypeAlias = Literal["raise", "skip"]

#: What is taken for an image where a folder is given; everything else in it is left alone.
IMAGE_SUFFIXES = frozenset({".bmp", ".gif", ".jpeg", ".jpg", ".png", ".ppm", ".tif", ".tiff", ".webp"})


#: Images that become floats together.
_ROWS_AT_ONCE = 4096


class CorruptImageError(ValueError):
    """A file that should hold an image cannot be read. The message names it."""


@dataclass(frozen=True)
class Decoding:
    """How encoded images become tensors.

    Args:
        size: height and width of the result.
        fit: ``"crop"`` scales the short side to ``size`` and cuts out the centre; ``"stretch"`` scales both sides.
        on_error: what to do with an image that cannot be read: ``"raise"`` an error that names it, or ``"skip"`` it.
    """

    size: int
    fit: Fit = "crop"
    on_error: OnError = "raise"

    def __post_init__(self) -> None:
        if self.size < 1:
            raise ValueError(f"image_size must be a positive number of pixels, got {self.size}")
        if self.fit not in ("crop", "stretch"):
            raise ValueError(f"fit must be 'crop' or 'stretch', got {self.fit!r}")
        if self.on_error not in ("raise", "skip"):
            raise ValueError(f"on_error must be 'raise' or 'skip', got {self.on_error!r}")


def decode(data: bytes | Path, how: Decoding, name: Callable[[], str]) -> NDArray[np.uint8]:
    """An RGB image ``(size, size, 3)``, uint8.

    Raises:
        CorruptImageError: naming the file, where the data is no image or ends too early.
    """
    pil, operations = (require(f"PIL.{part}", "reading image files") for part in ("Image", "ImageOps"))
    try:
        with pil.open(io.BytesIO(data) if isinstance(data, bytes) else data) as opened:
            image = _rgb(operations.exif_transpose(opened), pil)
    except FileNotFoundError:
        raise CorruptImageError(f"{name()} is listed by the data set, but there is no such file") from None
    except (OSError, SyntaxError, ValueError, pil.DecompressionBombError) as error:  # PIL's ways to say: no image
        raise CorruptImageError(
            f"{name()} cannot be read as an image ({error}). Replace it, or pass on_error='skip' to go on without it."
        ) from error
    return np.asarray(fitted(image, how, pil.Resampling.BILINEAR))


def short_side(path: Path) -> int | None:
    """Of an image file, from its first bytes; None of one that cannot be read."""
    pil = require("PIL.Image", "reading image files")
    try:
        with pil.open(path) as opened:
            return int(min(opened.size))
    except (OSError, SyntaxError, ValueError, pil.DecompressionBombError):
        return None


def picture(image: Any, how: Decoding) -> NDArray[np.uint8]:
    """The same of an image of PIL's, or of an array of bytes ``(H, W, 3)`` or ``(H, W)``."""
    pil = require("PIL.Image", "preparing images")
    if isinstance(image, np.ndarray):
        if image.dtype != np.uint8 or image.ndim not in (2, 3) or (image.ndim == 3 and image.shape[2] not in (1, 3, 4)):
            raise ValueError(
                f"expected an array of uint8 (H, W, 3), got {image.dtype} of shape {image.shape}. Floats in [0, 1] and "
                "channels first: torch.from_numpy(array)"
            )
        image = pil.fromarray(image.squeeze(2) if image.shape[2:] == (1,) else image)
    if not isinstance(image, pil.Image):
        raise TypeError(
            f"expected an image: a path, a tensor, an array or an image of PIL's, or a list of them, got "
            f"{type(image).__name__}"
        )
    return np.asarray(fitted(_rgb(image, pil), how, pil.Resampling.BILINEAR))


def _rgb(image: Any, pil: Any) -> Any:
    """A PIL image as RGB; grey values of 16 bits are scaled to 8, where PIL would cut them off at 255."""
    if image.mode.startswith("I;16"):
        image = pil.fromarray((np.asarray(image) // 257).astype(np.uint8))
    return image.convert("RGB")


def fitted(image: Any, how: Decoding, resample: Any) -> Any:
    """A PIL image brought to the size asked for; untouched where it has that size already."""
    width, height = image.size
    if how.fit == "stretch":
        return image if image.size == (how.size, how.size) else image.resize((how.size, how.size), resample)
    short = min(width, height)
    if short != how.size:
        scaled = tuple(max(how.size, round(side * how.size / short)) for side in (width, height))
        image = image.resize(scaled, resample)
    if image.size == (how.size, how.size):
        return image
    left, top = ((side - how.size) // 2 for side in image.size)
    return image.crop((left, top, left + how.size, top + how.size))


def resized(images: Tensor, size: int) -> Tensor:
    """uint8 images ``(N, C, H, W)`` brought to ``(N, C, size, size)``: means of blocks where those fit, else bilinear.

    >>> resized(torch.tensor([[[[0, 10], [20, 30]]]], dtype=torch.uint8), 1).item()
    15
    """
    height, width = images.shape[-2:]
    if height == width == size:
        return images
    smaller = torch.empty(*images.shape[:2], size, size, dtype=torch.uint8)
    exact = height % size == 0 and width % size == 0
    for start in range(0, len(images), _ROWS_AT_ONCE):
        some = images[start : start + _ROWS_AT_ONCE].float()
        if exact:
            some = F.interpolate(some, (size, size), mode="area")
        else:
            some = F.interpolate(some, (size, size), mode="bilinear", antialias=True)
        smaller[start : start + _ROWS_AT_ONCE] = some.round().clamp(0, 255).to(torch.uint8)
    return smaller
