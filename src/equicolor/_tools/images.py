"""One encoded image (JPEG, PNG, …) to one uint8 tensor of a given size."""

from collections.abc import Callable
from dataclasses import dataclass
from math import isqrt
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from equicolor._tools.optional import require
from equicolor._tools.pixels import most_pixels, opened, rgb, upright

Fit: TypeAlias = Literal["crop", "stretch"]
OnError: TypeAlias = Literal["raise", "skip"]

#: What is taken for an image where a folder is given; everything else in it is left alone.
IMAGE_SUFFIXES = frozenset({".bmp", ".gif", ".jpeg", ".jpg", ".png", ".ppm", ".tif", ".tiff", ".webp"})

#: Images that become floats together.
_ROWS_AT_ONCE = 4096
#: How many times as long as wide an image may be that is scaled whole. What is longer is cut before it is scaled.
LONGEST = 8


class CorruptImageError(ValueError):
    """Raised where a file that should hold an image cannot be read; the message names it."""


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
        if self.size**2 > most_pixels():
            raise ValueError(
                f"image_size must be at most {isqrt(most_pixels()):,} pixels, of images that fit into memory, got "
                f"{self.size:,}"
            )
        if self.fit not in ("crop", "stretch"):
            raise ValueError(f"fit must be 'crop' or 'stretch', got {self.fit!r}")
        if self.on_error not in ("raise", "skip"):
            raise ValueError(f"on_error must be 'raise' or 'skip', got {self.on_error!r}")


def decode(data: bytes | Path, how: Decoding, name: Callable[[], str]) -> NDArray[np.uint8]:
    """Decodes an image.

    Args:
        data: the encoded image, or the path of a file.
        how: the size wanted, and how the image is fitted into it.
        name: gives what to call the image in messages.

    Returns:
        RGB, uint8 ``(size, size, 3)``.

    Raises:
        CorruptImageError: the data is no image or ends too early; the message names it.
    """
    pil = require("PIL.Image", "reading image files")
    try:
        with opened(data) as image:
            pixels = fitted(upright(image), how, pil.Resampling.BILINEAR)
    except FileNotFoundError:
        raise CorruptImageError(f"{name()} is listed by the data set, but there is no such file") from None
    except Exception as error:  # PIL has many ways to say: no image
        raise CorruptImageError(
            f"{name()} cannot be read as an image ({said(error)}). Replace it, or pass on_error='skip' to go on "
            "without it."
        ) from error
    return np.asarray(pixels)


def said(error: BaseException) -> str:
    """What is wrong with an image: the message of an error, or its kind where it has none."""
    return str(error) or type(error).__name__


def sides(data: bytes | Path) -> tuple[int, int] | None:
    """Width and height of an encoded image, from its first bytes; None of one that cannot be read."""
    require("PIL.Image", "reading image files")
    try:
        with opened(data) as image:
            return int(image.size[0]), int(image.size[1])
    except Exception:  # as above
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
    return np.asarray(fitted(rgb(image), how, pil.Resampling.BILINEAR))


def fitted(image: Any, how: Decoding, resample: Any) -> Any:
    """A PIL image brought to the size asked for; untouched where it has that size already."""
    width, height = image.size
    if how.fit == "stretch":
        if width < how.size and height > LONGEST * how.size:  # PIL would first make it wide, in its full height
            image = image.resize((width, how.size), resample)
        return image if image.size == (how.size, how.size) else image.resize((how.size, how.size), resample)
    short = min(width, height)
    if max(width, height) > LONGEST * short:
        image = _middle(image, *(min(side, LONGEST * short + side % 2) for side in (width, height)))
        width, height = image.size
    if short != how.size:
        scaled = tuple(max(how.size, round(side * how.size / short)) for side in (width, height))
        image = image.resize(scaled, resample)
    return image if image.size == (how.size, how.size) else _middle(image, how.size, how.size)


def _middle(image: Any, width: int, height: int) -> Any:
    left, top = (image.width - width) // 2, (image.height - height) // 2
    return image.crop((left, top, left + width, top + height))


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
