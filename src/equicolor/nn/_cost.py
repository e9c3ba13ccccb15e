"""What a group convolution costs, the direct and the fast way: the model behind ``algorithm="auto"``.

Costs are in units of one multiplication of a convolution. The constants are fitted to the times that
``equicolor bench --parts layers`` measures, on two cores of a CPU with vectors of 16 floats.
"""

import math
from typing import NamedTuple

#: Output channels are computed so many at once: a few cost as much as all of them.
LANES = 16


class _Way(NamedTuple):
    move: float  # for each number of a feature that is copied or transformed
    filter: float  # for each number of the filters that is copied or transformed
    call: float  # for the layer
    product: float  # for each convolution


_DIRECT = _Way(move=140, filter=900, call=95e6, product=0)
_FAST = _Way(move=70, filter=300, call=135e6, product=19e6)


class Size(NamedTuple):
    """What is convolved: ``pixels`` of the input, over the batch, and ``out_pixels`` of the output."""

    order: int
    rank: int
    in_channels: int
    out_channels: int
    area: float  # of the kernel, divided among the convolution's groups
    pixels: float
    out_pixels: float


def direct(size: Size) -> float:
    """One convolution of the group's elements side by side."""
    n, taps = size.order, size.in_channels * size.area
    multiplications = size.out_pixels * n * taps * _whole_vectors(n * size.out_channels)
    moved = n * (size.pixels * size.in_channels + size.out_pixels * size.out_channels)
    return _total(_DIRECT, multiplications, moved, n * n * taps * size.out_channels, 1)


def fast(size: Size) -> float:
    """As many convolutions as the bilinear algorithm's rank, between its transforms."""
    both, taps = size.order + size.rank, size.in_channels * size.area
    multiplications = size.rank * size.out_pixels * taps * _whole_vectors(size.out_channels)
    moved = both * (size.pixels * size.in_channels + size.out_pixels * size.out_channels)
    return _total(_FAST, multiplications, moved, both * taps * size.out_channels, size.rank)


def _whole_vectors(channels: int) -> int:
    return math.ceil(channels / LANES) * LANES


def _total(way: _Way, multiplications: float, moved: float, filters: float, products: int) -> float:
    return multiplications + way.move * moved + way.filter * filters + way.call + way.product * products
