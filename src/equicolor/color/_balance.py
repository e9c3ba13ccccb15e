"""Linear light, and a white balance by the oldest assumption: that on average the world is grey."""

import torch
from torch import Tensor

from equicolor.color._images import as_images, working


def srgb_to_linear(images: Tensor) -> Tensor:
    """Converts sRGB to amounts of light (IEC 61966-2-1).

    Args:
        images: values of sRGB in [0, 1].

    Returns:
        Amounts of light in [0, 1].

    Shape:
        ``(*)`` to ``(*)``.

    Example:
        >>> round(float(srgb_to_linear(torch.full((3, 1, 1), 0.5))[0]), 4)
        0.214
    """
    work = working(as_images(images))
    return torch.where(work <= 0.04045, work / 12.92, ((work.clamp(min=0.04045) + 0.055) / 1.055) ** 2.4)


def linear_to_srgb(light: Tensor) -> Tensor:
    """Converts amounts of light to sRGB: undoes :func:`srgb_to_linear`.

    Args:
        light: amounts of light in [0, 1].

    Returns:
        Values of sRGB in [0, 1].

    Shape:
        ``(*)`` to ``(*)``.

    Example:
        >>> round(float(linear_to_srgb(torch.full((3, 1, 1), 0.214))[0]), 2)
        0.5
    """
    return torch.where(light <= 0.0031308, 12.92 * light, 1.055 * light.clamp(min=0.0031308) ** (1 / 2.4) - 0.055)


def gray_world(images: Tensor) -> Tensor:
    """White balance by the grey world: scales each channel, in linear light, until all three have the same mean.

    Args:
        images: RGB in [0, 1], or uint8.

    Returns:
        The balanced images; what would be brighter than 1 is clipped. A channel that is black stays so.

    Shape:
        ``(*, 3, H, W)`` to ``(*, 3, H, W)``.

    Example:
        >>> lit = torch.rand(2, 3, 8, 8) * 0.5
        >>> means = srgb_to_linear(gray_world(lit)).mean((-2, -1))
        >>> bool((means - means[:, :1]).abs().max() < 1e-5)
        True
    """
    images = as_images(images)
    light = srgb_to_linear(images)
    means = light.mean((-2, -1), keepdim=True)
    gains = torch.where(means > 1e-6, means.mean(-3, keepdim=True) / means.clamp(min=1e-6), 1.0)
    return linear_to_srgb((light * gains).clamp(0, 1)).to(images.dtype)
