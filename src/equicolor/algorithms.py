"""How a group convolution is computed: bilinear algorithms for the sum over the group, and their Kronecker products.

The group convolution y_g = Σ_h x_h ∗ w_{h-g} is bilinear in the feature x and the filters w. A bilinear algorithm of
rank R computes it as

    y = C · [ (A x) ⊛ (B w) ]

with three small constant matrices A, B (R × n) and C (n × R), where ⊛ stands for R independent ordinary convolutions.
What the convolutions themselves do (stride, dilation, grouping, transposition) does not matter to it. With as many
parameters as an ordinary network, which is a width divided by √n, it costs R/n times that network's multiplications:
n times for the direct way of rank n², less than 1.5 times for :func:`cyclic`.
"""

import math
from dataclasses import dataclass
from functools import lru_cache, reduce
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from equicolor.groups import Factor, Group

Matrix = tuple[tuple[float, ...], ...]
_Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Algorithm:
    """A bilinear algorithm: y = inverse · [(feature x) ⊛ (filter w)].

    The matrices are nested tuples of floats: constants to a compiler, and hashable.
    """

    feature: Matrix  # A, R × n
    filter: Matrix  # B, R × taps
    inverse: Matrix  # C, n × R

    @property
    def rank(self) -> int:
        """How many convolutions it takes."""
        return len(self.feature)

    def __matmul__(self, other: "Algorithm") -> "Algorithm":
        """The Kronecker product: the algorithm of the product group."""
        return Algorithm(
            _matrix(np.kron(self.feature, other.feature)),
            _matrix(np.kron(self.filter, other.filter)),
            _matrix(np.kron(self.inverse, other.inverse)),
        )


def fast(group: Group, rescale: bool = False) -> Algorithm:
    """The algorithm of lowest rank known here: the product of :func:`cyclic` and :func:`truncated` of the factors.

    >>> from equicolor.groups import group
    >>> [fast(group(name)).rank for name in ("hue3", "hue4", "hue12", "sat3", "hue4-sat3")]
    [4, 5, 17, 5, 25]
    """
    algorithm = _fast(group)
    if not rescale:
        return algorithm
    scales = np.array(edge_scales(group))[:, None]
    return Algorithm(algorithm.feature, algorithm.filter, _matrix(scales * np.array(algorithm.inverse)))


def edge_scales(group: Group) -> tuple[float, ...]:
    """n/(n-abs(j)) for each element j of a window, and 1 where a factor closes: what an edge lacks of neighbours."""

    def of(factor: Factor) -> list[float]:
        return [1.0 if factor.closes else factor.order / (factor.order - abs(j)) for j in factor.offsets]

    return tuple(math.prod(scales) for scales in product(*map(of, group.factors)))


def direct(group: Group) -> Algorithm:
    """One convolution for every pair of a feature's element and a filter's: rank n², less what truncation leaves out.

    >>> from equicolor.groups import group
    >>> [direct(group(name)).rank for name in ("hue4", "sat3", "hue4-sat3")]
    [16, 7, 112]
    """
    n = group.order
    pairs = [(g, h, tap) for g, row in enumerate(filter_bank(group)) for h, tap in enumerate(row) if tap is not None]
    unit = np.eye(n)
    return Algorithm(
        _matrix(np.stack([unit[h] for _, h, _ in pairs])),
        _matrix(np.stack([unit[tap] for _, _, tap in pairs])),
        _matrix(np.stack([unit[g] for g, _, _ in pairs], axis=1)),
    )


@lru_cache
def filter_bank(group: Group) -> tuple[tuple[int | None, ...], ...]:
    """The filter that takes element h of the input to element g of the output: ``bank[g][h]``, None for zero."""
    bank = np.zeros((1, 1), dtype=np.int64)
    for factor in group.factors:
        places = {offset: place for place, offset in enumerate(factor.offsets)}
        own = np.array([[places.get(factor.reduce(h - g), -1) for h in factor.offsets] for g in factor.offsets])
        both = bank[:, None, :, None] * factor.order + own[None, :, None, :]
        outside = (bank < 0)[:, None, :, None] | (own < 0)[None, :, None, :]
        bank = np.where(outside, -1, both).reshape(len(bank) * factor.order, -1)
    return tuple(tuple(None if place < 0 else place for place in row) for row in bank.tolist())


@lru_cache
def cyclic(n: int) -> Algorithm:
    """Cyclic correlation y_g = Σ_h x_h w_{(h-g) mod n} of rank (3n-1)/2 for odd n, (3n-2)/2 for even n.

    At each n-th root of unity ω the transform of y is the product of those of x and of the reversed w: one real product
    at ω = ±1, one complex product for each conjugate pair. In the basis (1, τ) of ℂ a complex product takes three real
    ones (Karatsuba): ac, bd and (a + σb)(c + σd), with a sign σ. τ = ω where that keeps the coefficients whole (120°,
    90°, 60°), else τ = i, which keeps them small.
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
    return Algorithm(_matrix(np.stack(feature)), _matrix(np.stack(filters)), _matrix(np.stack(inverse, axis=1)))


@lru_cache
def truncated(m: int) -> Algorithm:
    """Correlation of m elements with filters reaching ⌊m/2⌋ to either side, zero outside the window.

    Padded with ⌊m/2⌋ zeros, nothing wraps around: it embeds in the cyclic group of order m + ⌊m/2⌋.
    """
    around = cyclic(m + m // 2)
    taps = np.arange(-((m - 1) // 2), m // 2 + 1) % (m + m // 2)
    return Algorithm(
        _matrix(np.array(around.feature)[:, :m]),
        _matrix(np.array(around.filter)[:, taps]),
        _matrix(np.array(around.inverse)[:m]),
    )


@lru_cache
def _fast(group: Group) -> Algorithm:
    def of(factor: Factor) -> Algorithm:
        if factor.closes:
            return cyclic(factor.order)
        # Of a window of two, three pairs of elements are not zero, where a circle of three takes four products.
        return direct(factor) if factor.order == 2 else truncated(factor.order)

    return reduce(lambda left, right: left @ right, map(of, group.factors))


def _roots(n: int) -> npt.NDArray[np.complex128]:
    """The n-th roots of unity, with exact zeros, halves and ones."""
    angles = 2 * math.pi * np.arange(n) / n
    return _tidy(np.cos(angles)) + 1j * _tidy(np.sin(angles))


def _coordinates(values: npt.NDArray[np.complex128], tau: complex) -> tuple[_Array, _Array]:
    """A and b with values = a + bτ."""
    b = values.imag / tau.imag
    return values.real - b * tau.real, b


def _tidy(values: _Array) -> _Array:
    """Rounds away the last bits of what is a multiple of a half."""
    near = np.round(2 * values) / 2
    return np.where(np.abs(values - near) < 1e-12, near, values) + 0.0  # no negative zeros


def _matrix(array: npt.NDArray[np.floating[Any]]) -> Matrix:
    return tuple(map(tuple, _tidy(np.asarray(array, dtype=np.float64)).tolist()))
