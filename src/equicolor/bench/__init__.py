"""The measuring instrument of ``equicolor bench``: what colour equivariance costs, in one run, as interleaved medians.

Each part measures one thing and returns records fit for JSON: :mod:`networks` whole networks against the plain one of
the same size, :mod:`layers` one convolution both ways and what ``auto`` makes of it, :mod:`lift` and :mod:`data` the
colour moves and the way from memory to a lifted batch against 8-bit images of PIL's, one by one. How good a network is
does not matter here; what the paper measured is in ``experiments``.
"""

from equicolor.bench._machine import machine
from equicolor.bench._memory import peak_memory
from equicolor.bench._plan import FULL, QUICK, Plan
from equicolor.bench._report import plot_cost, tables
from equicolor.bench._timing import Timings, interleaved
from equicolor.bench._work import multiply_adds

__all__ = [
    "FULL",
    "QUICK",
    "Plan",
    "Timings",
    "interleaved",
    "machine",
    "multiply_adds",
    "peak_memory",
    "plot_cost",
    "tables",
]
