"""How good predictions are: error, balanced accuracy, AUC, F1, sensitivity, specificity and ECE, with intervals.

Here are numbers of what was said and what is true, and nothing else: which network said it of which images is the
business of ``train``, which counts while it trains, and of ``trained``. Confusions, areas and calibration are
torchmetrics'; what is made of counts is defined once, in ``_counts``, for a set, a part of it, and a resample.
"""

from equicolor.metrics._auc import pair_auc
from equicolor.metrics._counts import Counts, balanced_accuracy
from equicolor.metrics._intervals import RESAMPLES, Score, Scores, score
from equicolor.metrics._names import METRICS, chosen_metrics
from equicolor.metrics._pixels import Pixels
from equicolor.metrics._predictions import Predictions

__all__ = [
    "METRICS",
    "RESAMPLES",
    "Counts",
    "Pixels",
    "Predictions",
    "Score",
    "Scores",
    "balanced_accuracy",
    "chosen_metrics",
    "pair_auc",
    "score",
]
