"""What a group convolution costs, the direct and the fast way: the model behind ``algorithm="auto"``.

Costs are in units of one multiplication of a convolution. The constants are fitted to the times that
``equicolor bench --parts layers`` measures, on two cores: a set for CPUs with AVX-512, another for those without, as
``ONEDNN_MAX_CPU_ISA=AVX2 ATEN_CPU_CAPABILITY=avx2`` lets the same CPU play them.
"""

import math
from typing import NamedTuple

from equicolor._tools.machine import LANES


class _Way(NamedTuple):
    move: float  # for each number of a feature that is copied or transformed
    filter: float  # for each number of the filters that is copied or transformed
    call: float  # for the layer
    product: float  # for each convolution


class Machine(NamedTuple):
    """What a kind of CPU takes for either way."""

    lanes: int  # output channels are computed so many at once: a few cost as much as all of them
    direct: _Way
    fast: _Way


AVX512 = Machine(
    lanes=16,
    direct=_Way(move=140, filter=900, call=95e6, product=0),
    fast=_Way(move=70, filter=300, call=135e6, product=19e6),
)
AVX2 = Machine(
    lanes=8,
    direct=_Way(move=133, filter=420, call=106.7e6, product=0),
    fast=_Way(move=70, filter=280, call=135e6, product=11e6),
)
#: This one.
HERE: Machine = AVX512 if AVX512.lanes == LANES else AVX2


class Size(NamedTuple):
    """What is convolved: ``pixels`` of the input, over the batch, and ``out_pixels`` of the output."""

    order: int
    rank: int
    in_channels: int
    out_channels: int
    area: float  # of the kernel, divided among the convolution's groups
    pixels: float
    out_pixels: float


def prefers_fast(size: Size, machine: Machine) -> bool:
    """Whether the fast way is the faster one, on a machine of this kind."""
    return _fast(size, machine) < _direct(size, machine)


def _direct(size: Size, machine: Machine) -> float:
    """One convolution of the group's elements side by side."""
    n, taps = size.order, size.in_channels * size.area
    multiplications = size.out_pixels * n * taps * _whole_vectors(n * size.out_channels, machine)
    moved = n * (size.pixels * size.in_channels + size.out_pixels * size.out_channels)
    return _total(machine.direct, multiplications, moved, n * n * taps * size.out_channels, 1)


def _fast(size: Size, machine: Machine) -> float:
    """As many convolutions as the bilinear algorithm's rank, between its transforms."""
    both, taps = size.order + size.rank, size.in_channels * size.area
    multiplications = size.rank * size.out_pixels * taps * _whole_vectors(size.out_channels, machine)
    moved = both * (size.pixels * size.in_channels + size.out_pixels * size.out_channels)
    return _total(machine.fast, multiplications, moved, both * taps * size.out_channels, size.rank)


def _whole_vectors(channels: int, machine: Machine) -> int:
    return math.ceil(channels / machine.lanes) * machine.lanes


def _total(way: _Way, multiplications: float, moved: float, filters: float, products: int) -> float:
    return multiplications + way.move * moved + way.filter * filters + way.call + way.product * products
