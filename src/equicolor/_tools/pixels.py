"""Image files opened with care, and pixels of any kind as RGB of 8 bits: the one place that hands files to PIL."""

import io
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equicolor._tools.optional import require

#: What a file may hold, whatever its name says. PIL knows more, and hands PostScript to another program.
FORMATS = ("BMP", "GIF", "JPEG", "PNG", "PPM", "TIFF", "WEBP")
#: The pixels of the largest image that is decoded, where the environment does not say otherwise: where PIL stops, too.
MOST_PIXELS = 178_956_970
#: What may be seen through a transparent pixel: a white page.
BACKGROUND = (255, 255, 255)

_LIMIT = "EQUICOLOR_MAX_PIXELS"
#: In TIFF files: how many bits a number has, and whether 0 is white.
_BITS, _PHOTOMETRIC, _ZERO_IS_WHITE = 258, 262, 0


class TooManyPixelsError(ValueError):
    """An image is larger than those that are decoded."""


def most_pixels() -> int:
    """The pixels of the largest image that is decoded; the environment variable EQUICOLOR_MAX_PIXELS sets another."""
    given = os.environ.get(_LIMIT)
    if not given:
        return MOST_PIXELS
    if not given.isascii() or not given.isdigit() or not int(given):
        raise ValueError(f"the environment variable {_LIMIT} is a positive number of pixels, got {given!r}")
    return int(given)


@contextmanager
def opened(source: bytes | Path) -> Iterator[Any]:
    """An image of PIL's that is not decoded yet, of one of the :data:`FORMATS`, and not too large.

    Raises:
        TooManyPixelsError: it has too many.
        ValueError: it is no image, or no regular file, which might never end.
    """
    pil = require("PIL.Image", "reading image files")
    most = most_pixels()
    if most > MOST_PIXELS and pil.MAX_IMAGE_PIXELS is not None:  # asked for, and PIL would stop earlier
        pil.MAX_IMAGE_PIXELS = max(most, pil.MAX_IMAGE_PIXELS)
    if isinstance(source, Path) and (kind := irregular(source.stat().st_mode)):
        raise ValueError(f"it is {kind}, not a regular file")
    try:
        image = pil.open(io.BytesIO(source) if isinstance(source, bytes) else source, formats=FORMATS)
    except pil.DecompressionBombError:  # far too large: PIL does not open it
        raise TooManyPixelsError(
            f"it has far more pixels than the {most:,} that are decoded; the environment variable {_LIMIT} sets "
            "another limit"
        ) from None
    except pil.UnidentifiedImageError:
        raise ValueError(f"it holds none of {', '.join(FORMATS)}") from None
    with image:
        width, height = image.size
        if width * height > most:
            raise TooManyPixelsError(
                f"it has {width:,}×{height:,} pixels, more than the {most:,} that are decoded; the environment "
                f"variable {_LIMIT} sets another limit"
            )
        yield image


def irregular(mode: int) -> str | None:
    """What a file is by its mode that is no regular file; None of one."""
    kinds = {stat.S_ISDIR: "a folder", stat.S_ISFIFO: "a named pipe", stat.S_ISSOCK: "a socket"}
    if stat.S_ISREG(mode):
        return None
    return next((kind for test, kind in kinds.items() if test(mode)), "a device")


def upright(image: Any) -> Any:
    """An opened image, decoded and turned as its EXIF tag says, in RGB."""
    require("PIL.ImageOps", "reading image files").exif_transpose(image, in_place=True)
    return rgb(image)


def rgb(image: Any) -> Any:
    """An image of PIL's as RGB of 8 bits, by the range of its own numbers, on white where it is transparent.

    Numbers of 16 bits are divided by 257, floats are in [0, 1]. An animation is its first frame.

    Raises:
        ValueError: the range is not known: floats beyond [0, 1], or not finite; whole numbers of 32 bits.
    """
    pil = require("PIL.Image", "reading image files")
    if image.mode == "F" or image.mode.startswith("I"):
        values = _eight_bits(image)
        hidden = image.info.get("transparency")
        if isinstance(hidden, int):
            values[np.asarray(image) == hidden] = BACKGROUND[0]
        return pil.fromarray(values).convert("RGB")
    if not image.has_transparency_data:
        return image.convert("RGB")
    hidden = image.info.get("transparency")
    if isinstance(hidden, tuple) and max(hidden) > 255:  # of 16 bits, of which PIL keeps the upper half
        image = image.copy()
        image.info["transparency"] = tuple(value >> 8 for value in hidden)
    image = image.convert("RGBA")
    opacity = image.getchannel("A")
    page = image.convert("RGB")
    if opacity.getextrema() != (255, 255):
        page = pil.new("RGB", image.size, BACKGROUND)
        page.paste(image, mask=opacity)
    return page


def _eight_bits(image: Any) -> NDArray[np.uint8]:
    """A grey image of larger numbers."""
    values: NDArray[Any] = np.asarray(image)
    tags = getattr(image, "tag_v2", {})  # of TIFF files
    if image.mode == "F":
        low, high = (float(np.min(values)), float(np.max(values))) if values.size else (0.0, 0.0)
        if not (np.isfinite(low) and np.isfinite(high)):
            raise ValueError("its pixels are floats, and not all of them are finite: NaN or infinity")
        if low < 0 or high > 1:
            raise ValueError(f"its pixels are floats from {low:g} to {high:g}, expected [0, 1]: scale them")
        grey: NDArray[np.uint8] = np.rint(values * 255).astype(np.uint8)
    elif image.mode.startswith("I;16") or image.format in ("PNG", "PPM"):  # whose I are 16 bits, with some versions
        bits = int(np.max(tags.get(_BITS, 16)))
        grey = (values // 257 if bits == 16 else values * 255.0 / (2**bits - 1)).astype(np.uint8)
    else:
        raise ValueError(
            f"its pixels are whole numbers of 32 bits, from {values.min()} to {values.max()}, and nothing says which "
            "of them is white: save it with 8 or 16 bits"
        )
    return np.invert(grey) if tags.get(_PHOTOMETRIC) == _ZERO_IS_WHITE else grey
