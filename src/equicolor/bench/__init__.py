"""The measuring instrument of ``equicolor bench``: what colour equivariance costs, in one run, as interleaved medians.

Each part measures one thing and returns records fit for JSON: :mod:`networks` whole networks against the plain one of
the same size, :mod:`layers` one convolution both ways and what ``auto`` makes of it, :mod:`lift` and :mod:`data` the
colour moves and the way from memory to a lifted batch against 8-bit images of PIL's, one by one. How good a network is
does not matter here; what the paper measured is in ``experiments``.
"""

from equicolor._tools.timing import Timings, interleaved
from equicolor.bench._plan import CALIBRATE, FULL, QUICK, Plan
from equicolor.bench._report import plot_cost, tables
from equicolor.bench.layers import calibration
from equicolor.measure import peak_memory

__all__ = [
    "CALIBRATE",
    "FULL",
    "QUICK",
    "Plan",
    "Timings",
    "calibration",
    "interleaved",
    "peak_memory",
    "plot_cost",
    "tables",
]
