"""Networks without transforms: what no better way to transform, copy or call could beat.

Each group convolution computes the R convolutions of its bilinear algorithm and nothing else: n slabs of the feature as
they stand, and again as many of them as are missing. The results are wrong; the work is that of convolutions, norms and
activations. Slabs share a filter, and so a call: that is less work rather than more.
"""

from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from equicolor.nn import Convolution, GroupConvBase


def leave_out_transforms(model: nn.Module) -> nn.Module:
    """``model``, whose group convolutions no longer transform."""
    for layer in model.modules():
        if isinstance(layer, GroupConvBase):
            layer._convolve = partial(_convolve, layer)  # type: ignore[method-assign]
    return model


def _convolve(layer: GroupConvBase, features: Tensor, convolution: Convolution) -> Tensor:
    rank, order = layer._bilinear.rank, layer.group.order
    if layer.frozen:
        return _products(features, layer.filters[: len(layer.filters) // rank], layer.bias, rank, order, convolution)
    result: Tensor = _Products.apply(features, layer.weight, rank, order, convolution)  # type: ignore[no-untyped-call]
    return result if layer.bias is None else result + layer.bias.view(-1, 1, 1)


def _portions(rank: int, order: int, *stacked: Tensor) -> list[tuple[Tensor, ...]]:
    """R slabs of each, as often all n as they go into R, and the rest."""
    slabs = [order] * (rank // order) + [rank % order] * (rank % order > 0)
    return [tuple(each[: len(each) // order * count] for each in stacked) for count in slabs]


def _products(
    features: Tensor, filters: Tensor, bias: Tensor | None, rank: int, order: int, convolution: Convolution
) -> Tensor:
    first, *_ = [convolution.forward(slabs, filters, bias) for (slabs,) in _portions(rank, order, features)]
    return first


class _Products(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, features: Tensor, weight: Tensor, rank: int, order: int, convolution: Convolution) -> Tensor:
        filters = weight[:, : weight.shape[1] // order]
        ctx.save_for_backward(features, filters)
        ctx.rank, ctx.order, ctx.convolution = rank, order, convolution
        return _products(features, filters, None, rank, order, convolution)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        features, filters = ctx.saved_tensors
        wanted = (ctx.needs_input_grad[0], ctx.needs_input_grad[1])
        parts = _portions(ctx.rank, ctx.order, gradients[0], features)
        found = [ctx.convolution.backward(*part, filters, wanted) for part in parts]
        of_features, of_filters = found[0]
        return of_features, of_filters.repeat(1, ctx.order, 1, 1), None, None, None
