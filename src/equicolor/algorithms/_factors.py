"""Algorithms for the sum over one factor: a circle, or a window with zeros, copies of its edge, or nothing outside."""

import math
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from equicolor.algorithms._bilinear import Algorithm, matrix, tidy

_Array = npt.NDArray[np.float64]


@lru_cache
def cyclic(n: int) -> Algorithm:
    """Cyclic correlation y_g = Σ_h x_h w_{(h-g) mod n} of rank (3n-1)/2 for odd n, (3n-2)/2 for even n.

    At each n-th root of unity ω the transform of y is the product of those of x and of the reversed w: one real product
    at ω = ±1, one complex product for each conjugate pair. In the basis (1, τ) of ℂ a complex product takes three real
    ones (Karatsuba): ac, bd and (a + σb)(c + σd), with a sign σ. τ = ω where that keeps the coefficients whole (120°,
    90°, 60°), else τ = i, which keeps them small.

    Args:
        n: the order of the cyclic group.

    Returns:
        The algorithm.
    """
    feature, filters, inverse = list[_Array](), list[_Array](), list[_Array]()
    steps = np.arange(n)
    for frequency in range(n // 2 + 1):
        powers = _roots(n)[frequency * steps % n]  # ω^h
        if 2 * frequency % n == 0:
            feature.append(powers.real)
            filters.append(powers.real / n)
            inverse.append(powers.real)
            continue
        omega = powers[1]
        tau = omega if float(2 * omega.real).is_integer() else 1j
        sigma = -1 if tau.real < 0 else 1
        a, b = _coordinates(powers, tau)
        c, d = _coordinates(powers.conj(), tau)
        feature += [a, b, a + sigma * b]
        filters += [c / n, d / n, (c + sigma * d) / n]
        # (a + bτ)(c + dτ) = ac + τ(ad + bc) + τ²bd, and ad + bc = σ((a + σb)(c + σd) - ac - bd)
        for value in (1 - sigma * tau, tau * tau - sigma * tau, sigma * tau):
            inverse.append(2 * (value * powers.conj()).real)
    return Algorithm(matrix(np.stack(feature)), matrix(np.stack(filters)), matrix(np.stack(inverse, axis=1)))


@lru_cache
def truncated(m: int) -> Algorithm:
    """Correlation of m elements with filters reaching ⌊m/2⌋ to either side, zero outside the window.

    Padded with ⌊m/2⌋ zeros, nothing wraps around: it embeds in the cyclic group of order m + ⌊m/2⌋.

    Args:
        m: the number of elements.

    Returns:
        The algorithm.
    """
    around = cyclic(m + m // 2)
    taps = np.arange(-((m - 1) // 2), m // 2 + 1) % (m + m // 2)
    return Algorithm(
        matrix(np.array(around.feature)[:, :m]),
        matrix(np.array(around.filter)[:, taps]),
        matrix(np.array(around.inverse)[:m]),
    )


@lru_cache
def valid(n: int, count: int) -> Algorithm:
    """Correlation of n elements with filters of an odd ``count`` of taps where all fall inside: n-count+1 elements.

    In the cyclic group of order n only the others, which are left out, would wrap around.

    Args:
        n: the number of elements.
        count: the number of taps of a filter, odd.

    Returns:
        The algorithm.
    """
    around, reach = cyclic(n), count // 2
    return Algorithm(
        around.feature,
        matrix(np.array(around.filter)[:, np.arange(-reach, reach + 1) % n]),
        matrix(np.array(around.inverse)[reach : n - reach]),
    )


@lru_cache
def replicated(m: int) -> Algorithm:
    """Correlation as by :func:`truncated`, but with the elements at the edges repeated outside the window.

    It is :func:`valid` on the window padded in this way.

    Args:
        m: the number of elements.

    Returns:
        The algorithm.
    """
    before, wide = (m - 1) // 2, 2 * m - 1
    around, padding = cyclic(wide), np.eye(m)[np.clip(np.arange(wide) - before, 0, m - 1)]
    return Algorithm(
        matrix(np.array(around.feature) @ padding),
        matrix(np.array(around.filter)[:, np.arange(-before, m // 2 + 1) % wide]),
        matrix(np.array(around.inverse)[before : before + m]),
    )


def _roots(n: int) -> npt.NDArray[np.complex128]:
    """The n-th roots of unity, with exact zeros, halves and ones."""
    angles = 2 * math.pi * np.arange(n) / n
    return tidy(np.cos(angles)) + 1j * tidy(np.sin(angles))


def _coordinates(values: npt.NDArray[np.complex128], tau: complex) -> tuple[_Array, _Array]:
    """A and b with values = a + bτ."""
    b = values.imag / tau.imag
    return values.real - b * tau.real, b
