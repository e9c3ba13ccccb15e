"""What colour would do to a trained network: its error against every registered move, and what would help."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from torch import nn

from equicolor._tools.words import in_unit
from equicolor.data import ImageSet
from equicolor.groups import Factor, factor_kind, rgb_factors
from equicolor.trained._evaluate import Advance, evaluate_curve
from equicolor.trained._evaluation import Evaluation
from equicolor.trained.diagnosis._recommend import Needed, Recommendation, recommend

#: How many moves are tried, around a circle or to either side.
_AROUND, _ASIDE = 12, 4
#: An error holds if it rises by no more than this, and chance; a class breaks if its own does by more than this.
_ALLOWED, _BREAKS = 0.02, 0.05
#: Where chance allows so much, nothing can be said.
_TOO_MUCH = 0.15
#: Of the normal distribution: what chance exceeds once in twenty times, to one side.
_Z = 1.645
_MOST_CLASSES = 3


@dataclass(frozen=True)
class Hold:
    """What the moves of one quantity do to a network.

    Attributes:
        factor: what is moved, by the prefix of its factor; ``family`` and ``quantity``, ``unit``: in words.
        errors: amount → error, in [0, 1]; saturation and luminance are moved by the exact action.
        low, high: between these amounts the error holds.
        everywhere: it holds for all that were tried.
        best: the smallest error, which may be that of images that are moved.
        worst: the largest error.
        breaks_at: the nearest amount at which it does not hold; None where there is none.
        classes: those whose error rises most there, worst first.
        group: what would cover all amounts that were tried; None where nothing is needed.
    """

    factor: str
    family: str
    quantity: str
    unit: str
    errors: Mapping[float, float]
    low: float
    high: float
    everywhere: bool
    best: float
    worst: float
    breaks_at: float | None
    classes: tuple[str, ...]
    group: str | None

    @property
    def range(self) -> str:
        """Where the error holds, in words."""
        if self.everywhere and factor_kind(self.factor).period is not None:
            return "all around"
        low, high = (in_unit(f"{amount:+.3g}", self.unit) for amount in (self.low, self.high))
        return f"{low} … {high}{' (all)' if self.everywhere else ''}"


@dataclass(frozen=True)
class ModelDiagnosis:
    """What colour would do to a network.

    Attributes:
        data: which images it was tried on.
        count: how many.
        error: the error on the images as they are.
        allowed: an error up to this holds; of few images that is much more than the error itself.
        moves: for each registered factor, what its moves do; the worst first.
        recommendations: what to do, by family, the worst first; empty where nothing breaks.
    """

    @property
    def few(self) -> bool:
        """Whether the images are too few to tell what holds."""
        return self.allowed - self.error > _TOO_MUCH

    @property
    def better(self) -> Hold | None:
        """The move under which the network errs less than on the images as they are, by more than chance."""
        hold = min(self.moves, key=lambda each: each.best - each.errors[0.0])
        unmoved = hold.errors[0.0]
        return hold if _limit(hold.best, self.count, _ALLOWED) < unmoved else None

    data: str
    count: int
    error: float
    allowed: float
    moves: tuple[Hold, ...]
    recommendations: Mapping[str, Recommendation]

    def summary(self) -> dict[str, Any]:
        """All that was found, fit for JSON."""
        moves = [
            {**asdict(hold), "errors": {f"{at:g}": error for at, error in hold.errors.items()}} for hold in self.moves
        ]
        advice = {family: {**asdict(each), "option": each.option} for family, each in self.recommendations.items()}
        return {**asdict(self), "moves": moves, "recommendations": advice}


def tries() -> dict[str, list[float]]:
    """The amounts that each registered factor is tried with: around its circle, or as far as jitter goes."""
    return {prefix: _tries(factor) for prefix, factor in rgb_factors().items()}


def diagnose_model(
    model: nn.Module, images: ImageSet, *, batch_size: int = 256, advance: Advance | None = None
) -> ModelDiagnosis:
    """Measures the error of a network against every registered move, how far it holds, and what would help.

    Args:
        model: a network from RGB images to logits.
        images: a labelled set, such as a test set; a sample of a few hundred will do.
        batch_size: how many at once.
        advance: called with the number of images of each batch, for a progress bar.

    Returns:
        What was found.

    Raises:
        ValueError: the network does not know the classes of the images.
    """
    holds, error, allowed = [], math.nan, math.nan
    for prefix, factor in rgb_factors().items():
        curve = evaluate_curve(model, images, prefix, _tries(factor), batch_size, advance, action="exact")
        unmoved = curve[0.0]
        if not math.isfinite(error) or not (images.gray and factor.closes):  # grey digits are coloured by a turn
            error, allowed = unmoved.error, _limit(unmoved.error, unmoved.count, _ALLOWED)
        holds.append(_hold(factor, curve))
    holds.sort(key=lambda hold: hold.worst - hold.errors[0.0], reverse=True)
    return ModelDiagnosis(
        f"{images.name} {images.split}", len(images), error, allowed, tuple(holds), _recommendations(holds)
    )


def _tries(factor: Factor) -> list[float]:
    if factor.period is not None:
        return [factor.period * step / _AROUND for step in range(_AROUND)]
    return [factor.reach * step / _ASIDE for step in range(-_ASIDE, _ASIDE + 1)]


def _limit(error: float, count: int, allowed: float) -> float:
    """The largest error that another one may rise to: what is allowed, and what chance does to both."""
    share = (error * count + 1) / (count + 2)
    return min(1.0, error + allowed + _Z * math.sqrt(2 * share * (1 - share) / max(count, 1)))


def _hold(factor: Factor, curve: Mapping[float, Evaluation]) -> Hold:
    unmoved = curve[0.0]
    limit = _limit(unmoved.error, unmoved.count, _ALLOWED)
    turned = {_signed(factor, at): each for at, each in curve.items()}
    errors = {at: turned[at].error for at in sorted(turned)}
    ups, downs = sorted(at for at in errors if at > 0), sorted((at for at in errors if at < 0), reverse=True)
    high, low = (_last_that_holds(side, errors, limit) for side in (ups, downs))
    broken = sorted((at for at, error in errors.items() if error > limit), key=abs)
    first = broken[0] if broken else None
    classes = () if first is None else _classes(unmoved, turned[first])
    needed = None if first is None else _needed(factor, min(high, -low), abs(first))
    group = None if needed is None else recommend([needed]).group
    return Hold(
        factor.prefix, factor.family.name, factor.quantity, factor.unit, errors, low, high, not broken,
        min(errors.values()), max(errors.values()), first, classes, group,
    )  # fmt: skip


def _signed(factor: Factor, amount: float) -> float:
    """The shorter way round a circle; half of it is to the right."""
    return amount - factor.period if factor.period is not None and amount > factor.period / 2 else amount


def _last_that_holds(side: Sequence[float], errors: Mapping[float, float], limit: float) -> float:
    """The farthest of amounts that go away from 0, up to which the error holds."""
    last = 0.0
    for amount in side:
        if errors[amount] > limit:
            break
        last = amount
    return last


def _classes(unmoved: Evaluation, moved: Evaluation) -> tuple[str, ...]:
    """The classes whose error rises most, of those where it is more than chance."""
    rises = []
    for name, before, after, count in zip(
        unmoved.classes, unmoved.class_errors, moved.class_errors, unmoved.confusion.sum(1).tolist(), strict=True
    ):
        if count and after > _limit(before, count, _BREAKS):
            rises.append((after - before, name))
    return tuple(name for _, name in sorted(rises, reverse=True)[:_MOST_CLASSES])


def _needed(factor: Factor, holds: float, breaks: float) -> Needed:
    """Elements so near to each other that what lies between them holds, as far as was tried."""
    step = 2 * holds if holds else breaks
    far = factor.period / 2 if factor.period is not None else factor.reach
    return Needed(factor.prefix, far, min(step, far))


def _recommendations(holds: Sequence[Hold]) -> dict[str, Recommendation]:
    """What to do about the families that break, the worst first."""
    factors = rgb_factors()
    families: dict[str, list[Hold]] = {}
    for hold in holds:
        if hold.breaks_at is not None:
            families.setdefault(hold.family, []).append(hold)
    advice = {}
    for family, broken in families.items():
        needed = [_needed(factors[h.factor], min(h.high, -h.low), abs(h.breaks_at or 0.0)) for h in broken]
        found = recommend(needed)
        moved = " and ".join(hold.quantity for hold in broken)
        advice[family] = replace(found, text=f"Against moves of {moved}: {found.text[0].lower()}{found.text[1:]}")
    return advice
