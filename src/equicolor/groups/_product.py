"""Products of factors."""

import operator
from dataclasses import dataclass
from itertools import product

from equicolor.groups._factor import Factor, is_integer
from equicolor.groups._group import Element, Group


@dataclass(frozen=True, repr=False)
class Product(Group):
    """A direct product; the first factor varies slowest along the group axis. Its elements are tuples of integers.

    >>> from equicolor.groups import Hue, Saturation
    >>> (Hue(4) * Saturation(3)).order
    12
    """

    _factors: tuple[Factor, ...]

    def __post_init__(self) -> None:
        prefixes = [factor.prefix for factor in self._factors]
        if len(set(prefixes)) < len(prefixes):
            raise ValueError(f"a product takes each of hue, saturation and luminance at most once, got {self}")
        if len({getattr(factor, "space", None) for factor in self._factors} - {None}) > 1:
            raise ValueError(f"the factors of a product must share one colour space, got {self}")

    @property
    def factors(self) -> tuple[Factor, ...]:
        return self._factors

    @property
    def elements(self) -> tuple[tuple[int, ...], ...]:
        return tuple(product(*(factor.offsets for factor in self._factors)))

    @property
    def identity(self) -> tuple[int, ...]:
        return (0,) * len(self._factors)

    def _parts(self, element: Element) -> tuple[int, ...]:
        if not isinstance(element, tuple) or len(element) != len(self._factors) or not all(map(is_integer, element)):
            raise TypeError(f"an element of {self} is a tuple of {len(self._factors)} integers, got {element!r}")
        return tuple(map(operator.index, element))

    def _element(self, parts: tuple[int, ...]) -> tuple[int, ...]:
        return parts

    def __repr__(self) -> str:
        return " * ".join(map(repr, self._factors))
