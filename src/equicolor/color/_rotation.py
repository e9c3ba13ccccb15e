"""CEConv's hue shift: a rotation of RGB about the grey axis. The baseline's, not a colour move to use."""

import math

import torch
from torch import Tensor

from equicolor.color._images import as_images, working


def rotate_rgb(images: Tensor, degrees: float, clamp: bool = True) -> Tensor:
    """CEConv's hue shift: turns RGB about the axis (1, 1, 1), then clamps it back into the cube.

    It agrees with :func:`shift_hue` on multiples of 120° only; elsewhere the turned cube leaves the cube, and what is
    clamped is lost. The baseline of the paper's comparisons, not a colour move to use.

    Args:
        images: RGB in [0, 1].
        degrees: the angle.
        clamp: whether to clamp the result to [0, 1].

    Returns:
        The turned images.

    Shape:
        ``(*, 3, H, W)`` to ``(*, 3, H, W)``.

    Example:
        >>> rotate_rgb(torch.tensor([1.0, 0.0, 0.0]).view(3, 1, 1), 120).flatten().tolist()
        [0.0, 1.0, 0.0]
    """
    images = as_images(images)
    work = working(images)
    matrix = torch.tensor(rgb_rotation(degrees), dtype=work.dtype, device=work.device)
    turned = torch.einsum("ij,...jhw->...ihw", matrix, work)
    return (turned.clamp(0, 1) if clamp else turned).to(images.dtype)


def rgb_rotation(degrees: float) -> list[list[float]]:
    """The 3×3 matrix that turns RGB about the grey axis; exact on multiples of 120°.

    Args:
        degrees: the angle.

    Returns:
        The rows of the matrix.

    Example:
        >>> rgb_rotation(120)
        [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    """
    if degrees % 120 == 0:
        thirds = int(degrees // 120) % 3
        return [[float((row - column) % 3 == thirds) for column in range(3)] for row in range(3)]
    # Rodrigues' formula about (1, 1, 1)/√3: the matrix is circulant.
    cosine, sine = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    a = cosine + (1 - cosine) / 3
    b = (1 - cosine) / 3 - sine / math.sqrt(3)
    c = (1 - cosine) / 3 + sine / math.sqrt(3)
    return [[a, b, c], [c, a, b], [b, c, a]]
