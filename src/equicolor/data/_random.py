"""Randomness that is a pure function of (seed, index): the same on every machine, in any order, in any process.

Splits and shifts are drawn by hashing, not by advancing a generator. The hash is SplitMix64 (Steele, Lea and Flood,
2014): a counter scrambled by three fixed multiplications and shifts of 64-bit integers. Nothing in it can change with a
version of numpy or torch, and the draw of one sample does not depend on which others are drawn.
"""

import zlib

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

_STEP = np.uint64(0x9E3779B97F4A7C15)  # 2⁶⁴ divided by the golden ratio
_MIX_1, _MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def hashed(counters: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """SplitMix64 of each counter."""
    with np.errstate(over="ignore"):
        z = (counters + np.uint64(1)) * _STEP
        z = (z ^ (z >> np.uint64(30))) * _MIX_1
        z = (z ^ (z >> np.uint64(27))) * _MIX_2
        mixed: NDArray[np.uint64] = z ^ (z >> np.uint64(31))
    return mixed


def key(seed: int, purpose: str) -> np.uint64:
    """One 64-bit key for a seed and what is drawn with it, so that different draws do not share their randomness.

    Args:
        seed: the seed.
        purpose: what is drawn.

    Returns:
        The key.

    Raises:
        ValueError: the seed is negative.
    """
    if seed < 0:
        raise ValueError(f"a seed is a whole number from 0 on, got {seed}")
    words = np.array([seed & 0xFFFFFFFFFFFFFFFF], dtype=np.uint64)
    name = np.uint64(zlib.crc32(purpose.encode()))
    mixed: np.uint64 = hashed(hashed(words) ^ name)[0]
    return mixed


def uniform(indices: Tensor, seed: int, purpose: str) -> Tensor:
    """A number in [0, 1) for each index, float64, the same whichever other indices are asked for.

    >>> few, many = torch.tensor([7]), torch.arange(10)
    >>> bool(uniform(few, 0, "hue")[0] == uniform(many, 0, "hue")[7])
    True
    """
    counters = indices.detach().cpu().numpy().astype(np.uint64)
    with np.errstate(over="ignore"):
        bits = hashed(counters * _STEP ^ key(seed, purpose))
    return torch.from_numpy((bits >> np.uint64(11)).astype(np.float64) * 2.0**-53)


def permutation(count: int, seed: int, purpose: str = "split") -> Tensor:
    """A random permutation of 0 … count-1.

    The indices stand in the order of their hashes (ties, which are rare, by index).

    Args:
        count: how many.
        seed: what it depends on.
        purpose: what it is for; permutations for different purposes have nothing in common.

    Returns:
        The permutation, ``(count,)``.

    Example:
        >>> sorted(permutation(5, seed=1).tolist())
        [0, 1, 2, 3, 4]
    """
    with np.errstate(over="ignore"):
        bits = hashed(np.arange(count, dtype=np.uint64) * _STEP ^ key(seed, purpose))
    return torch.from_numpy(np.argsort(bits, kind="stable"))
