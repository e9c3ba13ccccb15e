"""Stain: more or less of one dye in images of stained tissue.

Dyes multiply the light they let through, so they add in *optical density*, OD = -log(x): the OD of a pixel is a mixture
c·M of the rows of a stain matrix M, which say how much each dye takes of red, green and blue. A shift by s of the
log-concentration of dye i makes it e^s times as much and leaves the others: c_i ↦ e^s·c_i, linear in OD. So shifts of
all dyes commute, and on colours that are mixtures of the dyes (c ≥ 0) they are a true action of (ℝ³, +), which never
leaves [0, 1]. For other colours:

- *Black* has no finite OD: values below 1e-6 count as 1e-6.
- *A negative concentration* is no dye, but noise or a colour that no mixture gives: it is left as it is.
- *Brighter than the lamp*: where a dye is taken away from a colour that is no mixture, results may exceed 1. They are
  cut off at 1, and what is cut off is lost.
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from equicolor.color._images import as_images, check_shift, where_exact, working

#: What haematoxylin, eosin and DAB take of red, green and blue: Ruifrok and Johnston, "Quantification of histochemical
#: staining by color deconvolution", Analytical and Quantitative Cytology and Histology 23 (2001), 291-299.
STAINS = ((0.65, 0.70, 0.29), (0.07, 0.99, 0.11), (0.27, 0.57, 0.78))
#: Below this, a value is black.
DARKEST = 1e-6

Matrix = Sequence[Sequence[float]]


def shift_stain(images: Tensor, shifts: Sequence[float] | Tensor, matrix: Matrix = STAINS) -> Tensor:
    """Adds to each dye for a positive shift of its log-concentration, takes away for a negative one, all in one pass.

    Args:
        images: RGB in [0, 1].
        shifts: one number for each of the three dyes, or a tensor of three for each image, ``(*, 3)``. 0.69 doubles a
            dye.
        matrix: 3×3, a row for each dye: how much it takes of red, green and blue, in any unit. By default those of
            haematoxylin, eosin and DAB.

    Returns:
        The moved images, in [0, 1].

    Raises:
        ValueError: there are not three shifts.

    Shape:
        ``(*, 3, H, W)`` to ``(*, 3, H, W)``.

    Example:
        >>> pink = torch.exp(-torch.tensor(STAINS[1])).view(3, 1, 1)  # eosin alone
        >>> more = shift_stain(pink, [0.0, math.log(2), 0.0])
        >>> torch.allclose(more, pink**2)
        True
    """
    check_shift(shifts)
    images = as_images(images)
    work = working(images)
    given = shifts if isinstance(shifts, Tensor) else work.new_tensor([float(shift) for shift in shifts])
    # The number of axes first: a batch of any size must not be held against a number, in an exported graph.
    if tuple(given.shape) != ((3,) if given.dim() == 1 else (*images.shape[:-3], 3)):
        raise ValueError(
            f"expected a shift for each of three stains, or three for each image {(*images.shape[:-3], 3)}, got shape "
            f"{tuple(given.shape)}"
        )
    by = given.to(work)[..., None, None]
    more = by.clamp(max=80).expm1() * _amounts(work, matrix)
    added = torch.einsum("...ihw,ic->...chw", more, work.new_tensor(matrix))
    moved = (work.clamp(DARKEST, 1.0) * torch.exp(-added)).clamp(max=1)
    return where_exact((by == 0).all(-3, keepdim=True), work, moved, given).to(images.dtype)


def stain_orbit(images: Tensor, shifts: Sequence[Sequence[float]], matrix: Matrix = STAINS) -> Tensor:
    """Applies every combination of shifts of the three dyes to images.

    Args:
        images: RGB in [0, 1].
        shifts: for each of the three dyes, its shifts.
        matrix: the dyes, as for :func:`shift_stain`.

    Returns:
        The moved images, with three new axes in front.

    Shape:
        ``(*, 3, H, W)`` to ``(len(shifts[0]), len(shifts[1]), len(shifts[2]), *, 3, H, W)``.

    Example:
        >>> stain_orbit(torch.rand(2, 3, 8, 8), [[-0.3, 0.0, 0.3], [0.0], [0.0]]).shape
        torch.Size([3, 1, 1, 2, 3, 8, 8])
    """
    check_shift(*shifts)
    images = as_images(images)
    work = working(images)
    lengths, places = [len(own) for own in shifts], [list(own).index(0) if 0 in own else None for own in shifts]
    if not any(any(own) for own in shifts):
        return images.expand(*lengths, *images.shape).clone()
    dyes = torch.split(_amounts(work, matrix), 1, dim=-3)
    moved = work.clamp(DARKEST, 1.0)
    # Densities add, so transmissions multiply: one exponential for each shift of a dye, not for each combination.
    for dye, own, row in reversed(list(zip(dyes, shifts, matrix, strict=True))):
        if not any(own):
            moved = moved.expand(len(own), *moved.shape)
            continue
        less = [[-math.expm1(min(shift, 80.0)) * part for part in row] for shift in own]
        passed = torch.exp(work.new_tensor(less).view(len(own), *[1] * (work.dim() - 3), 3, 1, 1) * dye)
        moved = passed.view(len(own), *[1] * (moved.dim() - work.dim()), *work.shape) * moved
    moved = moved.clamp(max=1)
    if None not in places:  # bit-exact where nothing moves
        moved[tuple(places)] = work
    return moved.to(images.dtype)


def stain_concentrations(images: Tensor, matrix: Matrix = STAINS) -> Tensor:
    """Computes how much of each dye there is in every pixel.

    Args:
        images: RGB in [0, 1].
        matrix: the dyes, as for :func:`shift_stain`.

    Returns:
        The concentrations of the three dyes; negative where no mixture of them gives the colour.

    Shape:
        ``(*, 3, H, W)`` to ``(*, 3, H, W)``.

    Example:
        >>> pink = torch.exp(-torch.tensor(STAINS[1])).view(3, 1, 1)
        >>> [abs(round(value, 4)) for value in stain_concentrations(pink).flatten().tolist()]
        [0.0, 1.0, 0.0]
    """
    images = as_images(images)
    work = working(images)
    density = -work.clamp(DARKEST, 1.0).log()
    return torch.einsum("...chw,ci->...ihw", density, work.new_tensor(inverse(matrix))).to(images.dtype)


def inverse(matrix: Matrix) -> list[list[float]]:
    """Of 3×3, by cofactors, in plain numbers: constants to a compiler."""
    (a, b, c), (d, e, f), (g, h, i) = matrix
    cofactors = [[e * i - f * h, c * h - b * i, b * f - c * e]]
    cofactors.append([f * g - d * i, a * i - c * g, c * d - a * f])
    cofactors.append([d * h - e * g, b * g - a * h, a * e - b * d])
    determinant = a * cofactors[0][0] + b * cofactors[1][0] + c * cofactors[2][0]
    return [[value / determinant for value in row] for row in cofactors]


def _amounts(images: Tensor, matrix: Matrix) -> Tensor:
    return stain_concentrations(images, matrix).clamp(min=0)
