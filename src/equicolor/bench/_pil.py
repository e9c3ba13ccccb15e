"""The usual way to move colours, to compare with: 8-bit PIL images, one at a time."""

from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from equicolor._tools.optional import require

Bytes = npt.NDArray[np.uint8]


def turned_hues(image: Any, order: int) -> Tensor:
    """A PIL image under every turn of hue by 360°/order, through 8-bit HSV: ``(order, 3, H, W)`` in [0, 1]."""
    pil = require("PIL.Image", "comparing with PIL")
    hue, saturation, value = image.convert("HSV").split()
    angles = np.asarray(hue)
    turned = []
    for element in range(order):
        moved = pil.fromarray(angles + np.uint8(256 * element // order))  # wraps around
        rgb = np.array(pil.merge("HSV", (moved, saturation, value)).convert("RGB"))
        turned.append(torch.from_numpy(rgb).permute(2, 0, 1).float() / 255)
    return torch.stack(turned)


def lift(images: Tensor, order: int) -> Tensor:
    """Images in [0, 1] lifted one by one: ``(B, 3, H, W)`` to ``(B, order, 3, H, W)``."""
    pil = require("PIL.Image", "comparing with PIL")
    pixels = (images.permute(0, 2, 3, 1) * 255).to(torch.uint8).numpy()
    return torch.stack([turned_hues(pil.fromarray(each), order) for each in pixels])


def cropped_and_flipped(pixels: Bytes, random: np.random.Generator, padding: int = 4) -> Any:
    """A PIL image of the same size cut out of the padded one, and mirrored half of the time."""
    pil = require("PIL.Image", "comparing with PIL")
    height, width = pixels.shape[:2]
    padded = pil.new("RGB", (width + 2 * padding, height + 2 * padding))
    padded.paste(pil.fromarray(pixels), (padding, padding))
    left, top = (int(random.integers(2 * padding + 1)) for _ in range(2))
    image = padded.crop((left, top, left + width, top + height))
    return image.transpose(pil.Transpose.FLIP_LEFT_RIGHT) if random.random() < 0.5 else image
