"""Images of any size fitted into a square, by tensors alone: what PIL does to a file, for the inside of a graph.

Scaling is linear and acts on rows and columns apart, so each is a product with a matrix, whose entry (i, j) says how
much of pixel j goes into pixel i of the result: by the triangle that PIL, and PyTorch's ``antialias``, weigh neighbours
with. The sizes are tensors here, not numbers, so that a graph asks for them anew with every image.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from equicolor._tools.images import LONGEST, Fit


class _Axis(NamedTuple):
    """How a side of an image becomes a side of a square.

    Attributes:
        length: its pixels.
        kept: so many of them, from the middle, are scaled; a tensor without dimensions, as the next.
        scaled: to so many, of which the middle remains.
    """

    length: int
    kept: Tensor
    scaled: Tensor


def fitted(images: Tensor, side: int, fit: Fit) -> Tensor:
    """Images of any size in a square, as PIL scales them: in whole numbers, rows first and then columns.

    Args:
        images: ``(B, C, H, W)``, uint8 or floats from 0 to 255.
        side: of the square.
        fit: ``"crop"`` scales the short side and cuts out the centre; ``"stretch"`` scales both sides.

    Returns:
        Floats from 0 to 255, whole, ``(B, C, side, side)``: those of PIL, or the next to it where a sum lies between
        two. Images that have the size already are not changed.

    >>> image = torch.arange(12.0).view(1, 1, 3, 4)
    >>> fitted(image, 1, "stretch"), fitted(image, 3, "crop")[0, 0, 0]
    (tensor([[[[6.]]]]), tensor([0., 1., 2.]))
    """
    images = images.float()
    height, width = _axes(images, side, fit)
    rows = _whole(images @ _matrix(width, side).mT)
    return _whole(_matrix(height, side) @ rows)


def centre(images: Tensor, crop: int, side: int) -> Tensor:
    """Square images ``(B, C, S, S)`` in [0, 1], scaled to ``crop``, and of that the middle ``(B, C, side, side)``."""
    length = images.shape[-1]
    matrix = _matrix(_Axis(length, _number(length), _number(crop)), side)
    return (matrix @ (images @ matrix.mT)).clamp(0, 1)


def _axes(images: Tensor, side: int, fit: Fit) -> tuple[_Axis, _Axis]:
    """Those of the height and the width."""
    lengths = images.shape[-2], images.shape[-1]
    height, width = map(_number, lengths)
    if fit == "stretch":
        return _Axis(lengths[0], height, _number(side)), _Axis(lengths[1], width, _number(side))
    short = torch.minimum(height, width)
    kept = [torch.minimum(length, LONGEST * short + length % 2) for length in (height, width)]
    scaled = [torch.round(length.double() * side / short.double()).long().clamp(min=side) for length in kept]
    return _Axis(lengths[0], kept[0], scaled[0]), _Axis(lengths[1], kept[1], scaled[1])


def _matrix(axis: _Axis, side: int) -> Tensor:
    """``(side, length)``: how much of each pixel goes into each pixel of the square."""
    step = axis.kept.double() / axis.scaled.double()  # between two pixels of the result, in pixels of the image
    cut = (axis.scaled - side) // 2
    centres = (torch.arange(side).double() + cut + 0.5) * step
    places = (torch.arange(axis.length) - (axis.length - axis.kept) // 2).double()
    near = (1 - (places + 0.5 - centres[:, None]).abs() / step.clamp(min=1)).clamp(min=0)
    weights = near * ((places >= 0) & (places < axis.kept))
    return (weights / weights.sum(1, keepdim=True)).float()


def _number(value: int) -> Tensor:
    return torch.scalar_tensor(value, dtype=torch.int64)


def _whole(values: Tensor) -> Tensor:
    """The nearest whole numbers, a half upwards, as PIL rounds."""
    return torch.floor(values + 0.5).clamp(0, 255)
