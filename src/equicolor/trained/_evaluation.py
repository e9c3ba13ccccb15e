"""What an evaluation found: metrics with intervals, of the whole set, of each class and of each domain."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from torch import Tensor

from equicolor.data import Column
from equicolor.metrics import RESAMPLES, Pixels, Predictions, Score, Scores, score

#: What the intervals depend on beside the predictions.
SEED = 0


@dataclass(frozen=True, eq=False)
class Evaluation:
    """What a network said of the images of a set, and how good that is.

    Metrics are computed when they are asked for.

    Attributes:
        classes: the names of the K classes.
        predictions: what was said of each image: of a classifier all probabilities, of a segmenter counts of pixels.
        positive: the class that sensitivity, specificity, F1 and AUC are of; None where they are means over classes.
        domains: where each image is from, where that is known.
        clusters: which images belong together, where that is known; they are drawn together for the intervals.
        names: the names of the images.
    """

    classes: tuple[str, ...]
    predictions: Predictions | Pixels
    positive: str | None = None
    domains: Column | None = None
    clusters: Column | None = None
    names: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """The number of predictions: one for each image, or for each pixel of a segmentation."""
        return self.predictions.count

    @property
    def confusion(self) -> Tensor:
        """How often class i (row) was called j (column), ``(K, K)`` int64."""
        return self.predictions.confusion

    @property
    def error(self) -> float:
        """The share of predictions that are wrong."""
        return float(self.predictions.counts.error)

    @property
    def class_errors(self) -> list[float]:
        """The share of each class that was called another; NaN for a class that is not in the set."""
        return [float(error) for error in self.predictions.counts.rates()["error"]]

    @property
    def calibration_error(self) -> float:
        """The expected calibration error (ECE), over 15 bins of confidence."""
        return self.predictions.ece

    def values(self) -> dict[str, float | None]:
        """Every metric by name, without the intervals, which take longer."""
        return {name: _finite(value) for name, value in self.predictions.values(self._label).overall.items()}

    @property
    def metrics(self) -> dict[str, Score]:
        """Every metric by name, with its interval."""
        return self._scores.overall

    @property
    def per_class(self) -> dict[str, dict[str, Score]]:
        """Every metric of each class against the rest, with its interval; a class that is not in the set has none.

        The error of a class is the share of it that was called another. Its ECE is that of its probability.
        """
        return dict(zip(self.classes, self._scores.classes, strict=True))

    @cached_property
    def by_domain(self) -> dict[str, "Evaluation"]:
        """The evaluation of the images of each domain that is in the set; empty where none is known."""
        if self.domains is None:
            return {}
        found = {}
        for code, name in enumerate(self.domains.names):
            rows = (self.domains.codes == code).nonzero().flatten()
            if len(rows) == len(self.predictions):
                return {name: self}
            if len(rows):
                found[name] = replace(
                    self,
                    predictions=self.predictions[rows],
                    domains=self.domains[rows],
                    clusters=None if self.clusters is None else self.clusters[rows],
                    names=tuple(self.names[row] for row in rows.tolist()) if self.names else (),
                )
        return found

    def summary(self) -> dict[str, Any]:
        """The numbers, fit for JSON; what has no value is None."""
        errors = zip(self.classes, self.class_errors, strict=True)
        return {
            "count": self.count,
            "images": len(self.predictions),
            "classes": list(self.classes),
            "positive": self.positive,
            "error": self.error,
            "calibration_error": self.calibration_error,
            "class_errors": {name: _finite(error) for name, error in errors},
            "confusion": self.confusion.tolist(),
            "intervals": {
                "level": 0.95,
                "method": "percentiles of bootstrap resamples",
                "resamples": RESAMPLES,
                "seed": SEED,
                "drawn": "images" if self.clusters is None else "clusters",
            },
            "metrics": _plain(self.metrics),
            "per_class": {name: _plain(those) for name, those in self.per_class.items()},
            "domains": {
                name: {"count": part.count, "images": len(part.predictions), "metrics": _plain(part.metrics)}
                for name, part in self.by_domain.items()
            },
        }

    @cached_property
    def _scores(self) -> Scores:
        return score(self.predictions, self._label, None if self.clusters is None else self.clusters.codes, seed=SEED)

    @property
    def _label(self) -> int | None:
        return None if self.positive is None else self.classes.index(self.positive)


def _plain(scores: dict[str, Score]) -> dict[str, dict[str, float | None]]:
    return {name: each.to_dict() for name, each in scores.items()}


def _finite(value: float | Tensor) -> float | None:
    """A number; None for NaN, which is none."""
    value = float(value)
    return value if value == value else None
