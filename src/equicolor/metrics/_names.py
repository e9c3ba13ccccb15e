"""What the metrics are called."""

import difflib
from collections.abc import Sequence

#: Name → what it is, for people. A segmentation has no AUC, and is the only one with an IoU.
METRICS = {
    "error": "error",
    "balanced_error": "balanced error",
    "balanced_accuracy": "balanced accuracy",
    "auc": "AUC",
    "f1": "F1",
    "iou": "IoU",
    "sensitivity": "sensitivity",
    "specificity": "specificity",
    "ece": "ECE",
}
#: What others call them, to be suggested.
_ELSEWHERE = {"accuracy": "error", "auroc": "auc", "calibration_error": "ece", "dice": "f1", "jaccard": "iou"}
_ELSEWHERE |= {"recall": "sensitivity", "roc_auc": "auc"}


def chosen_metrics(names: Sequence[str]) -> tuple[str, ...]:
    """Reads the names of metrics.

    Args:
        names: the names, which may be joined by commas; all, where none is given.

    Returns:
        The metrics.

    Raises:
        ValueError: there is no such metric; the nearest is suggested.

    Example:
        >>> chosen_metrics(["error,auc", "F1"])
        ('error', 'auc', 'f1')
    """
    asked = [name.strip().lower().replace(" ", "_").replace("-", "_") for each in names for name in each.split(",")]
    asked = list(dict.fromkeys(filter(None, asked)))
    for name in asked:
        if name not in METRICS:
            near = difflib.get_close_matches(name, [*_ELSEWHERE, *METRICS], 1)
            hint = f"did you mean {_ELSEWHERE.get(near[0], near[0])!r}? There" if near else "there"
            raise ValueError(f"unknown metric {name!r}: {hint} are {', '.join(METRICS)}")
    return tuple(asked) or tuple(METRICS)
