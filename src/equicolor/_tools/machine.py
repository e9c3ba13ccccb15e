"""What the CPU can do, as far as it decides how something is best computed."""

import os

import torch

#: The environment variable that names a file of constants for ``algorithm="auto"``.
CALIBRATION = "EQUICOLOR_CALIBRATION"
#: How many float32 numbers one of PyTorch's vectors holds: 16 with AVX-512, otherwise 8.
LANES = 16 if torch.backends.cpu.get_cpu_capability().startswith("AVX512") else 8


def cores(most: int) -> int:
    """Those that this process may use, of which so many are wanted at the most.

    >>> cores(most=1)
    1
    """
    there = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(there, most)
