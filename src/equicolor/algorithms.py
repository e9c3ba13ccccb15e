"""How a group convolution is computed: bilinear algorithms for the sum over the group, and their Kronecker products.

The group convolution y_g = Σ_h x_h ∗ w_{h-g} is bilinear in the feature x and the filters w. A bilinear algorithm of
rank R computes it as

    y = C · [ (A x) ⊛ (B w) ]

with three small constant matrices A, B (R × n) and C (n × R), where ⊛ stands for R independent ordinary convolutions.
What the convolutions themselves do (stride, dilation, grouping, transposition) does not matter to it. Where a factor is
a window, a :data:`Window` says what its convolution takes for the elements outside. With as many
parameters as an ordinary network, which is a width divided by √n, it costs R/n times that network's multiplications:
n times for the direct way of rank n², less than 1.5 times for :func:`cyclic`.
"""

import math
from dataclasses import dataclass, replace
from functools import lru_cache, reduce
from itertools import product
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from equicolor.groups import Factor, Group, Product

Matrix = tuple[tuple[float, ...], ...]
_Array = npt.NDArray[np.float64]

#: What stands outside a window: ``"zero"``; ``"rescale"``, zero too, made up for by :func:`edge_scales`;
#: ``"replicate"``, the element at the edge. Or nothing is asked of it, ``"valid"``: results are those of the
#: :func:`inner` elements alone.
Window: TypeAlias = Literal["zero", "rescale", "replicate", "valid"]
#: How many elements a filter spans where it need not span the whole window.
_VALID_TAPS = 3


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


def fast(group: Group, window: Window = "zero") -> Algorithm:
    """The algorithm of lowest rank known here: the product of :func:`cyclic` and :func:`truncated` of the factors.

    For other windows than those padded with zeros, of :func:`replicated` or :func:`valid` instead of the latter.

    >>> from equicolor.groups import group
    >>> [fast(group(name)).rank for name in ("hue3", "hue4", "hue12", "sat3", "hue4-sat3")]
    [4, 5, 17, 5, 25]
    >>> fast(group("sat5"), "valid").rank
    7
    """
    if window != "rescale":
        return _fast(group, window)
    algorithm = _fast(group, "zero")
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


def filter_bank(group: Group) -> tuple[tuple[int | None, ...], ...]:
    """The filter that takes element h of the input to element g of the output: ``bank[g][h]``, None for zero."""
    return tuple(tuple(filters[0] if filters else None for filters in row) for row in blocks(group))


@lru_cache
def blocks(group: Group, window: Window = "zero") -> tuple[tuple[tuple[int, ...], ...], ...]:
    """The filters whose sum takes element h of the input to element g of the output: ``blocks[g][h]``.

    >>> from equicolor.groups import group
    >>> blocks(group("sat3"), "replicate")[0]  # the first element sees itself in the place of what is missing
    ((0, 1), (2,), ())
    """
    rows: tuple[tuple[tuple[int, ...], ...], ...] = (((0,),),)
    for factor in group.factors:
        count, own = taps(factor, window), _blocks(factor, window)
        rows = tuple(
            tuple(tuple(a * count + b for a in left for b in right) for left in row for right in own_row)
            for row in rows
            for own_row in own
        )
    return rows


def _blocks(factor: Factor, window: Window) -> list[list[list[int]]]:
    outputs = inner(factor).factors[0].offsets if window == "valid" else factor.offsets
    places = {offset: place for place, offset in enumerate(factor.offsets)}
    own: list[list[list[int]]] = [[[] for _ in factor.offsets] for _ in outputs]
    for row, g in zip(own, outputs, strict=True):
        for tap, offset in enumerate(_reached(factor, window)):
            h = factor.reduce(g + offset)
            if window == "replicate" and not factor.closes:
                h = min(max(h, factor.offsets[0]), factor.offsets[-1])
            if h in places:
                row[places[h]].append(tap)
    return own


def _reached(factor: Factor, window: Window) -> tuple[int, ...]:
    """The offsets h-g that a filter has a tap for."""
    if factor.closes or window != "valid":
        return factor.offsets
    reach = _VALID_TAPS // 2 if factor.order >= _VALID_TAPS else 0
    return tuple(range(-reach, reach + 1))


def taps(group: Group, window: Window = "zero") -> int:
    """How many filters there are: one for each element, or for each that a valid convolution reaches.

    >>> from equicolor.groups import group
    >>> taps(group("sat5")), taps(group("sat5"), "valid")
    (5, 3)
    """
    return math.prod(len(_reached(factor, window)) for factor in group.factors)


def inner(group: Group) -> Group:
    """The group that a valid convolution leaves: windows lose the element at either end, down to one or two.

    >>> from equicolor.groups import group
    >>> str(inner(group("hue4-sat5")))
    'hue4-sat3'
    """

    def smaller(factor: Factor) -> Factor:
        return factor if factor.closes else replace(factor, n=factor.n - 2 * (len(_reached(factor, "valid")) // 2))

    if isinstance(group, Factor):
        return smaller(group)
    return Product(tuple(tuple(map(smaller, stage)) for stage in group.stages))


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
def valid(n: int, count: int) -> Algorithm:
    """Correlation of n elements with filters of an odd ``count`` of taps where all fall inside: n-count+1 elements.

    In the cyclic group of order n only the others, which are left out, would wrap around.
    """
    around, reach = cyclic(n), count // 2
    return Algorithm(
        around.feature,
        _matrix(np.array(around.filter)[:, np.arange(-reach, reach + 1) % n]),
        _matrix(np.array(around.inverse)[reach : n - reach]),
    )


@lru_cache
def replicated(m: int) -> Algorithm:
    """As :func:`truncated`, but with the elements at the edges outside the window: valid on the window padded so."""
    before, wide = (m - 1) // 2, 2 * m - 1
    around, padding = cyclic(wide), np.eye(m)[np.clip(np.arange(wide) - before, 0, m - 1)]
    return Algorithm(
        _matrix(np.array(around.feature) @ padding),
        _matrix(np.array(around.filter)[:, np.arange(-before, m // 2 + 1) % wide]),
        _matrix(np.array(around.inverse)[before : before + m]),
    )


@lru_cache
def _fast(group: Group, window: Window) -> Algorithm:
    def of(factor: Factor) -> Algorithm:
        if factor.closes:
            return cyclic(factor.order)
        if window == "valid":
            return valid(factor.order, taps(factor, window))
        if window == "replicate":
            return replicated(factor.order)
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
