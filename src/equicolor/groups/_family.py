"""Families: factors whose moves commute, so that they multiply, and how several of them are made at once."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from equicolor.color import Shift

if TYPE_CHECKING:
    from equicolor.groups._factor import Factor


class Family:
    """Factors that commute, and so can be multiplied.

    A factor that names no family is one by itself. As it stands, a family makes the moves of its factors one after
    another. One that can do better, because all its moves take an image apart in the same way, overrides :meth:`orbit`
    and :meth:`move`.

    Args:
        name: what it is called in messages.

    Example:
        >>> Family("light")
        Family('light')
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def check(self, factors: "Sequence[Factor]") -> None:
        """Checks that factors of the family go together.

        Args:
            factors: factors of this family.

        Raises:
            ValueError: they do not.
        """
        names = "-".join(factor.name for factor in factors)
        if len({factor.prefix for factor in factors}) < len(factors):
            raise ValueError(f"a product takes factors of one kind at most once, got {names}")

    def orbit(self, factors: "Sequence[Factor]", images: Tensor, amounts: Sequence[Sequence[float]]) -> Tensor:
        """Applies every combination of moves by the given amounts of each factor.

        Args:
            factors: factors of this family.
            images: float32 or float64 in [0, 1].
            amounts: for each factor, its amounts.

        Returns:
            The moved images, with a new axis in front for each factor.

        Shape:
            ``(*, C, H, W)`` to ``(len(amounts[0]), …, *, C, H, W)``.
        """
        for factor, own in reversed(list(zip(factors, amounts, strict=True))):
            images = torch.stack([images if amount == 0 else factor.moved(images, amount) for amount in own])
        return images

    def move(self, factors: "Sequence[Factor]", images: Tensor, amounts: Sequence[Shift]) -> Tensor:
        """Moves images by an amount of each factor.

        Args:
            factors: factors of this family.
            images: float32 or float64 in [0, 1].
            amounts: for each factor a number, or a tensor of one for each image, ``(*, 1, 1, 1)``.

        Returns:
            The moved images.

        Shape:
            ``(*, C, H, W)`` to ``(*, C, H, W)``.
        """
        for factor, amount in zip(factors, amounts, strict=True):
            images = factor.moved(images, amount)
        return images

    def level(self, factors: "Sequence[Factor]", images: Tensor) -> Tensor | None:
        """Measures where images stand along each factor, see :meth:`Factor.level`.

        Args:
            factors: windows of this family.
            images: float32 or float64 in [0, 1].

        Returns:
            A number for each image and factor; None where a factor has no such measure.

        Shape:
            ``(*, C, H, W)`` to ``(*, factors)``.
        """
        levels = [factor.level(images) for factor in factors]
        known = [level for level in levels if level is not None]
        return torch.stack(known, -1) if len(known) == len(levels) else None

    def domain(self, factors: "Sequence[Factor]", noise: Tensor) -> Tensor:
        """Makes images on which the moves are a true action, see :meth:`Factor.domain`.

        Args:
            factors: factors of this family.
            noise: random numbers in [0, 1].

        Returns:
            The images, in [0, 1].

        Shape:
            ``(*, C, H, W)`` to ``(*, C, H, W)``.
        """
        for factor in factors:
            noise = factor.domain(noise)
        return noise

    def __repr__(self) -> str:
        return f"Family({self.name!r})"
