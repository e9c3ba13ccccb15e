"""The contract of a factor: a group of moves of one quantity, cyclic or a window of a translation group."""

import operator
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor

from equicolor.groups._group import Element, Group


class Factor(Group):
    """A group of moves of one quantity. Its elements are integers."""

    prefix: ClassVar[str]
    axis: ClassVar[int]  # of this quantity in the result of color.orbit
    #: Whether the moves come back to the first after ``n`` steps. Otherwise they are a window of (ℤ, +) around 0, and
    #: what is moved beyond it is lost.
    closes: ClassVar[bool]
    n: int

    @property
    def factors(self) -> tuple["Factor", ...]:
        return (self,)

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.n,)

    @property
    def offsets(self) -> tuple[int, ...]:
        """The elements as integers, in the order of the group axis."""
        return tuple(range(self.n)) if self.closes else tuple(range(-((self.n - 1) // 2), self.n // 2 + 1))

    @property
    @abstractmethod
    def name(self) -> str:
        """The name, with whatever is not the default in parentheses."""

    def reduce(self, part: int) -> int:
        """The canonical representative of an integer."""
        return part % self.n if self.closes else part

    def shift(self, features: Tensor, part: int, axis: int) -> Tensor:
        """The action on a feature's own group axis: a roll, or a shift that fills with zeros."""
        if self.closes:
            return features.roll(-part, dims=axis)
        keep = max(self.n - abs(part), 0)
        zeros = torch.zeros_like(features.narrow(axis, 0, self.n - keep))
        if part >= 0:
            return torch.cat([features.narrow(axis, self.n - keep, keep), zeros], dim=axis)
        return torch.cat([zeros, features.narrow(axis, 0, keep)], dim=axis)

    @abstractmethod
    def describe_part(self, part: int) -> str:
        """What an element does, in words."""

    @abstractmethod
    def moves(self, parts: Sequence[int]) -> dict[str, Any]:
        """What :func:`equicolor.color.orbit` is to be told, for these elements."""

    @property
    def elements(self) -> tuple[int, ...]:
        return self.offsets

    @property
    def identity(self) -> int:
        return 0

    def _parts(self, element: Element) -> tuple[int, ...]:
        if not is_integer(element):
            raise TypeError(f"an element of {self} is an integer, got {element!r}")
        return (operator.index(element),)  # type: ignore[arg-type]

    def _element(self, parts: tuple[int, ...]) -> int:
        return parts[0]

    def _check_order(self) -> None:
        if not is_integer(self.n) or self.n < 1:
            raise ValueError(f"{type(self).__name__} takes a positive whole number of elements, got {self.n!r}")
        object.__setattr__(self, "n", operator.index(self.n))


def is_integer(value: object) -> bool:
    """Whether something counts as a whole number."""
    return hasattr(value, "__index__") and not isinstance(value, bool)
