"""Colour normalisation: what is done to each image by itself so that all of them have the same colours.

Three ways, by name: the grey world, Reinhard's means and deviations, Macenko's dyes. The last two are meant for stained
tissue and cells. Pixels that are *dark*, the brightest of their channels below 0.2, tell nothing about dyes: they are
what is left around cells that were cut out. They count in no statistic, and stay as they are.
"""

from collections.abc import Callable
from typing import Literal, TypeAlias, get_args

import torch
from torch import Tensor

from equicolor.color._balance import gray_world, linear_to_srgb, srgb_to_linear
from equicolor.color._images import as_images, check_choice, working
from equicolor.color._macenko import reference_stains
from equicolor.color._stain import inverse

#: Ways to normalise colours, by name.
ColorNormalization: TypeAlias = Literal["gray-world", "reinhard", "macenko"]
#: All of them.
COLOR_NORMALIZATIONS: tuple[ColorNormalization, ...] = get_args(ColorNormalization)

#: Means and deviations of L*, a* and b* after :func:`reinhard`: a pale purple, with room for darker and lighter.
REINHARD_TARGET = ((70.0, 15.0, -10.0), (10.0, 6.0, 6.0))
#: Below this, in its brightest channel, a pixel is dark.
_DARK = 0.2
#: Of a deviation in CIELAB: what varies by less looks like one colour, and its noise is not blown up further.
_LEAST_DEVIATION = 0.25
#: From linear sRGB to CIE XYZ, each divided by the white of D65 (IEC 61966-2-1).
_XYZ = (
    (0.4124 / 0.9505, 0.3576 / 0.9505, 0.1805 / 0.9505),
    (0.2126, 0.7152, 0.0722),
    (0.0193 / 1.0890, 0.1192 / 1.0890, 0.9505 / 1.0890),
)


def normalize_color(images: Tensor, how: ColorNormalization) -> Tensor:
    """Images in the same colours, by the name of the way.

    Args:
        images: RGB in [0, 1], or uint8.
        how: ``"gray-world"``, ``"reinhard"`` or ``"macenko"``: :func:`gray_world`, :func:`reinhard`, :func:`macenko`.

    Returns:
        Images in the same colours, in [0, 1].

    Raises:
        ValueError: there is no such way.

    Shape:
        ``(*, 3, H, W)`` to ``(*, 3, H, W)``.

    Example:
        >>> images = torch.rand(2, 3, 8, 8)
        >>> torch.equal(normalize_color(images, "reinhard"), reinhard(images))
        True
    """
    check_color_normalization(how)
    return _WAYS[how](images)


def check_color_normalization(how: str) -> None:
    """Checks that a colour normalisation has a known name.

    Args:
        how: the name, as :func:`normalize_color` takes it.

    Raises:
        ValueError: there is no such normalisation.
    """
    check_choice("colour normalisation", how, COLOR_NORMALIZATIONS)


