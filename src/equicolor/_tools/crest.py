"""The crest of a wave that is known at n places of a circle: where between them it is highest."""

import math

import torch
from torch import Tensor

_GRID = 128  # points of the search, to either side


def crest(samples: Tensor, place: Tensor, reach: float) -> tuple[Tensor, Tensor]:
    """Where within ``reach`` of a place the trigonometric polynomial through samples is highest, and how high it is.

    The polynomial has the frequencies 0 < m < n/2. For n = 2 there are none, and nothing is refined. Frequency n/2 of
    an even n is left out: its phase cannot be seen in n samples.

    Args:
        samples: at the places 0 … n-1 of the circle, ``(B, n)``, in the precision to compute in.
        place: the middle of the search, ``(B,)``, whole numbers.
        reach: how far to look to either side, in units of places.

    Returns:
        The distance of the crest from the place in these units, and its height, both ``(B,)``.

    >>> wave = torch.cos(torch.arange(4) * torch.pi / 2 - 0.3)[None].double()
    >>> offset, _ = crest(wave, torch.tensor([0]), reach=0.5)
    >>> round(float(offset) * math.pi / 2, 4)
    0.3
    """
    n, dtype, device = samples.shape[1], samples.dtype, samples.device
    places = torch.arange(n, device=device)
    around = samples.gather(1, (place[:, None] + places) % n)  # the place first
    frequencies = torch.arange(1, (n + 1) // 2, dtype=dtype, device=device)
    if not len(frequencies):
        return torch.zeros(place.shape[0], dtype=dtype, device=device), around[:, 0]
    offsets = reach * torch.linspace(-1, 1, 2 * _GRID + 1, dtype=dtype, device=device)
    # Row u of the matrix takes the samples to the polynomial's value at u.
    angles = 2 * math.pi / n * frequencies * (offsets[:, None] - places)[..., None]
    curve = around @ angles.cos().sum(-1).T * (2 / n)
    inside = curve.argmax(1).clamp(1, 2 * _GRID - 1)
    left, middle, right = (curve.gather(1, (inside + side)[:, None])[:, 0] for side in (-1, 0, 1))
    # The crest of the parabola through the highest point of the grid and its neighbours, or what of it is within reach.
    bend = (left - 2 * middle + right).clamp(max=-torch.finfo(samples.dtype).tiny)
    peak = ((left - right) / (2 * bend)).clamp(-1, 1)
    return offsets[inside] + peak * reach / _GRID, curve.amax(1)
