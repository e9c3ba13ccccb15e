"""Shapes: our own rendering of the 3D Shapes factors, with saturation and lighting as two more.

480,000 images of a room with one object, in the order of the original data set (Burgess and Kim, 2018): 10 floor hues ×
10 wall hues × 10 object hues × 8 scales × 4 shapes × 15 orientations, the last fastest. Nothing is downloaded.

A pixel knows how much of it is floor, wall and object (the rest is a grey sky) and its luminance ``l``. Its colour is
that of HSL: with ``p`` the pure hues of the three surfaces (smallest channel 0, largest 1) mixed by how much of the
pixel they cover, and grey for the sky,

    rgb = l + saturation · min(2l, 2 - 2l) · (p - 1/2),        l → k·l / (1 + (k - 1)·l) for lighting k.

So shading and highlights move the luminance and never the hue; the saturation factor is the HSL saturation of every
coloured surface; and lighting k is ``color.shift_luminance`` by log k, which scales dark colours by k, fixes black and
white and clips nothing. Ten hues are 36° apart, which makes every channel of ``p`` a multiple of 1/5: they are composed
in integers, and the same index is the same pixels on every machine (see ``_geometry`` for the rest of that).
"""

from functools import lru_cache
from os import PathLike
from pathlib import Path
from typing import TypeAlias

import torch
from torch import Tensor

from equicolor.color import hsl_to_rgb
from equicolor.data.shapes import _cache
from equicolor.data.shapes._factors import FACTORS, GEOMETRIES, SIZE, Numbers, as_indices, to_factors
from equicolor.data.shapes._geometry import RAYS, WHITE

Amount: TypeAlias = float | Tensor

_HUES = FACTORS["floor_hue"]
_LIMITS = {"saturation": (0.0, 1.0), "lighting": (1e-3, 1e3)}
#: Few enough that what is between two steps of the composition stays in the processor's cache.
_PIXELS_AT_ONCE = 2**16


