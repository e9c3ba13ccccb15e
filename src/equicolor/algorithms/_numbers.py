"""Numbers, real and complex, and how few real products the product of two of them takes.

Transformed, a convolution becomes products of numbers. A complex one is written in a basis (1, τ), and takes three real
products. Of a product of groups the numbers are pairs of those of its factors: a pair with a real one is as the other,
and a pair of complex ones is not one number of nine products, but *two* of three each, since ℂ ⊗ ℂ = ℂ × ℂ: what one
pair of conjugates ζ has to do with another ζ' is said by ζζ' and by ζ times the conjugate of ζ'.
"""

from collections.abc import Sequence
from functools import lru_cache, reduce
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

#: What a factor's transform gives, one after another: None is a real number, in one row; any other value is the τ of a
#: complex one, a + bτ in two rows.
Numbers = tuple[complex | None, ...]
Complex = npt.NDArray[np.complexfloating[Any, Any]]
Real = npt.NDArray[np.floating[Any]]


class Products(NamedTuple):
    """The products of numbers, in real ones: rows of either side in, rows of the result out."""

    sides: Real  # R × rows
    result: Real  # rows × R


class _Number(NamedTuple):
    """A number: what it is made of, and what is made of it, where a complex one stands for its conjugate, too."""

    tau: complex | None
    given: Complex
    taken: Complex

    def times(self, other: "_Number") -> list["_Number"]:
        pairs = [(self.given, self.taken)]
        if self.tau is not None and other.tau is not None:
            pairs.append((self.given.conj(), self.taken.conj()))
        tau = _basis(self.tau, other.tau)
        return [_Number(tau, np.kron(given, other.given), np.kron(taken, other.taken)) for given, taken in pairs]


def rows(numbers: Numbers) -> int:
    """How many rows numbers take.

    >>> rows((None, None, 1j))
    4
    """
    return sum(1 if tau is None else 2 for tau in numbers)


@lru_cache
def products(factors: tuple[Numbers, ...]) -> Products:
    """The real products that multiply pairs, triples … of numbers, one of each factor.

    Args:
        factors: the numbers of each factor. Rows are those of the first, and for each of these those of the others.

    Returns:
        The matrices of sums before and after the products.

    Example:
        >>> circle = (None, None, 1j)  # what a transform of a circle of four gives
        >>> [len(products((circle,) * count).sides) for count in (1, 2, 3)]  # where 5, 25 and 125 would do
        [5, 22, 92]
    """
    found = reduce(lambda left, right: [pair for one in left for other in right for pair in one.times(other)],
                   map(_units, factors))  # fmt: skip
    sides, result = list[Real](), list[Real]()
    for tau, given, taken in found:
        if tau is None:
            sides.append(given.real)
            result.append(taken.real)
            continue
        # (a + bτ)(c + dτ) = ac + τ(ad + bc) + τ²bd, and ad + bc = σ((a + σb)(c + σd) - ac - bd)
        sigma = -1 if tau.real < 0 else 1
        a, b = coordinates(given, tau)
        sides += [a, b, a + sigma * b]
        result += [2 * (value * taken).real for value in (1 - sigma * tau, tau * tau - sigma * tau, sigma * tau)]
    return Products(np.stack(sides), np.stack(result, axis=1))


def coordinates(values: Complex, tau: complex) -> tuple[Real, Real]:
    """A and b with values = a + bτ."""
    b = values.imag / tau.imag
    return values.real - b * tau.real, b


def _units(numbers: Numbers) -> list[_Number]:
    """Each number of its own rows, and those rows of the number."""
    unit, row, found = np.eye(rows(numbers), dtype=complex), 0, list[_Number]()
    for tau in numbers:
        if tau is None:
            found.append(_Number(None, unit[row], unit[row]))
            row += 1
            continue
        # a = 2 Re(αζ) and b = 2 Re(βζ) of ζ = a + bτ
        alpha, beta = (1 + 1j * tau.real / tau.imag) / 2, -0.5j / tau.imag
        found.append(_Number(tau, unit[row] + tau * unit[row + 1], alpha * unit[row] + beta * unit[row + 1]))
        row += 2
    return found


def _basis(one: complex | None, other: complex | None) -> complex | None:
    """The τ of a product: one of theirs where that keeps coefficients whole, else i."""
    if one is None or other is None:
        return one or other
    pairs = np.array([1, one, other, one * other, one.conjugate(), one.conjugate() * other])
    return next((tau for tau in (one, other) if _whole(coordinates(pairs, tau))), 1j)


def _whole(values: Sequence[Real]) -> bool:
    return bool(np.all(np.abs(np.round(values) - values) < 1e-12))
