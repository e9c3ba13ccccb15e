"""The area under the ROC curve: how often what is so has a higher score than what is not, ties counting a half."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor

from equicolor.metrics._torchmetrics import torchmetrics


def pair_auc(scores: Tensor, truth: Tensor) -> float:
    """The area under the ROC curve of one class.

    Args:
        scores: its probabilities, in [0, 1].
        truth: whether it is so.

    Returns:
        The area; NaN, not 0 as torchmetrics says, where all is so or nothing.

    Example:
        >>> pair_auc(torch.tensor([0.1, 0.4, 0.4, 0.9]), torch.tensor([0, 0, 1, 1]))
        0.875
    """
    metrics = torchmetrics()
    truth = truth.long()
    if not 0 < int(truth.sum()) < len(truth):
        return math.nan
    return float(metrics.binary_auroc(scores, truth))


class ResampledAUC:
    """The same of many resamples, in one go: scores are sorted once."""

    def __init__(self, scores: Tensor, truth: Tensor) -> None:
        below = scores[~truth].sort()
        self.so, self.not_so = truth.nonzero().flatten(), (~truth).nonzero().flatten()[below.indices]
        lower = torch.searchsorted(below.values, scores[truth].contiguous())
        upper = torch.searchsorted(below.values, scores[truth].contiguous(), right=True)
        self.lower, self.upper = lower, upper

    def __call__(self, weights: Tensor) -> Tensor:
        """From how often each prediction was drawn, ``(R, N)`` float32: areas ``(R,)``."""
        so, not_so = weights.index_select(1, self.so), weights.index_select(1, self.not_so)
        passed = F.pad(not_so.cumsum(1), (1, 0))  # whole numbers below 2²⁴: exact
        below = (passed.index_select(1, self.lower) + passed.index_select(1, self.upper)) / passed[:, -1:]
        return torch.einsum("rp,rp->r", so, below).double() / (2 * so.sum(1))
