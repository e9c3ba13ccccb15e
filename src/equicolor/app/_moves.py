"""The sliders: one for each registered colour move, and what they do to an image."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from equicolor.color import Shift
from equicolor.groups import Factor, rgb_factors

#: Points of a curve: all around a circle, 7.5° apart; and over a window, no move among them.
_AROUND, _ACROSS = 48, 40
#: Windows are tried so many times as far as jitter goes.
_BEYOND = 2


@dataclass(frozen=True)
class Move:
    """A colour move with the range over which it is tried.

    Attributes:
        factor: what moves.
        low, high: the range, in its unit.
        step: of a slider.
        points: of a curve, less one.
    """

    factor: Factor
    low: float
    high: float
    step: float
    points: int

    @property
    def prefix(self) -> str:
        """Its name among the registered moves."""
        return self.factor.prefix

    @property
    def title(self) -> str:
        """What is moved, in words, with its unit."""
        unit = f" in {self.factor.unit}" if self.factor.unit else ""
        return f"{self.factor.quantity[0].upper()}{self.factor.quantity[1:]}{unit}"

    def places(self) -> Tensor:
        """Where its curve is computed, ``(points + 1,)``, both ends among them."""
        middle = 0 if self.low == 0 else self.points // 2  # no move is there, to the last digit
        return (torch.arange(self.points + 1, dtype=torch.float64) - middle) * (self.high - self.low) / self.points


def all_moves() -> dict[str, Move]:
    """One for each registered factor that moves RGB images, by prefix.

    >>> list(all_moves())[:3], all_moves()["hue"].high
    (['hue', 'sat', 'lum'], 360.0)
    """
    return {prefix: _move(factor) for prefix, factor in rgb_factors().items()}


def _move(factor: Factor) -> Move:
    if factor.period is not None:
        return Move(factor, 0.0, factor.period, factor.period / 72, _AROUND)
    far = _BEYOND * factor.reach
    return Move(factor, -far, far, far / 40, _ACROSS)


def moved(images: Tensor, amounts: Mapping[str, Shift]) -> Tensor:
    """``images`` in [0, 1], ``(B, 3, H, W)``, with all moves made one after another, in the order of the registry.

    Args:
        images: RGB.
        amounts: prefix → how far; one for all images, or a tensor ``(B,)`` of one for each.
    """
    for prefix, factor in rgb_factors().items():
        amount = amounts.get(prefix, 0.0)
        if isinstance(amount, Tensor):
            images = factor.moved(images, amount.to(images)[:, None, None, None])
        elif amount:
            images = factor.moved(images, float(amount))
    return images
