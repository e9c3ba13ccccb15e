"""The moves that carry the colours of one set onto those of another: of one factor, or of several of a family at once.

All images may be moved by one amount, or each by its own: from amount - spread to amount + spread, evenly. The second
is what it takes where a set under one lamp meets a set under many.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from operator import mul

import numpy as np
import torch
from torch import Tensor

from equicolor._tools.optional import require
from equicolor._tools.words import in_unit
from equicolor.groups import Factor, Group, factor_kind
from equicolor.trained.diagnosis._distance import Array, Chance, profile

#: Windows are searched so many times as far as jitter goes, circles all around.
_FURTHER = 3.0
_GRID, _EVALUATIONS = 24, 60
#: Where one amount for all leaves no more than this, no spread is looked for.
_WORTH_A_SPREAD = 0.05
#: What it counts that moves leave less of the whole distance, beside what they explain of it.
_NEARER = 0.4
#: Where an evenly spread amount is looked at, in spreads from the middle.
_LEVELS = (-0.8, -0.4, 0.0, 0.4, 0.8)


@dataclass(frozen=True)
class Move:
    """How far one quantity is moved.

    Attributes:
        factor: what is moved, by the prefix of its factor: ``"hue"``, ``"temp"``.
        quantity, unit: in words.
        amount: how far, in its unit, by the exact action where there are two.
        spread: images differ in it by up to so much to either side; 0: all are moved alike.
        reach: how far jitter of it goes, for comparison.
    """

    factor: str
    quantity: str
    unit: str
    amount: float
    spread: float
    reach: float

    def __str__(self) -> str:
        digits = 0 if self.reach >= 10 else 2
        spread = f" ± {in_unit(f'{self.spread:.{digits}f}', self.unit)}" if self.spread else ""
        end = " or beyond" if self.at_end else ""
        return f"{self.quantity} {in_unit(f'{self.amount:+.{digits}f}', self.unit)}{spread}{end}"

    @property
    def at_end(self) -> bool:
        """Whether this is as far as was searched."""
        closes = factor_kind(self.factor).period is not None
        return not closes and max(abs(self.amount), self.spread) > 0.99 * _FURTHER * self.reach

    @property
    def beyond(self) -> float:
        """How many times farther than jitter goes this is; a circle goes all around, and nothing is beyond."""
        closes = factor_kind(self.factor).period is not None
        return 0.0 if closes else max(0.0, (abs(self.amount) + self.spread) / self.reach - 1)


@dataclass(frozen=True)
class Fit:
    """The best that some moves of one family do.

    Attributes:
        family: its name.
        moves: how far each quantity is moved.
        distance: what is left between the sets.
        explained: the share of what was between them, chance left out, that is gone: 1 is all of it.
    """

    family: str
    moves: tuple[Move, ...]
    distance: float
    explained: float

    def __str__(self) -> str:
        return ", ".join(map(str, self.moves))

    @property
    def far_fetched(self) -> float:
        """How far-fetched it is, as a share that it has to explain besides: more quantities, spreads, far moves."""
        more = len(self.moves) - 1 + sum(move.spread > 0 for move in self.moves)
        return 0.05 * more + 0.1 * sum(move.beyond for move in self.moves)


class Carrier:
    """Carries the pixels of one set onto another.

    Args:
        pixels: what is moved, ``(images, 3, 1, pixels)``.
        target: the profile of what it is to become.
        chance: what distances are held against.
    """

    def __init__(self, pixels: Tensor, target: Array, chance: Chance) -> None:
        self.pixels, self.target, self.chance = pixels, target, chance
        self.before = chance.distance(profile(pixels), target)

    def one(self, factor: Factor) -> Fit:
        """The best move of one factor."""
        amounts = _grid(factor)
        found = [self._after(factor, [amount]) for amount in amounts]
        best = amounts[int(np.argmin(found))]
        step = amounts[1] - amounts[0]
        x, _ = _search(lambda x: self._after(factor, x), [best], [step / 2], [_bounds(factor)])
        return self._spread(factor, x[0])

    def several(self, factors: Sequence[Factor], starts: Sequence[Sequence[Move]]) -> Fit:
        """The best moves of several factors of a family at once, looked for around several places."""
        group, scales, bounds = reduce(mul, factors), list(map(_scale, factors)), list(map(_bounds, factors))
        fits = []
        for start in starts:
            spreads = [move.spread for move in start]
            after = partial(self._after, group, spreads=spreads)
            x, _ = _search(after, [move.amount for move in start], scales, bounds)
            fits.append(self._fit(factors, x, spreads))
        return max(fits, key=lambda fit: fit.explained)

    def _spread(self, factor: Factor, amount: float) -> Fit:
        """The best move of one factor, whose amount may differ between images where that is worth it."""
        plain = self._fit([factor], [amount], [0.0])
        if plain.explained > 1 - _WORTH_A_SPREAD:
            return plain
        scale, (_, most) = _scale(factor), _bounds(factor)
        bounds = [_bounds(factor), (0.0, factor.period / 2 if factor.period is not None else most)]
        x, _ = _search(lambda x: self._after(factor, x[:1], x[1:]), [amount, 1.5 * scale], [scale, scale], bounds)
        spread = self._fit([factor], x[:1], x[1:])
        return spread if self.worth(spread) > self.worth(plain) else plain

    def worth(self, fit: Fit) -> float:
        """What is explained, less what is far-fetched about the moves; and a little for how near the sets come.

        Of sets hardly farther apart than by chance many moves explain all, and what they leave tells them apart.
        """
        return fit.explained - fit.far_fetched + _NEARER * (1 - fit.distance / self.before)

    def _after(self, group: Group, amounts: Sequence[float], spreads: Sequence[float] | None = None) -> float:
        return self.chance.distance(profile(moved(group, self.pixels, amounts, spreads)), self.target)

    def _fit(self, factors: Sequence[Factor], amounts: Sequence[float], spreads: Sequence[float]) -> Fit:
        after = self._after(reduce(mul, factors), amounts, spreads)
        explained = min(1.0, max(0.0, (self.before - after) / max(self.before - 1, 1e-6)))
        moves = tuple(
            Move(factor.prefix, factor.quantity, factor.unit, _shorter(factor, amount), spread, factor.reach)
            for factor, amount, spread in zip(factors, amounts, spreads, strict=True)
        )
        return Fit(factors[0].family.name, moves, after, explained)


def _search(
    after: Callable[[Sequence[float]], float],
    start: Sequence[float],
    scales: Sequence[float],
    bounds: Sequence[tuple[float, float]],
) -> tuple[list[float], float]:
    """Nelder and Mead's way downhill from a place, whose first steps are as long as the scales."""
    optimize = require("scipy.optimize", "diagnosing")
    first = np.asarray(start, dtype=float)
    simplex = np.stack([first, *(first + scale * np.eye(len(first))[k] for k, scale in enumerate(scales))])
    result = optimize.minimize(
        lambda x: after([float(each) for each in x]),
        first,
        method="Nelder-Mead",
        bounds=bounds,
        options={"initial_simplex": simplex, "maxfev": _EVALUATIONS, "xatol": 0.02 * min(scales), "fatol": 1e-5},
    )
    return [float(each) for each in result.x], float(result.fun)