def reinhard(images: Tensor) -> Tensor:
    """Colour transfer by means and deviations: in CIELAB (D65), those of each image become those of a fixed target.

    After Reinhard, Ashikhmin, Gooch and Shirley, "Color transfer between images" (2001), in the space that is usual for
    stained tissue. The target is ``REINHARD_TARGET``: L*, a* and b* have means of 70, 15 and -10 and deviations of 10,
    6 and 6. An image of one colour becomes one of the mean; a deviation below 0.25 counts as 0.25. Dark pixels, the
    brightest of their channels below 0.2, do not count and stay as they are.

    Args:
        images: RGB in [0, 1], or uint8.

    Returns:
        Images in the same colours; what is out of range is clipped.

    Shape:
        ``(*, 3, H, W)`` to ``(*, 3, H, W)``.

    Example:
        >>> blue, pink = torch.tensor([0.6, 0.6, 0.8]), torch.tensor([0.9, 0.5, 0.6])
        >>> cells = torch.stack([blue, pink])[..., None, None] + 0.05 * torch.randn(2, 1, 16, 16)
        >>> before, after = (each.mean((-2, -1)).diff(dim=0).abs().max() for each in (cells, reinhard(cells)))
        >>> bool(after < before / 10)
        True
    """
    images = as_images(images)
    work = working(images)
    bright = _bright(work)
    lab = _to_lab(work)
    count = bright.sum((-2, -1), keepdim=True, dtype=work.dtype).clamp(min=1)
    mean = torch.where(bright, lab, 0.0).sum((-2, -1), keepdim=True) / count
    rest = lab - mean
    deviation = (torch.where(bright, rest * rest, 0.0).sum((-2, -1), keepdim=True) / count).sqrt()
    means, deviations = (work.new_tensor(those).view(3, 1, 1) for those in REINHARD_TARGET)
    moved = _from_lab(rest * (deviations / deviation.clamp(min=_LEAST_DEVIATION)) + means)
    return torch.where(bright, moved, work).to(images.dtype)


def macenko(images: Tensor) -> Tensor:
    """Stain normalisation: the two dyes of each image are found, and replaced by two fixed ones, in fixed amounts.

    After Macenko et al., "A method for normalizing histology slides for quantitative analysis" (2009). The optical
    densities of coloured pixels lie about a plane; the directions in it that 1 % of them lie beyond, to either side,
    are the dyes. Densities are written in them, the 99th percentile of each becomes that of the reference, and the
    mixture is made of the dyes of the reference: haematoxylin and eosin, as they are usual for this method. The light
    behind the slide is 240/255, and a pixel is coloured where the mean of its densities is 0.15 or more.

    An image without two dyes stays as it is: where less than a sixteenth of the pixels are coloured, where their
    densities lie on no plane, as in an image of one colour, or where the two directions cannot be told apart. Dark
    pixels, the brightest of their channels below 0.2, do not count and stay as they are.

    Args:
        images: RGB in [0, 1], or uint8.

    Returns:
        Images in the same colours; what is out of range is clipped.

    Shape:
        ``(*, 3, H, W)`` to ``(*, 3, H, W)``.

    Example:
        >>> white = torch.ones(1, 3, 8, 8)
        >>> torch.equal(macenko(white), white)
        True
    """
    images = as_images(images)
    work = working(images)
    bright = _bright(work)
    moved, found = reference_stains(work, bright)
    return torch.where(bright & found, moved, work).to(images.dtype)


_WAYS: dict[str, Callable[[Tensor], Tensor]] = {"gray-world": gray_world, "reinhard": reinhard, "macenko": macenko}


def _bright(images: Tensor) -> Tensor:
    return images.amax(-3, keepdim=True) >= _DARK


def _to_lab(images: Tensor) -> Tensor:
    """RGB in [0, 1] as L* in [0, 100], a* and b*."""
    ratios = torch.einsum("kc,...chw->...khw", images.new_tensor(_XYZ), srgb_to_linear(images))
    x, y, z = torch.where(
        ratios > (6 / 29) ** 3, ratios.clamp(min=(6 / 29) ** 3) ** (1 / 3), ratios * (29 / 6) ** 2 / 3 + 4 / 29
    ).unbind(-3)
    return torch.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], -3)


def _from_lab(lab: Tensor) -> Tensor:
    """RGB in [0, 1] of L*, a* and b*; colours that RGB does not have are clipped."""
    light, a, b = lab.unbind(-3)
    y = (light + 16) / 116
    roots = torch.stack([y + a / 500, y, y - b / 200], -3)
    ratios = torch.where(roots > 6 / 29, roots**3, 3 * (6 / 29) ** 2 * (roots - 4 / 29))
    linear = torch.einsum("ck,...khw->...chw", lab.new_tensor(inverse(_XYZ)), ratios)
    return linear_to_srgb(linear.clamp(0, 1))
