"""Tensors as pictures inside of HTML: data addresses, which need no file and no second request."""

import base64
import io

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from equicolor._tools.optional import require


def address(pixels: NDArray[np.uint8]) -> str:
    """A PNG of ``(H, W, 3)`` or ``(H, W, 4)`` as the address of a picture."""
    buffer = io.BytesIO()
    require("PIL.Image", "drawing").fromarray(pixels).save(buffer, format="png", compress_level=1)
    return f"data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode()}"


def as_pixels(image: Tensor) -> NDArray[np.uint8]:
    """An image in [0, 1], ``(3, H, W)``, as bytes ``(H, W, 3)``."""
    return (255 * image.clamp(0, 1)).round().to(torch.uint8).permute(1, 2, 0).contiguous().numpy()


def strip(maps: Tensor, low: Tensor, high: Tensor) -> NDArray[np.uint8]:
    """Feature maps ``(C, h, w)`` side by side, each on its own scale from ``low`` to ``high`` ``(C,)``, as RGBA.

    Between two of them is a pixel through which the page is seen.
    """
    scale = (high - low).clamp_min(1e-12)[:, None, None]
    shares = ((maps - low[:, None, None]) / scale).clamp(0, 1).numpy()
    colors = require("matplotlib", "drawing").colormaps["viridis"](shares, bytes=True)  # (C, h, w, 4)
    gaps = np.zeros((*colors.shape[:2], 1, 4), np.uint8)
    joined: NDArray[np.uint8] = np.concatenate([*np.concatenate([colors, gaps], axis=2)], axis=1)[:, :-1]
    return np.ascontiguousarray(joined)
