"""Where the values of an image lie, by a measure that shifts of light move along exactly."""

import torch
from torch import Tensor

from equicolor._tools.tensors import is_traced
from equicolor.color._images import Action, as_images, check_action, working


def median_level(images: Tensor, action: Action = "exact") -> Tensor:
    """The median of each channel, in the unit of a shift of light: its logit, or its logarithm for gains.

    A map that keeps the order of values takes the median to the median. So :func:`shift_light` moves the level of a
    channel by just its shift, whatever is in the image: ``exact`` always; ``clamp`` as long as the median itself is
    not clipped, which is less than half of the channel. Values that no shift moves do not count: black, as around cells
    that were cut out, and white for ``exact``. Of an even number of values it is the smaller one in the middle.

    Args:
        images: images in [0, 1].
        action: ``"exact"`` for logits, ``"clamp"`` for logarithms, as for :func:`shift_light`.

    Returns:
        A number for each channel; 0 for one in which nothing counts.

    Shape:
        ``(*, C, H, W)`` to ``(*, C)``.

    Example:
        >>> values = torch.tensor([0.0, 0.5, 0.5, 0.9, 1.0]).view(1, 1, 5)
        >>> median_level(values).tolist()
        [0.0]
        >>> torch.allclose(median_level(values, "clamp"), torch.tensor(0.5).log())
        True
    """
    check_action(action)
    images = as_images(images, channels=None)
    values = working(images).flatten(-2)
    counts = (values > 0) & (values < 1) if action == "exact" else values > 0
    if is_traced() or values.device.type != "cpu":  # other runtimes know no such median, CUDA no deterministic one
        middle = (counts.sum(-1, keepdim=True) - 1).clamp(min=0) // 2
        median = values.masked_fill(~counts, 1.0).sort(-1).values.gather(-1, middle).squeeze(-1)
    else:
        median = values.masked_fill(~counts, torch.nan).nanmedian(-1).values
    median = torch.where(counts.any(-1), median, 0.5 if action == "exact" else 1.0)
    level = median.log() - (-median).log1p() if action == "exact" else median.log()
    return level.to(images.dtype)
