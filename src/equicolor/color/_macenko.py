"""The two dyes of a stained image, by the plane of its optical densities: batched, in a form that can be exported."""

import torch
from torch import Tensor

#: Of the light behind the slide, in [0, 1].
_LAMP = 240 / 255
#: Added to a value, so that black has a density.
_FLOOR = 1 / 255
#: Below this mean density, a pixel is as good as transparent.
_COLOURED = 0.15
#: So many of the pixels must be coloured.
_LEAST_SHARE = 1 / 16
#: In percent: beyond the directions of the dyes, and below the amount of a dye that is scaled.
_ALPHA, _AMOUNT = 1.0, 99.0
#: Haematoxylin and eosin, and the 99th percentiles of their amounts: the usual reference of this method.
_DYES = ((0.5626, 0.7201, 0.4062), (0.2159, 0.8012, 0.5581))
_AMOUNTS = (1.9705, 1.0308)
#: Of the squared sine between two dyes: below it they are one.
_LEAST_ANGLE = 1e-3
#: Of the amount of a dye that is scaled.
_LEAST_AMOUNT = 0.01
#: Of the variance of densities: below it, an image is of one colour.
_LEAST_SPREAD = 1e-6
#: How often a matrix is squared until one direction of it is left.
_SQUARINGS = 20


def reference_stains(images: Tensor, counted: Tensor) -> tuple[Tensor, Tensor]:
    """Images in the dyes of the reference, and for which of them two dyes were found: ``(*, 1, 1, 1)``.

    Args:
        images: RGB in [0, 1], ``(*, 3, H, W)``, float32 or better.
        counted: the pixels that count, ``(*, 1, H, W)``.
    """
    batch, (height, width) = images.shape[:-3], images.shape[-2:]
    density = -((images + _FLOOR) / _LAMP).log().flatten(-2)  # (*, 3, P)
    coloured = counted.flatten(-2) & (density.mean(-2, keepdim=True) >= _COLOURED)
    share = coloured.to(images.dtype).mean(-1, keepdim=True)  # (*, 1, 1)
    mean = torch.where(coloured, density, 0.0).mean(-1, keepdim=True) / share.clamp(min=_LEAST_SHARE)
    across, is_plane = _across(torch.where(coloured, density - mean, 0.0))
    first = _unit(mean - across * (across * mean).sum(-2, keepdim=True))  # in the plane, and positive for most pixels
    second = torch.linalg.cross(across, first, dim=-2)
    angle = torch.atan2((second * density).sum(-2, keepdim=True), (first * density).sum(-2, keepdim=True))
    ends = [_percentile(angle, coloured, percent) for percent in (_ALPHA, 100 - _ALPHA)]
    one, other = (first * end.cos() + second * end.sin() for end in ends)
    swapped = one[..., :1, :] < other[..., :1, :]  # haematoxylin takes more of red
    dyes = [torch.where(swapped, *pair) for pair in ((other, one), (one, other))]

    between = (dyes[0] * dyes[1]).sum(-2, keepdim=True)
    apart = 1 - between * between
    along = [(dye * density).sum(-2, keepdim=True) for dye in dyes]
    amounts = [(along[i] - between * along[1 - i]) / apart.clamp(min=_LEAST_ANGLE) for i in (0, 1)]
    most = [_percentile(amount, counted.flatten(-2), _AMOUNT) for amount in amounts]
    found = is_plane & (apart >= _LEAST_ANGLE) & (share >= _LEAST_SHARE)
    found = found & (most[0] > _LEAST_AMOUNT) & (most[1] > _LEAST_AMOUNT)
    mixed = torch.zeros_like(density)
    for dye, usual, amount, top in zip(_DYES, _AMOUNTS, amounts, most, strict=True):
        mixed = mixed + images.new_tensor(dye).view(3, 1) * (amount * (usual / top.clamp(min=_LEAST_AMOUNT)))
    moved = (_LAMP * torch.exp(-mixed.clamp(-1, 80)) - _FLOOR).clamp(0, 1)
    return moved.view(*batch, 3, height, width), found[..., None]


def _across(spread: Tensor) -> tuple[Tensor, Tensor]:
    """The direction ``(*, 3, 1)`` in which densities ``(*, 3, P)`` of mean 0 vary least, and whether there is one.

    The covariance C has the same directions as trace(C) - C, of which a power, by squaring, leaves but the largest.
    """
    covariance = spread @ spread.mT / spread.shape[-1]
    size = covariance.diagonal(dim1=-2, dim2=-1).sum(-1)[..., None, None]
    identity = torch.eye(3, dtype=spread.dtype, device=spread.device)
    power = identity - covariance / size.clamp(min=_LEAST_SPREAD)
    for _ in range(_SQUARINGS):
        power = power @ power
        power = power / power.diagonal(dim1=-2, dim2=-1).sum(-1)[..., None, None].clamp(min=1e-12)
    longest = power.square().sum(-2, keepdim=True).argmax(-1, keepdim=True)  # of its columns, all alike but in length
    column = power.gather(-1, longest.expand(*power.shape[:-1], 1))
    is_one = power.square().sum((-2, -1), keepdim=True) > 0.9  # 1/2 where two directions are left, 1/3 of three
    return _unit(column), is_one & (size > _LEAST_SPREAD)


def _percentile(values: Tensor, chosen: Tensor, percent: float) -> Tensor:
    """Of the chosen values ``(*, 1, P)``, the nearest: ``(*, 1, 1)``; something finite where none is chosen."""
    ordered = torch.where(chosen, values, values.amax(-1, keepdim=True)).sort(-1).values
    rank = ((chosen.sum(-1, keepdim=True) - 1) * (percent / 100)).round().clamp(min=0).long()
    return ordered.gather(-1, rank)


def _unit(direction: Tensor) -> Tensor:
    return direction / direction.square().sum(-2, keepdim=True).sqrt().clamp(min=1e-12)