class Shapes:
    """A renderer of the 480,000 images of 3D Shapes, at any size.

    Args:
        image_size: the side of an image in pixels; 64 in the original.
        saturation: the HSL saturation of floor, wall and object, from 0 to 1, which is the look of the original.
        lighting: how much light there is; 1 is the look of the original, 1/2 dims and 2 brightens. From 0.001 to 1000.
        cache: where the geometry is kept between processes: ``True`` for the user's cache directory, a directory, or
            ``False`` for memory only.

    Example:
        >>> Shapes(image_size=8, cache=False).render([0, 1234, 479_999]).shape
        torch.Size([3, 3, 8, 8])
    """

    def __init__(
        self,
        image_size: int = 64,
        saturation: float = 1.0,
        lighting: float = 1.0,
        cache: bool | str | PathLike[str] = True,
    ) -> None:
        if isinstance(image_size, bool) or not isinstance(image_size, int) or image_size < 1:
            raise ValueError(f"expected image_size as a positive number of pixels, got {image_size!r}")
        self.image_size = image_size
        self.saturation = float(_checked_amount("saturation", saturation, 1))
        self.lighting = float(_checked_amount("lighting", lighting, 1))
        if isinstance(cache, bool):
            self._directory = _cache.default_directory() if cache else None
        else:
            self._directory = Path(cache)

    def __len__(self) -> int:
        return SIZE

    def __getitem__(self, index: int) -> Tensor:
        """One image, uint8 ``[3, S, S]``."""
        return self.render([index])[0]

    def render(self, indices: Numbers, saturation: Amount | None = None, lighting: Amount | None = None) -> Tensor:
        """Renders images.

        Args:
            indices: which images: their indices ``[B]``, or their factors ``[B, 6]``.
            saturation: one for all images or a tensor of one for each; by default that of this renderer.
            lighting: one for all images or a tensor of one for each; by default that of this renderer.

        Returns:
            RGB images, uint8 ``[B, 3, S, S]``.
        """
        indices = as_indices(indices)
        count, size = len(indices), self.image_size
        saturations = _checked_amount("saturation", self.saturation if saturation is None else saturation, count)
        lightings = _checked_amount("lighting", self.lighting if lighting is None else lighting, count)
        coverage, luminance = _geometry(size, self._directory)
        hues = _PURE_HUES[to_factors(indices)[:, :3]]  # [B, surface, channel]
        variants = indices % GEOMETRIES
        images = torch.empty(count, 3, size, size, dtype=torch.uint8, device="cpu")
        step = max(1, _PIXELS_AT_ONCE // size**2)
        for start in range(0, count, step):
            chunk = slice(start, start + step)
            variant = variants[chunk]
            images[chunk] = _compose(
                coverage[variant], luminance[variant], hues[chunk], saturations[chunk], lightings[chunk]
            )
        return images

    def coverage(self, indices: Numbers) -> Tensor:
        """Computes how much of each pixel is floor, wall, object and sky.

        Args:
            indices: which images: their indices ``[B]``, or their factors ``[B, 6]``.

        Returns:
            The shares, ``[B, 4, S, S]``; they add up to 1.

        Example:
            >>> Shapes(image_size=8, cache=False).coverage([0]).sum(1).unique()
            tensor([1.])
        """
        rays = _geometry(self.image_size, self._directory)[0][as_indices(indices) % GEOMETRIES]
        sky = RAYS - rays.sum(1, keepdim=True, dtype=torch.long)
        return torch.cat([rays, sky], dim=1) / RAYS


# ------------------------------------------------------------------------------------------------ composition


def _compose(coverage: Tensor, luminance: Tensor, hues: Tensor, saturation: Tensor, lighting: Tensor) -> Tensor:
    """The formula at the head of this file, uint8 ``[B, 3, S, S]``.

    What floats there are pass one elementwise operation at a time, each rounded as IEEE 754 says, into integers.
    """
    light, saturation = lighting.view(-1, 1, 1), saturation.view(-1, 1, 1)
    exposed = light * luminance / (1 + (light - 1) * (luminance / WHITE))
    lit = exposed.round().to(torch.int32)
    reach = torch.minimum(lit, WHITE - lit)
    # Counted in 1/256 of a pixel's steps, 16 times finer than luminance; 2·16/10 as hues are 10·(p - 1/2).
    chroma = (saturation * reach * 3.2).round().to(torch.int32)
    floor, wall, thing = (coverage[:, k, None].to(torch.int16) * hues[:, k, :, None, None] for k in range(3))
    mixed = (floor + wall + thing) * chroma[:, None]  # int16, at most 5·RAYS, times int32
    total = mixed + (16 * RAYS * lit + 128 * RAYS)[:, None]  # half a step more, to round
    return (total // (256 * RAYS)).to(torch.uint8)


def _pure_hues() -> Tensor:
    """10·(p - 1/2) for the ten hues, whole numbers from -5 to 5, int16 ``[10, 3]``."""
    degrees = torch.arange(_HUES, dtype=torch.float64, device="cpu") * (360 / _HUES)
    hsl = torch.stack([degrees, torch.ones_like(degrees), torch.full_like(degrees, 0.5)], dim=1)
    return (10 * hsl_to_rgb(hsl[:, :, None, None])[:, :, 0, 0] - 5).round().to(torch.int16)


_PURE_HUES = _pure_hues()


@lru_cache(maxsize=4)
def _geometry(image_size: int, directory: Path | None) -> tuple[Tensor, Tensor]:
    coverage, luminance = _cache.geometry(image_size, directory)
    return torch.from_numpy(coverage), torch.from_numpy(luminance)


# ------------------------------------------------------------------------------------------------ checks


def _checked_amount(what: str, amount: Amount, count: int) -> Tensor:
    """One saturation or lighting for each of ``count`` images, float32."""
    values = torch.as_tensor(amount, dtype=torch.float32, device="cpu")
    if values.dim() and tuple(values.shape) != (count,):
        raise ValueError(f"expected one {what}, or one for each of {count} images; got shape {tuple(values.shape)}")
    low, high = _LIMITS[what]
    good = (values >= low) & (values <= high)
    if not good.all():
        raise ValueError(f"expected {what} from {low:g} to {high:g}, got {float(values[~good].flatten()[0])}")
    return values.expand(count)
