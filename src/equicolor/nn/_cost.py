"""What a group convolution costs, the direct and the fast way: the model behind ``algorithm="auto"``.

Costs are in units of one multiplication of a convolution. The constants are fitted to the times that
``equicolor bench --parts layers`` measures, on two cores: a set for CPUs with AVX-512, another for those without, as
``ONEDNN_MAX_CPU_ISA=AVX2 ATEN_CPU_CAPABILITY=avx2`` lets the same CPU play them. Those for CUDA are not measured but
reckoned, see :data:`CUDA`. ``equicolor bench --calibrate`` measures those of a machine of one's own.
"""

import math
from typing import NamedTuple

from equicolor._tools.machine import LANES


class Way(NamedTuple):
    """What one way takes: numbers that its :func:`terms` are multiplied by."""

    multiply: float  # for each multiplication of a convolution
    move: float  # for each number of a feature that is copied or transformed
    filter: float  # for each number of the filters that is copied or transformed
    call: float  # for the layer
    product: float  # for each convolution


class Machine(NamedTuple):
    """What a kind of CPU takes for either way."""

    lanes: int  # output channels are computed so many at once: a few cost as much as all of them
    direct: Way
    fast: Way


AVX512 = Machine(
    lanes=16,
    direct=Way(multiply=1, move=309, filter=2310, call=82.8e6, product=0),
    fast=Way(multiply=1.28, move=116, filter=116, call=278e6, product=18.9e6),
)
AVX2 = Machine(
    lanes=8,
    direct=Way(multiply=1, move=39.6, filter=411, call=9.23e6, product=0),
    fast=Way(multiply=1.12, move=14.5, filter=12.9, call=19.3e6, product=11.7e6),
)
#: By assumption: 10¹³ multiplications and 10¹² bytes a second, 5 µs for each kernel that is launched. A number that is
#: read or written takes 4 bytes, as long as 40 multiplications, a launch as long as 5·10⁷. ``direct`` reads and writes
#: what it lays side by side, and launches some four kernels; ``fast`` reads n and writes R slabs or the reverse, and
#: launches a convolution and a copy for each product beside some three transforms. Channels fill tensor cores by 8.
CUDA = Machine(
    lanes=8,
    direct=Way(multiply=1, move=80, filter=80, call=2e8, product=0),
    fast=Way(multiply=1, move=40, filter=40, call=1.5e8, product=1e8),
)
#: By the kind of a device; other kinds are taken for a CPU.
MACHINES: dict[str, Machine] = {"cpu": AVX512 if AVX512.lanes == LANES else AVX2, "cuda": CUDA}


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
    direct, fast = terms(size, machine.lanes)
    return _total(machine.fast, fast) < _total(machine.direct, direct)


def _total(way: Way, terms: tuple[float, ...]) -> float:
    return sum([constant * term for constant, term in zip(way, terms, strict=True)])  # a compiler reads no generator


def terms(size: Size, lanes: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """What the constants of ``direct`` and of ``fast`` are multiplied by, in the order of :class:`Way`."""
    n, rank, taps = size.order, size.rank, size.in_channels * size.area
    touched = size.pixels * size.in_channels + size.out_pixels * size.out_channels
    filters = taps * size.out_channels
    # One convolution of the group's elements side by side.
    side_by_side = size.out_pixels * n * taps * _whole_vectors(n * size.out_channels, lanes)
    # As many as the bilinear algorithm's rank, between its transforms.
    products = rank * size.out_pixels * taps * _whole_vectors(size.out_channels, lanes)
    return (
        (side_by_side, n * touched, n * n * filters, 1, 1),
        (products, (n + rank) * touched, (n + rank) * filters, 1, rank),
    )


def _whole_vectors(channels: int, lanes: int) -> int:
    return math.ceil(channels / lanes) * lanes
