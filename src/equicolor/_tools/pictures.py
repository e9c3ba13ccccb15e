"""Pictures: figures to draw in, and sheets of thumbnails. Each is returned, not shown."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from equicolor._tools.optional import require

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from PIL.Image import Image

#: Sides in pixels; a sheet of few images is narrower.
_THUMBNAIL, _SHEET = 64, 1600
_INK, _PALE = (40, 40, 40), (140, 140, 140)


def new_figure(width: float, height: float) -> "Figure":
    """A figure of this size in inches."""
    # Not through pyplot: no window, no state, no matter which backend is set.
    figure: Figure = require("matplotlib.figure", "drawing").Figure(figsize=(width, height), layout="constrained")
    return figure


def contact_sheet(images: Tensor, sections: Sequence[tuple[str, Sequence[int]]]) -> "Image":
    """Thumbnails in rows, one section below the other, each with its heading at the left.

    Args:
        images: uint8 ``(N, 3, S, S)``.
        sections: heading → which images, in their order.
    """
    pil = require("PIL.Image", "drawing")
    draw = require("PIL.ImageDraw", "drawing")
    font = require("PIL.ImageFont", "drawing").load_default(14)
    sections = [(heading, members) for heading, members in sections if len(members)]
    # As many columns as give the sheet a shape of about 3:2, within the width.
    side, gap, margin = _THUMBNAIL, 2, 90
    total = sum(len(members) for _, members in sections)
    columns = max(1, min((_SHEET - margin) // (side + gap), max(8, math.ceil(math.sqrt(1.5 * total)))))
    rows = [math.ceil(len(members) / columns) for _, members in sections]
    height = sum(rows) * (side + gap) + 3 * gap * (len(sections) + 1)
    sheet: Image = pil.new("RGB", (margin + columns * (side + gap) + gap, height), "white")
    pen = draw.Draw(sheet)
    top = 3 * gap
    for (heading, members), count in zip(sections, rows, strict=True):
        pen.text((8, top + 4), heading, fill=_INK, font=font)
        pen.text((8, top + 22), f"{len(members):,}", fill=_PALE, font=font)
        for place, index in enumerate(members):
            row, column = divmod(place, columns)
            thumbnail = pil.fromarray(_thumbnail(images[index], side))
            sheet.paste(thumbnail, (margin + column * (side + gap), top + row * (side + gap)))
        top += count * (side + gap) + 3 * gap
    return sheet


def _thumbnail(image: Tensor, side: int) -> "np.ndarray[tuple[int, ...], np.dtype[np.uint8]]":
    if image.shape[-1] != side:
        mode = "area" if image.shape[-1] > side else "nearest"
        image = F.interpolate(image[None].float(), (side, side), mode=mode)[0].round().to(torch.uint8)
    return image.permute(1, 2, 0).contiguous().numpy()
