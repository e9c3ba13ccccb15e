"""Groups of stain: more or less of a dye in images of stained tissue. See :func:`equicolor.color.shift_stain`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from equicolor import color
from equicolor.color import Shift
from equicolor.groups._factor import Factor
from equicolor.groups._family import Family
from equicolor.groups._names import register_group


class _Stains(Family):
    """Dyes of one stain matrix: an image is taken apart into them once."""

    def check(self, factors: Sequence[Factor]) -> None:
        super().check(factors)
        if len({stain.matrix for stain in _stains(factors)}) > 1:
            names = "-".join(factor.name for factor in factors)
            raise ValueError(f"the factors of a product must share one stain matrix, got {names}")

    def orbit(self, factors: Sequence[Factor], images: Tensor, amounts: Sequence[Sequence[float]]) -> Tensor:
        stains = _stains(factors)
        shifts: list[Sequence[float]] = [(0.0,)] * 3
        for stain, own in zip(stains, amounts, strict=True):
            shifts[stain.row] = own
        rows = [stain.row for stain in stains]
        orbit = color.stain_orbit(images, shifts, stains[0].matrix)
        orbit = orbit.permute(*rows, *(axis for axis in range(orbit.dim()) if axis not in rows))
        return orbit.reshape(*map(len, amounts), *images.shape)

    def move(self, factors: Sequence[Factor], images: Tensor, amounts: Sequence[Shift]) -> Tensor:
        shifts = images.new_zeros(3)
        for stain, amount in zip(_stains(factors), amounts, strict=True):
            own = amount.flatten(-3) if isinstance(amount, Tensor) and amount.dim() else amount
            shifts = shifts + own * images.new_tensor([float(row == stain.row) for row in range(3)])
        return color.shift_stain(images, shifts, _stains(factors)[0].matrix)

    def domain(self, factors: Sequence[Factor], noise: Tensor) -> Tensor:
        """Mixtures of the dyes, none of them so dense that a move makes it black."""
        rows = noise.new_tensor(_stains(factors)[0].matrix)
        return torch.exp(-torch.einsum("...ihw,ic->...chw", noise, rows / rows.sum(0))).clamp(max=1)


def _stains(factors: Sequence[Factor]) -> list["Stain"]:
    return [factor for factor in factors if isinstance(factor, Stain)]


@dataclass(frozen=True)
class Stain(Factor):
    """A group of ``n`` amounts of a dye: shifts of its log-concentration by multiples of ``step``.

    The base class of all groups of stain. A class of a dye says which ``row`` of the matrix is its own.

    Args:
        step: the shift between neighbours; the default 0.3 makes it 1.35 times as much of the dye.
        matrix: 3×3, the optical densities of the three dyes in red, green and blue, a row each. By default those of
            haematoxylin, eosin and DAB by Ruifrok and Johnston (2001), :data:`equicolor.color.STAINS`.
        n: how many elements; 3 stands for {-1, 0, 1}.

    Attributes:
        row: which row of the matrix is the dye's.

    Example:
        >>> isinstance(Eosin(3), Stain), Eosin.row
        (True, 1)
    """

    row: ClassVar[int]
    family: ClassVar[Family] = _Stains("stain")
    step: float = 0.3
    matrix: tuple[tuple[float, ...], ...] = color.STAINS

    def __post_init__(self) -> None:
        super().__post_init__()
        matrix = np.asarray(self.matrix, dtype=np.float64)
        if matrix.shape != (3, 3) or not np.isfinite(matrix).all():
            raise ValueError(f"a stain matrix is 3×3, a row of densities for each dye, got {self.matrix!r}")
        if np.linalg.cond(matrix) > 1e4:
            raise ValueError(f"the rows of a stain matrix must point in different directions, got {self.matrix!r}")
        object.__setattr__(self, "matrix", tuple(map(tuple, matrix.tolist())))

    @property
    def reach(self) -> float:
        return 0.5

    def move(self, images: Tensor, amount: Shift) -> Tensor:
        return self.family.move([self], images, [amount])


@register_group
@dataclass(frozen=True)
class Hematoxylin(Stain):
    """A group of ``n`` amounts of haematoxylin, the blue of nuclei.

    Args:
        n: how many elements; 3 stands for {-1, 0, 1}.
        step: the shift of the log-concentration between neighbours.
        matrix: the dyes, as for :class:`Stain`.

    Example:
        >>> str(Hematoxylin(3) * Eosin(3))
        'hema3-eosin3'
    """

    prefix: ClassVar[str] = "hema"
    quantity: ClassVar[str] = "haematoxylin"
    row: ClassVar[int] = 0


@register_group
@dataclass(frozen=True)
class Eosin(Stain):
    """A group of ``n`` amounts of eosin, the pink of everything else.

    Args:
        n: how many elements; 3 stands for {-1, 0, 1}.
        step: the shift of the log-concentration between neighbours.
        matrix: the dyes, as for :class:`Stain`.

    Example:
        >>> Eosin(3).describe(-1)
        'eosin -0.3'
    """

    prefix: ClassVar[str] = "eosin"
    quantity: ClassVar[str] = "eosin"
    row: ClassVar[int] = 1


@register_group
@dataclass(frozen=True)
class DAB(Stain):
    """A group of ``n`` amounts of diaminobenzidine, the brown of antibodies.

    Args:
        n: how many elements; 3 stands for {-1, 0, 1}.
        step: the shift of the log-concentration between neighbours.
        matrix: the dyes, as for :class:`Stain`.

    Example:
        >>> DAB(3).describe(1)
        'DAB +0.3'
    """

    prefix: ClassVar[str] = "dab"
    quantity: ClassVar[str] = "DAB"
    row: ClassVar[int] = 2