def moved(group: Group, images: Tensor, amounts: Sequence[float], spreads: Sequence[float] | None = None) -> Tensor:
    """Images moved by these amounts; where they spread, every fifth image by another."""
    if not spreads or not any(spreads):
        return group.move_by(images, list(amounts))
    result = torch.empty_like(images)
    for turn, level in enumerate(_LEVELS):  # one after another: a factor need not take an amount for each image
        own = [amount + level * spread for amount, spread in zip(amounts, spreads, strict=True)]
        result[turn :: len(_LEVELS)] = group.move_by(images[turn :: len(_LEVELS)], own)
    return result


def apply(fit: Fit, factors: dict[str, Factor], images: Tensor) -> Tensor:
    """Images moved as a fit says."""
    group = reduce(mul, [factors[move.factor] for move in fit.moves])
    return moved(group, images, [move.amount for move in fit.moves], [move.spread for move in fit.moves])


def families(factors: dict[str, Factor]) -> list[list[Factor]]:
    """The factors that can be moved at once, since they commute."""
    together: list[list[Factor]] = []
    for factor in factors.values():
        for family in together:
            if family[0].family is factor.family and _multiply([*family, factor]):
                family.append(factor)
                break
        else:
            together.append([factor])
    return together


def _multiply(factors: Sequence[Factor]) -> bool:
    try:
        reduce(mul, factors)
    except ValueError:  # two of one direction
        return False
    return True


def _grid(factor: Factor) -> list[float]:
    if factor.period is not None:
        return [factor.period * place / _GRID for place in range(_GRID)]
    return [_FURTHER * factor.reach * (2 * place / _GRID - 1) for place in range(_GRID + 1)]


def _scale(factor: Factor) -> float:
    """How far the first step of a search goes."""
    return factor.period / 12 if factor.period is not None else factor.reach / 3


def _bounds(factor: Factor) -> tuple[float, float]:
    most = math.inf if factor.closes else _FURTHER * factor.reach
    return -most, most


def _shorter(factor: Factor, amount: float) -> float:
    """The shorter way around a circle."""
    if factor.period is None:
        return amount
    return amount - factor.period * math.floor(amount / factor.period + 0.5)
