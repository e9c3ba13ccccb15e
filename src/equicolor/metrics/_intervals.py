"""How sure metrics are: intervals by the bootstrap, over images, or over what belongs together (slides, patients)."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from equicolor.metrics._counts import Values
from equicolor.metrics._pixels import Pixels
from equicolor.metrics._predictions import Predictions

#: How many bootstrap resamples an interval is made of, unless said otherwise.
RESAMPLES = 1000
#: Of the resamples, this share lies below the interval, and as much above.
_TAIL = 0.025
#: So many draws are made at a time: few enough for the cache of a processor.
_AT_ONCE = 250_000


@dataclass(frozen=True)
class Score:
    """A metric and its interval, which holds 95 % of the resamples.

    Args:
        value: the metric; None where it has no value.
        low: the lower end of the interval; None where there is none.
        high: the upper end of the interval; None where there is none.

    Example:
        >>> str(Score(0.1234, 0.1, 0.15))
        '12.34% [10.0, 15.0]'
    """

    value: float | None
    low: float | None = None
    high: float | None = None

    def __str__(self) -> str:
        if self.value is None:
            return "–"
        return f"{self.value:.2%}" + (f" [{self.interval}]" if self.interval else "")

    @property
    def interval(self) -> str:
        """The interval in percent, as text; empty where there is none."""
        return "" if self.low is None or self.high is None else f"{100 * self.low:.1f}, {100 * self.high:.1f}"

    def to_dict(self) -> dict[str, float | None]:
        """Value and interval, as JSON takes them."""
        return {"value": self.value, "low": self.low, "high": self.high}


@dataclass(frozen=True)
class Scores:
    """The metrics of a set, by name.

    Args:
        overall: the metrics of all classes.
        classes: the metrics of each class, in their order, against the rest.
    """

    overall: dict[str, Score]
    classes: list[dict[str, Score]]


def score(
    sample: Predictions | Pixels,
    positive: int | None = None,
    clusters: Tensor | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Scores:
    """Computes the metrics of a sample with their intervals: percentiles of seeded resamples of its images.

    Args:
        sample: what was said, and what is true.
        positive: the class that sensitivity, specificity, F1 and AUC are of; by default they are means over classes.
        clusters: which images belong together, ``(N,)`` numbers: those are drawn whole.
        resamples: how many; 0 for no intervals. There are none of a single image or cluster, either.
        seed: what the draws depend on.

    Returns:
        The metrics.
    """
    values = sample.values(positive)
    drawn = [sample.resampled(weights, positive) for weights in _draws(len(sample), clusters, resamples, seed)]
    overall = {name: _score(value, _column(drawn, 0, name)) for name, value in values.overall.items()}
    classes: list[dict[str, Score]] = []
    for label in range(len(values.classes["error"])):
        those = {}
        for name, each in values.classes.items():
            many = _column(drawn, 1, name)
            those[name] = _score(each[label], None if many is None else many[:, label])
        classes.append(those)
    return Scores(overall, classes)


def _draws(count: int, clusters: Tensor | None, resamples: int, seed: int) -> Iterator[Tensor]:
    """How often each image is in each resample, ``(R, N)`` float32, some resamples at a time."""
    codes = None if clusters is None else torch.unique(clusters, return_inverse=True)[1]
    units = count if codes is None else int(codes.max()) + 1 if count else 0
    if units < 2:
        return
    generator = torch.Generator().manual_seed(seed)
    one = torch.ones(1)
    at_once = max(1, _AT_ONCE // count)
    for start in range(0, resamples, at_once):
        draws = torch.randint(units, (min(at_once, resamples - start), units), generator=generator)
        weights = torch.zeros(len(draws), units).scatter_add_(1, draws, one.expand_as(draws))
        yield weights if codes is None else weights.index_select(1, codes)


def _column(drawn: list[Values], part: int, name: str) -> Tensor | None:
    """A metric of all resamples; None where they have none."""
    return torch.cat([values[part][name] for values in drawn]) if drawn and name in drawn[0][part] else None


def _score(value: Tensor, many: Tensor | None) -> Score:
    """Resamples that have no value, as where a class was not drawn, say nothing about the interval."""
    if not torch.isfinite(value):
        return Score(None)
    known = many[torch.isfinite(many)] if many is not None else torch.empty(0)
    if not len(known):
        return Score(float(value))
    low, high = known.double().quantile(torch.tensor([_TAIL, 1 - _TAIL], dtype=torch.float64)).tolist()
    return Score(float(value), low, high)
