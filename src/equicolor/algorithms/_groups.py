"""Algorithms for the sum over a group: those of its factors, multiplied; or directly, filter by filter."""

import math
from dataclasses import replace
from functools import lru_cache
from itertools import product
from typing import Literal, TypeAlias

import numpy as np

from equicolor.algorithms._bilinear import Algorithm, Transform, matrix
from equicolor.algorithms._factors import cyclic, replicated, truncated, valid
from equicolor.groups import Factor, Group, Product

#: What stands outside a window: ``"zero"``; ``"rescale"``, zero too, made up for by :func:`edge_scales`;
#: ``"replicate"``, the element at the edge. Or nothing is asked of it, ``"valid"``: results are those of the
#: :func:`inner` elements alone.
Window: TypeAlias = Literal["zero", "rescale", "replicate", "valid"]
#: The largest group that is convolved on: the matrices of an algorithm have more than n² entries.
MOST_ELEMENTS = 1024
#: How many elements a filter spans where it need not span the whole window.
_VALID_TAPS = 3


def fast(group: Group, window: Window = "zero") -> Algorithm:
    """The algorithm of lowest rank that is known here: that of the group's factors, multiplied.

    A circle has :func:`cyclic`, a window :func:`truncated`, :func:`replicated` or :func:`valid`. The rank of a product
    is below the product of the ranks where several factors have complex numbers.

    Args:
        group: what is summed over.
        window: what stands beyond the edge of a window, see :class:`equicolor.nn.GroupConv2d`.

    Returns:
        The algorithm.

    Raises:
        ValueError: the group has more than 1,024 elements.

    Example:
        >>> from equicolor.groups import group
        >>> [fast(group(name)).rank for name in ("hue3", "hue4", "hue12", "sat3", "hue4-sat3")]
        [4, 5, 17, 4, 20]
        >>> fast(group("sat5"), "valid").rank
        6
    """
    if group.order > MOST_ELEMENTS:
        raise ValueError(
            f"convolutions take groups of {MOST_ELEMENTS:,} elements at most, got {group.order:,} in {group}"
        )
    return _fast(group, window)


def edge_scales(group: Group) -> tuple[float, ...]:
    """The factors that make up for the neighbours missing at the edges of a window: n/(n-abs(j)) for element j.

    Args:
        group: a group; factors that close to a circle miss nothing and count as 1.

    Returns:
        One number for each element.
    """

    def of(factor: Factor) -> list[float]:
        return [1.0 if factor.closes else factor.order / (factor.order - abs(j)) for j in factor.offsets]

    return tuple(math.prod(scales) for scales in product(*map(of, group.factors)))


def direct(group: Group) -> Algorithm:
    """The direct algorithm: one convolution for every pair of a feature's element and a filter's.

    Its rank is n², less what truncation leaves out.

    Args:
        group: what is summed over.

    Returns:
        The algorithm.

    Example:
        >>> from equicolor.groups import group
        >>> [direct(group(name)).rank for name in ("hue4", "sat3", "hue4-sat3")]
        [16, 7, 112]
    """
    n = group.order
    pairs = [(g, h, tap) for g, row in enumerate(filter_bank(group)) for h, tap in enumerate(row) if tap is not None]
    unit = np.eye(n)
    return Algorithm(
        matrix(np.stack([unit[h] for _, h, _ in pairs])),
        matrix(np.stack([unit[tap] for _, _, tap in pairs])),
        matrix(np.stack([unit[g] for g, _, _ in pairs], axis=1)),
    )


def filter_bank(group: Group) -> tuple[tuple[int | None, ...], ...]:
    """Says which filter takes element h of the input to element g of the output.

    Args:
        group: what is summed over.

    Returns:
        ``bank[g][h]``, the number of the filter, or None for zero.
    """
    return tuple(tuple(filters[0] if filters else None for filters in row) for row in blocks(group))


@lru_cache
def blocks(group: Group, window: Window = "zero") -> tuple[tuple[tuple[int, ...], ...], ...]:
    """Says which filters are added up to take element h of the input to element g of the output.

    Args:
        group: what is summed over.
        window: what stands beyond the edge of a window, see :class:`equicolor.nn.GroupConv2d`.

    Returns:
        ``blocks[g][h]``, the numbers of the filters.

    Example:
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
    """The number of filters: one for each element, or for each that a valid convolution reaches.

    Args:
        group: what is summed over.
        window: what stands beyond the edge of a window, see :class:`equicolor.nn.GroupConv2d`.

    Returns:
        How many filters there are.

    Example:
        >>> from equicolor.groups import group
        >>> taps(group("sat5")), taps(group("sat5"), "valid")
        (5, 3)
    """
    return math.prod(len(_reached(factor, window)) for factor in group.factors)


def inner(group: Group) -> Group:
    """The group on which the result of a valid convolution lives.

    Windows lose the element at either end, down to one or two.

    Args:
        group: the group of the input.

    Returns:
        The group of the output.

    Example:
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
def _fast(group: Group, window: Window) -> Algorithm:
    return Algorithm.of(*(part for factor in group.factors for part in _transforms(factor, window)))


def _transforms(factor: Factor, window: Window) -> tuple[Transform, ...]:
    if factor.closes:
        return cyclic(factor.order).parts
    if window == "valid":
        return valid(factor.order, taps(factor, window)).parts
    if window == "replicate":
        return replicated(factor.order).parts
    algorithm = truncated(factor.order)
    if window == "zero":
        return algorithm.parts
    scales = np.array(edge_scales(factor))[:, None]
    return tuple(part._replace(inverse=matrix(scales * np.array(part.inverse))) for part in algorithm.parts)
