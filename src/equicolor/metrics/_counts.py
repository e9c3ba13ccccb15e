"""What follows from how many predictions there are of each kind: of a set, or of many resamples of it at once."""

from typing import NamedTuple

from torch import Tensor


class Counts(NamedTuple):
    """The numbers of predictions by class, of K classes.

    Each is ``(..., K)``; what stands before the classes are images, or resamples, counted apart.

    Attributes:
        true: how many are of each class.
        called: how many are said to be.
        right: how many are both.
    """

    true: Tensor
    called: Tensor
    right: Tensor

    @property
    def error(self) -> Tensor:
        """The share of predictions that are wrong, ``(...)``."""
        count = self.true.sum(-1).double()
        return (count - self.right.sum(-1)) / count

    def rates(self) -> dict[str, Tensor]:
        """The rates of each class against the rest, ``(..., K)``; NaN where a class or its rest is empty."""
        true, called, right = self.true.double(), self.called.double(), self.right.double()
        others = true.sum(-1, keepdim=True) - true
        sensitivity = right / true
        there = sensitivity - sensitivity  # 0, or NaN
        return {
            "error": 1 - sensitivity,
            "f1": 2 * right / (true + called) + there,
            "iou": right / (true + called - right) + there,
            "sensitivity": sensitivity,
            "specificity": (others - (called - right)) / others + there,
        }


def balanced_accuracy(counts: Counts) -> Tensor:
    """Balanced accuracy: the share of each class that was called so, in the mean over the classes that are there.

    torchmetrics' macro average counts a class that is predicted and never there as one all of which is wrong.

    Args:
        counts: the predictions by class.

    Returns:
        The accuracy, ``(...)``.
    """
    return (counts.right.double() / counts.true.double()).nanmean(-1)


class Values(NamedTuple):
    """Metrics by name, NaN where there is none: ``overall``, ``(...)``, and of each of ``classes``, ``(..., K)``.

    All others than error, balanced accuracy and ECE are those of the ``positive`` class overall, or means over classes.
    """

    overall: dict[str, Tensor]
    classes: dict[str, Tensor]

    @classmethod
    def of(cls, counts: Counts, ece: Tensor, further: dict[str, Tensor], positive: int | None) -> "Values":
        """From counts, the ECE over all classes, and further metrics of each class."""
        classes = counts.rates() | further
        balanced = balanced_accuracy(counts)
        overall = {"error": counts.error, "balanced_error": 1 - balanced, "balanced_accuracy": balanced}
        for name, each in classes.items():
            if name not in ("error", "ece"):
                overall[name] = each.nanmean(-1) if positive is None else each[..., positive]
        return cls(overall | {"ece": ece}, classes)
