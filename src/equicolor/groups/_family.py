"""Families: factors whose moves commute, so that they multiply, and how several of them are made at once."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from equicolor.color import Shift

if TYPE_CHECKING:
    from equicolor.groups._factor import Factor


class Family:
    """Factors that commute. Those of one family can be multiplied; a factor that names none is one by itself.

    As it stands, a family makes the moves of its factors one after another. One that can do better, because all its
    moves take an image apart in the same way, overrides :meth:`orbit` and :meth:`move`.

    Args:
        name: what it is called in messages.

    >>> Family("light")
    Family('light')
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def check(self, factors: "Sequence[Factor]") -> None:
        """Raises ValueError where these factors of the family do not go together."""
        names = "-".join(factor.name for factor in factors)
        if len({factor.prefix for factor in factors}) < len(factors):
            raise ValueError(f"a product takes factors of one kind at most once, got {names}")

    def orbit(self, factors: "Sequence[Factor]", images: Tensor, amounts: Sequence[Sequence[float]]) -> Tensor:
        """Every combination of moves by the given amounts of each factor: ``(len(amounts[0]), …, *, C, H, W)``.

        Args:
            factors: of this family.
            images: float32 or float64 in [0, 1], ``(*, C, H, W)``.
            amounts: for each factor, by how much.
        """
        for factor, own in reversed(list(zip(factors, amounts, strict=True))):
            images = torch.stack([images if amount == 0 else factor.moved(images, amount) for amount in own])
        return images

    def move(self, factors: "Sequence[Factor]", images: Tensor, amounts: Sequence[Shift]) -> Tensor:
        """``images`` moved by an amount of each factor: a number, or one for each image, ``(*, 1, 1, 1)``."""
        for factor, amount in zip(factors, amounts, strict=True):
            images = factor.moved(images, amount)
        return images

    def domain(self, factors: "Sequence[Factor]", noise: Tensor) -> Tensor:
        """Images on which the moves are a true action, from noise in [0, 1]: see :meth:`Factor.domain`."""
        for factor in factors:
            noise = factor.domain(noise)
        return noise

    def __repr__(self) -> str:
        return f"Family({self.name!r})"
