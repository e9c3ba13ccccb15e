"""Where the values of an image lie, by a measure that a shift of logits moves along exactly."""

import torch
from torch import Tensor

from equicolor.color._images import as_images, working


def median_logit(images: Tensor) -> Tensor:
    """The logit of the median of each channel, over its values strictly between 0 and 1.

    A map that keeps the order of values takes the median to the median, so a shift of the logits of a channel, which
    leaves 0 and 1 where they are, moves it by just as much: as precisely as floats are, whatever is in the image. Black
    borders and blown highlights do not count. Of an even number of values it is the smaller one in the middle.

    Args:
        images: images in [0, 1].

    Returns:
        A number for each channel; 0 for one that has nothing but zeros and ones.

    Shape:
        ``(*, C, H, W)`` to ``(*, C)``.

    Example:
        >>> median_logit(torch.tensor([0.0, 0.5, 0.5, 0.9, 1.0]).view(1, 1, 5)).tolist()
        [0.0]
    """
    values = working(as_images(images, channels=None)).flatten(-2)
    inside = (values > 0) & (values < 1)
    middle = (inside.sum(-1, keepdim=True) - 1).clamp(min=0) // 2
    median = values.masked_fill(~inside, 1.0).sort(-1).values.gather(-1, middle)
    median = torch.where(inside.any(-1, keepdim=True), median, 0.5)
    return (median.log() - (-median).log1p()).squeeze(-1).to(images.dtype if images.is_floating_point() else values)
