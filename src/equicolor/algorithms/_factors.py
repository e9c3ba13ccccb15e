"""Algorithms for the sum over one factor: a circle, or a window with zeros, copies of its edge, or nothing outside."""

import math
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from equicolor.algorithms._bilinear import Algorithm, Matrix, Transform, matrix, tidy
from equicolor.algorithms._numbers import coordinates

_Array = npt.NDArray[np.floating[Any]]


@lru_cache
def cyclic(n: int) -> Algorithm:
    """Cyclic correlation y_g = Σ_h x_h w_{(h-g) mod n} of rank (3n-1)/2 for odd n, (3n-2)/2 for even n.

    At each n-th root of unity ω the transform of y is the product of those of x and of the reversed w: one real product
    at ω = ±1, one complex product for each conjugate pair. In the basis (1, τ) of ℂ a complex product takes three real
    ones (Karatsuba). τ = ω where coefficients stay whole so (120°, 90°, 60°), else τ = i, which keeps them small.

    Args:
        n: the order of the cyclic group.

    Returns:
        The algorithm.
    """
    return Algorithm.of(_circle(n))


@lru_cache
def truncated(m: int) -> Algorithm:
    """Correlation of m elements with filters reaching ⌊m/2⌋ to either side, zero outside the window.

    Padded with ⌊m/2⌋ zeros, nothing wraps around: it embeds in the cyclic group of order m + ⌊m/2⌋. Three elements take
    four products, where that circle of four takes five, and two take three, of the pairs that are not zero.

    Args:
        m: the number of elements.

    Returns:
        The algorithm.
    """
    if m in _ZERO:
        return Algorithm.of(_ZERO[m])
    numbers, feature, filters, inverse = _circle(m + m // 2)
    taps = np.arange(-((m - 1) // 2), m // 2 + 1) % (m + m // 2)
    return Algorithm.of(
        Transform(
            numbers,
            matrix(np.array(feature)[:, :m]),
            matrix(np.array(filters)[:, taps]),
            matrix(np.array(inverse)[:m]),
        )
    )


@lru_cache
def valid(n: int, count: int) -> Algorithm:
    """Correlation y_k = Σ_j x_{k+j} w_j of n elements with ``count`` taps where all fall inside: n-count+1 elements.

    Args:
        n: the number of elements.
        count: the number of taps of a filter.

    Returns:
        The algorithm, of rank (3n-3)/2 for odd n and (3n-4)/2 for even n, from 3 elements on.
    """
    return Algorithm.of(_line(n, count))


@lru_cache
def replicated(m: int) -> Algorithm:
    """Correlation as by :func:`truncated`, but with the elements at the edges repeated outside the window.

    It is :func:`valid` on the window padded in this way. Three elements take four products, and two take two.

    Args:
        m: the number of elements.

    Returns:
        The algorithm.
    """
    if m in _REPLICATED:
        return Algorithm.of(_REPLICATED[m])
    before, wide = (m - 1) // 2, 2 * m - 1
    line, padding = _line(wide, m), np.eye(m)[np.clip(np.arange(wide) - before, 0, m - 1)]
    return Algorithm.of(line._replace(feature=matrix(np.array(line.feature) @ padding)))


def _circle(n: int) -> Transform:
    """At the n-th roots of unity, one of each conjugate pair."""
    numbers = list[complex | None]()
    feature, filters, inverse = list[_Array](), list[_Array](), list[_Array]()
    steps = np.arange(n)
    for frequency in range(n // 2 + 1):
        powers = _roots(n)[frequency * steps % n]  # ω^h
        if 2 * frequency % n == 0:
            numbers.append(None)
            feature.append(powers.real)
            filters.append(powers.real / n)
            inverse.append(powers.real)
            continue
        omega = powers[1]
        tau = complex(omega if float(2 * omega.real).is_integer() else 1j)
        numbers.append(tau)
        feature += coordinates(powers, tau)
        filters += [each / n for each in coordinates(powers.conj(), tau)]
        inverse += [2 * (value * powers.conj()).real for value in (1, tau)]
    return Transform(
        tuple(numbers), matrix(np.stack(feature)), matrix(np.stack(filters)), matrix(np.stack(inverse, axis=1))
    )


def _line(n: int, count: int) -> Transform:
    """On a circle of an even number of elements, one or two fewer than there are, and a product for each of these.

    On a circle of n-1 elements the first and the last one share a place. Only one term has the first one in it, x_0 w_0
    in y_0, and there (x_0 - x_{n-1}) w_0 makes up for having taken the last one for it. An even circle has two real
    numbers, so this is cheaper than a circle of n; of an even n, the last element is treated likewise.
    """
    size = n - 2 + n % 2 or n
    numbers, *circle = _circle(size)
    spare, elements = n - size, np.arange(size) + (size < n)
    feature = np.zeros((len(circle[0]), n))
    feature[:, elements] = np.array(circle[0])[:, elements % size]
    filters = np.array(circle[1])[:, np.arange(count) % size]
    inverse = np.array(circle[2])[np.arange(n - count + 1) % size]
    # The element, the one in its place on the circle, and where the only term with it in it stands: at an end.
    for element, other, end in ((0, size, 0), (n - 1, n - 1 - size, -1))[:spare]:
        feature = np.vstack([feature, np.eye(n)[element] - np.eye(n)[other]])
        filters = np.vstack([filters, np.eye(count)[end]])
        inverse = np.hstack([inverse, np.eye(n - count + 1)[:, [end]]])
    return Transform((*numbers, *[None] * spare), matrix(feature), matrix(filters), matrix(inverse))


def _real(feature: Matrix, filters: Matrix, inverse: Matrix) -> Transform:
    return Transform((None,) * len(feature), feature, filters, inverse)


#: A window of two is y₀ = x₀w₀ + x₁w₁ and y₁ = x₁w₀. A window of three is, once taps and results are counted backwards
#: from the middle, the sum of all x_a w_b y_c with a + b + c = 0, symmetric in the three. Of one argument that is the
#: cubic z₀³ + 6z₀z₁z₂ with z₀ in the middle, which is four cubes: with e = z₁ + z₂ and o = z₁ - z₂,
#: (e + 3z₀/2)³/6 - (e - 3z₀/2)³/6 - (o + z₀/2)³/2 + (o - z₀/2)³/2.
_ZERO = {
    2: _real(((1, 0), (0, 1), (0, 1)), ((1, 0), (0, 1), (1, 0)), ((1, 1, 0), (0, 0, 1))),
    3: _real(
        ((1, 1.5, 1), (1, -1.5, 1), (1, 0.5, -1), (1, -0.5, -1)),
        ((1 / 6, 1 / 4, 1 / 6), (-1 / 6, 1 / 4, -1 / 6), (1 / 2, -1 / 4, -1 / 2), (-1 / 2, -1 / 4, 1 / 2)),
        ((1, 1, -1, -1), (1.5, -1.5, 0.5, -0.5), (1, 1, 1, 1)),
    ),
}
#: With edges repeated, the middle x₁ times the sum of all taps reaches every element. What is left, of the differences
#: d₀ = x₁ - x₀ and d₂ = x₁ - x₂ alone: d₀(w + w₀) from y₀, d₂(w₀ + w₂) from y₂, and from y₁ both but for (d₀ + d₂)w₀.
_REPLICATED = {
    2: _real(((0, 1), (1, -1)), ((1, 1), (1, 0)), ((1, 1), (1, 0))),
    3: _real(
        ((0, 1, 0), (-1, 1, 0), (0, 1, -1), (-1, 2, -1)),
        ((1, 1, 1), (1, 1, 0), (0, 1, 1), (0, 1, 0)),
        ((1, -1, 0, 0), (1, -1, -1, 1), (1, 0, -1, 0)),
    ),
}


def _roots(n: int) -> npt.NDArray[np.complex128]:
    """The n-th roots of unity, with exact zeros, halves and ones."""
    angles = 2 * math.pi * np.arange(n) / n
    return tidy(np.cos(angles)) + 1j * tidy(np.sin(angles))
