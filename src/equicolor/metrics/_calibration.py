"""ECE, the expected calibration error, from what can be added up: how far each bin of confidence is off.

The bins are torchmetrics': 15 of equal width, closed below, and a confidence of 1 in one of its own.
"""

import torch
from torch import Tensor

BINS = 15


def bins_of(confidence: Tensor) -> Tensor:
    """The bin of each confidence in [0, 1]: a number from 0 to 15."""
    edges = torch.linspace(0, 1, BINS + 1, dtype=torch.float64)
    return torch.bucketize(confidence.double(), edges, right=True) - 1


def ece_of(gaps: Tensor, count: Tensor) -> Tensor:
    """From the sums of right - confidence in each bin, ``(..., 16)``, of so many predictions."""
    return gaps.abs().sum(-1) / count


def gaps_of(confidence: Tensor, truth: Tensor) -> Tensor:
    """What each of N predictions adds to the bins, ``(N, 16)`` float32: truth - confidence in its own, 0 elsewhere."""
    gaps = torch.zeros(len(confidence), BINS + 1)
    return gaps.scatter_(1, bins_of(confidence)[:, None], (truth.float() - confidence.float())[:, None])
