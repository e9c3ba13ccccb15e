"""What the images of 3D Shapes vary in, and how they are numbered by it: row-major, the last factor fastest."""

import math
from collections.abc import Sequence
from typing import TypeAlias

import torch
from torch import Tensor

#: The factors of variation and how many values each takes, in the order of the original.
FACTORS = {"floor_hue": 10, "wall_hue": 10, "object_hue": 10, "scale": 8, "shape": 4, "orientation": 15}
#: What the four values of the factor ``shape`` are.
SHAPES = ("cube", "cylinder", "sphere", "capsule")
#: How many images there are, and how many that differ in more than colour.
SIZE = math.prod(FACTORS.values())
GEOMETRIES = FACTORS["scale"] * FACTORS["shape"] * FACTORS["orientation"]

Numbers: TypeAlias = Tensor | Sequence[int] | Sequence[Sequence[int]]


def to_factors(indices: Numbers) -> Tensor:
    """The factor values of images, ``[B] -> [B, 6]``, in the order of ``FACTORS``.

    >>> to_factors([0, 14, 15, 479_999]).tolist()
    [[0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 14], [0, 0, 0, 0, 1, 0], [9, 9, 9, 7, 3, 14]]
    """
    rest = _checked_indices(indices)
    values = []
    for size in reversed(FACTORS.values()):
        values.append(rest % size)
        rest = rest // size
    return torch.stack(values[::-1], dim=1)


def to_indices(factors: Numbers) -> Tensor:
    """The images with these factor values, ``[B, 6] -> [B]``: the inverse of :func:`to_factors`.

    >>> to_indices([[0, 0, 0, 0, 1, 0], [9, 9, 9, 7, 3, 14]]).tolist()
    [15, 479999]
    """
    values = _integers(factors, "factors")
    if values.dim() != 2 or values.shape[1] != len(FACTORS):
        raise ValueError(
            f"expected factors [B, 6], one column for each of {', '.join(FACTORS)}; got shape {tuple(values.shape)}"
        )
    index = torch.zeros(len(values), dtype=torch.long, device="cpu")
    for column, (name, size) in zip(values.unbind(1), FACTORS.items(), strict=True):
        outside = column[(column < 0) | (column >= size)]
        if len(outside):
            raise ValueError(f"factor {name} takes the values 0 to {size - 1}, got {int(outside[0])}")
        index = index * size + column
    return index


def as_indices(numbers: Numbers) -> Tensor:
    """Indices ``[B]`` of images that are given by them, or by their factors ``[B, 6]``."""
    values = _integers(numbers, "indices")
    return to_indices(values) if values.dim() == 2 else _checked_indices(values)


def _checked_indices(numbers: Numbers) -> Tensor:
    indices = _integers(numbers, "indices")
    if indices.dim() != 1:
        raise ValueError(
            f"expected indices [B], or factors [B, 6] where they are taken; got shape {tuple(indices.shape)}"
        )
    outside = indices[(indices < 0) | (indices >= SIZE)]
    if len(outside):
        raise IndexError(f"there are {SIZE:,} images, numbered from 0; got index {int(outside[0])}")
    return indices


def _integers(numbers: Numbers, what: str) -> Tensor:
    values = torch.as_tensor(numbers, device="cpu")
    if values.numel() and (values.is_floating_point() or values.is_complex() or values.dtype == torch.bool):
        raise TypeError(f"expected {what} as integers, got {values.dtype}")
    return values.long()
