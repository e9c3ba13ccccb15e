"""The matrices of a bilinear algorithm applied to tensors, along the group that is stacked on their batch axis."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from equicolor._tools.tensors import is_channels_last, is_ordinary
from equicolor.algorithms import Matrix

#: So many terms of sums at most are written out to a compiler, which takes about as long over each as over a layer.
_MOST_TERMS = 48


def combine(matrix: Matrix, parts: Tensor | Sequence[Tensor], fuse: bool = True) -> Tensor:
    """``matrix`` applied along the group: ``(columns·B, *)``, whole or in slabs ``(B, *)``, to ``(rows·B, *)``.

    Eager, one matrix product is fastest. To a compiler the sums are written out, unless they are many or ``fuse`` is
    False, so that it fuses them with what stands before and after. Channels-last features stay so.
    """
    columns = len(matrix[0])
    if fuse and torch.compiler.is_compiling() and _terms(matrix) <= _MOST_TERMS:
        slabs = unstack(parts, columns) if isinstance(parts, Tensor) else parts
        return torch.cat([_weighted_sum(row, slabs) for row in matrix])
    stacked = parts if isinstance(parts, Tensor) else torch.cat(list(parts))
    if is_channels_last(stacked):
        return combine(matrix, stacked.permute(0, 2, 3, 1), fuse).permute(0, 3, 1, 2)
    batch = stacked.shape[0] // columns
    rows = _constant(matrix, stacked) @ stacked.reshape(columns, batch * math.prod(stacked.shape[1:]))
    return rows.view(len(matrix) * batch, *stacked.shape[1:])


def unstack(stacked: Tensor, count: int) -> tuple[Tensor, ...]:
    """``(count·B, *)`` as ``count`` slabs ``(B, *)``, views."""
    return torch.unflatten(stacked, 0, (count, stacked.shape[0] // count)).unbind(0)


def _terms(matrix: Matrix) -> int:
    return sum(weight != 0 for row in matrix for weight in row)


def _weighted_sum(weights: Sequence[float], slabs: Sequence[Tensor]) -> Tensor:
    terms = [(weight, slab) for weight, slab in zip(weights, slabs, strict=True) if weight != 0]
    if not terms:
        return torch.zeros_like(slabs[0])
    (weight, slab), *others = terms
    total = slab if weight == 1 else slab * weight
    for weight, slab in others:
        total = torch.add(total, slab, alpha=weight)
    return total


#: Matrices as tensors, since copying one to an accelerator would stall that.
_kept: dict[tuple[Matrix, torch.dtype, torch.device], Tensor] = {}
_MOST_KEPT = 256


def _constant(matrix: Matrix, like: Tensor) -> Tensor:
    """``matrix`` in the dtype and on the device of ``like``; of its kind, too, where that is a fake tensor."""
    if torch.compiler.is_compiling() or not is_ordinary(like):
        return like.new_tensor(matrix)
    key = (matrix, like.dtype, like.device)
    if (kept := _kept.get(key)) is not None:
        return kept
    with torch.inference_mode(False):  # a tensor made in inference mode could not be used in training later
        constant = torch.tensor(matrix, dtype=like.dtype, device=like.device)
    # Under a mode that makes other tensors, such as fake ones, what was made serves this call alone.
    if is_ordinary(constant):
        if len(_kept) >= _MOST_KEPT:
            _kept.clear()
        _kept[key] = constant
    return constant
