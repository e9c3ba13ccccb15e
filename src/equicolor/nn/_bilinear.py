"""A group convolution by a bilinear algorithm, y = C · [(A x) ⊛ (B w)], and its gradient.

Left to itself, autograd would keep A x and B w, which are larger than x and w. Here it keeps x and w, and the backward
pass transforms them once more: that is a few additions, beside convolutions.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.autograd.function import once_differentiable

from equicolor._tools.tensors import full_precision, is_channels_last, is_traced, is_transformed
from equicolor.algorithms import Algorithm, transpose
from equicolor.nn._combine import combine, unstack


class Convolution(NamedTuple):
    """The settings of an ordinary convolution, without its features, filters and bias.

    Attributes:
        stride: as in :func:`torch.nn.functional.conv2d`.
        padding: as in :func:`torch.nn.functional.conv2d`.
        dilation: as in :func:`torch.nn.functional.conv2d`.
        groups: as in :func:`torch.nn.functional.conv2d`.
        transposed: whether it is the transposed convolution, :func:`torch.nn.functional.conv_transpose2d`.
        output_padding: as in :func:`torch.nn.functional.conv_transpose2d`.

    Shape:
        ``(B, in, H, W)`` to ``(B, out, H', W')``.
    """

    stride: tuple[int, int]
    padding: tuple[int, int]
    dilation: tuple[int, int]
    groups: int
    transposed: bool = False
    output_padding: tuple[int, int] = (0, 0)

    def forward(self, features: Tensor, filters: Tensor, bias: Tensor | None) -> Tensor:
        """Computes the convolution.

        A method with a name, since PyTorch 2.8 does not compile the call of a named tuple.

        Args:
            features: the input.
            filters: the filters, as :func:`torch.nn.functional.conv2d` takes them.
            bias: one number for each output channel, or None.

        Returns:
            The output.

        Shape:
            ``(B, in, H, W)`` to ``(B, out, H', W')``.
        """
        if self.transposed:
            return F.conv_transpose2d(
                features, filters, bias, self.stride, self.padding, self.output_padding, self.groups, self.dilation
            )
        return F.conv2d(features, filters, bias, self.stride, self.padding, self.dilation, self.groups)

    def backward(
        self, gradient: Tensor, features: Tensor, filters: Tensor, wanted: tuple[bool, bool]
    ) -> tuple[Tensor, Tensor]:
        """Computes the gradients of features and filters.

        Args:
            gradient: the gradient of the output.
            features: the input of :meth:`forward`.
            filters: the filters of :meth:`forward`.
            wanted: whether the gradient of the features, and that of the filters, is needed.

        Returns:
            Both gradients; one that is not wanted is not computed.
        """
        results: Any = torch.ops.aten.convolution_backward(
            gradient,
            features,
            filters,
            None,
            self.stride,
            self.padding,
            self.dilation,
            self.transposed,
            self.output_padding,
            self.groups,
            (*wanted, False),
        )
        return results[0], results[1]


def transform_filters(weight: Tensor, algorithm: Algorithm) -> Tensor:
    """B w: filters ``(out, n·in, kH, kW)`` to those of the algorithm's convolutions, ``(R·out, in, kH, kW)``.

    In full precision, also under autocast, since they are sums of filters.
    """
    taps = torch.unflatten(weight, 1, (len(algorithm.filter[0]), -1)).movedim(1, 0)
    if is_channels_last(weight):
        taps = taps.movedim(2, -1).flatten(0, 1).movedim(-1, 1)
    else:
        taps = taps.flatten(0, 1)
    with full_precision(weight.device):
        return combine(algorithm.filter, taps, fuse=False)


def _gradient_of_weight(of_filters: Tensor | Sequence[Tensor], weight: Tensor, algorithm: Algorithm) -> Tensor:
    """The transpose of :func:`transform_filters`, in the layout of the weight."""
    taps = combine(transpose(algorithm.filter), of_filters)
    taps = torch.unflatten(taps, 0, (len(algorithm.filter[0]), -1)).movedim(0, 1)
    if is_channels_last(weight):
        return taps.movedim(2, -1).movedim(1, -2).flatten(-2).movedim(-1, 1)
    return taps.flatten(1, 2)


def _gradient_of_bias(of_products: Sequence[Tensor], algorithm: Algorithm) -> Tensor:
    """The transpose of :func:`share_bias`."""
    parts = [share * each.sum((0, 2, 3)) for share, each in zip(algorithm.shares, of_products, strict=True) if share]
    return torch.stack(parts).sum(0)


class _Stack:
    """The slabs of a transform, and in their places what is computed of them, one after another.

    So the results lie side by side for the next transform without being copied together, and take no memory beside that
    of the slabs. Results of another shape are kept apart, and so are all of them where somebody records what is done.
    """

    def __init__(self, slabs: Tensor, rank: int) -> None:
        self._whole, self.slabs = slabs, unstack(slabs, rank)
        self._results: list[Tensor] = []
        self._recorded = torch.is_grad_enabled() or is_traced() or is_transformed()

    def put(self, result: Tensor) -> None:
        """Takes the next slab's result. The slab is gone then."""
        place = self.slabs[len(self._results)]
        apart = self._recorded or place.shape != result.shape
        self._results.append(result.to(place.dtype) if apart else place.copy_(result))

    @property
    def results(self) -> Tensor | list[Tensor]:
        """All of them, as :func:`combine` takes them."""
        in_place = all(result is place for result, place in zip(self._results, self.slabs, strict=True))
        return self._whole if in_place else self._results


def convolve(
    features: Tensor, filters: Tensor, bias: Tensor | None, algorithm: Algorithm, convolution: Convolution
) -> Tensor:
    """C · [(A x) ⊛ filters] + bias, with filters transformed already."""
    products = _Stack(combine(algorithm.feature, features), algorithm.rank)
    parts = zip(products.slabs, unstack(filters, algorithm.rank), share_bias(bias, algorithm), strict=True)
    for part in parts:
        products.put(convolution.forward(*part))
    return combine(algorithm.inverse, products.results)


def share_bias(bias: Tensor | None, algorithm: Algorithm) -> list[Tensor | None]:
    """A bias for each product, which together reach every element as this one."""
    if bias is None:
        return [None] * algorithm.rank
    return [None if share == 0 else bias if share == 1 else bias * share for share in algorithm.shares]


def convolve_trained(
    features: Tensor, weight: Tensor, bias: Tensor | None, algorithm: Algorithm, convolution: Convolution
) -> Tensor:
    """The same of filters that are not transformed, and all derivatives."""
    function = _Transformed if is_transformed() else _Recorded
    result: Tensor = function.apply(features, weight, bias, algorithm, convolution)  # type: ignore[no-untyped-call]
    return result


class _Transformed(torch.autograd.Function):
    """``apply(features, weight, bias, algorithm, convolution)`` under a transform of ``torch.func``."""

    generate_vmap_rule = True

    @staticmethod
    def forward(
        features: Tensor, weight: Tensor, bias: Tensor | None, algorithm: Algorithm, convolution: Convolution
    ) -> Tensor:
        filters = transform_filters(weight, algorithm)
        result = convolve(features, filters, bias, algorithm, convolution)
        return result if is_transformed() else result.data  # no view, which nobody could change in place

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        features, weight, _, ctx.algorithm, ctx.convolution = inputs
        ctx.save_for_backward(features, weight)
        ctx.save_for_forward(features, weight)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        (gradient,) = gradients
        features, weight = ctx.saved_tensors
        algorithm, convolution = ctx.algorithm, ctx.convolution
        wanted = (ctx.needs_input_grad[0], ctx.needs_input_grad[1])
        of_features = of_weight = of_bias = None
        if ctx.needs_input_grad[2]:
            of_bias = gradient.sum((0, 2, 3))
        if any(wanted):
            rank, kind = algorithm.rank, gradient.dtype  # of the convolutions, which autocast may have lowered
            of_products = unstack(combine(transpose(algorithm.inverse), gradient), rank)
            of_slabs = _Stack(combine(algorithm.feature, features.to(kind)), rank)
            of_filters = _Stack(transform_filters(weight, algorithm), rank)
            for part in zip(of_products, of_slabs.slabs, of_filters.slabs, strict=True):
                of_slab, of_filter = convolution.backward(*(each.to(kind) for each in part), wanted=wanted)
                if wanted[0]:
                    of_slabs.put(of_slab)
                if wanted[1]:
                    of_filters.put(of_filter)
            if wanted[0]:
                of_features = combine(transpose(algorithm.feature), of_slabs.results).to(features.dtype)
            if wanted[1]:
                of_weight = _gradient_of_weight(of_filters.results, weight, algorithm)
        return of_features, of_weight, of_bias, None, None

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Tensor:
        features, weight = ctx.saved_tensors
        of_features, of_weight, of_bias = tangents[:3]
        result: Tensor = features.new_zeros(()) if of_bias is None else of_bias.view(-1, 1, 1)
        for x, w in ((of_features, weight), (features, of_weight)):
            if x is not None and w is not None:
                filters = transform_filters(w, ctx.algorithm)
                result = result + convolve(x, filters, None, ctx.algorithm, ctx.convolution)
        return result


class _Recorded(torch.autograd.Function):
    """The same elsewhere: with a ``setup_context``, PyTorch looks up the signature of ``forward`` in every call."""

    @staticmethod
    def forward(ctx: Any, *inputs: Any) -> Tensor:
        result = _Transformed.forward(*inputs)
        _Transformed.setup_context(ctx, inputs, result)
        return result

    backward = _Transformed.backward
    jvp = _Transformed.jvp


def trained_products(
    features: Tensor,
    slabs: Sequence[Tensor],
    weight: Tensor,
    bias: Tensor | None,
    algorithm: Algorithm,
    convolution: Convolution,
) -> list[Tensor]:
    """The convolutions of slabs, which are the features transformed, and their first derivatives.

    Of the features nothing is differentiated: they are kept instead of the slabs, and transformed once more.
    """
    found: Any = _Products.apply(features.detach(), weight, bias, algorithm, convolution, *slabs)  # type: ignore[no-untyped-call]
    return list(found)


class _Products(torch.autograd.Function):
    """``apply(features, weight, bias, algorithm, convolution, *slabs)``: a product of each slab."""

    @staticmethod
    def forward(ctx: Any, *inputs: Any) -> tuple[Tensor, ...]:
        features, weight, bias, ctx.algorithm, ctx.convolution, *slabs = inputs
        ctx.save_for_backward(features, weight)
        filters = unstack(transform_filters(weight, ctx.algorithm), len(slabs))
        parts = zip(slabs, filters, share_bias(bias, ctx.algorithm), strict=True)
        return tuple(ctx.convolution.forward(*part) for part in parts)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *of_products: Tensor) -> tuple[Tensor | None, ...]:
        features, weight = ctx.saved_tensors
        algorithm, convolution = ctx.algorithm, ctx.convolution
        wanted = (any(ctx.needs_input_grad[5:]), ctx.needs_input_grad[1])
        of_bias = _gradient_of_bias(of_products, algorithm) if ctx.needs_input_grad[2] else None
        of_slabs: list[Tensor | None] = [None] * len(of_products)
        of_weight = None
        if any(wanted):
            with full_precision(features.device):  # also where the backward pass alone is under autocast
                slabs = unstack(combine(algorithm.feature, features), len(of_products))
            of_filters = _Stack(transform_filters(weight, algorithm), len(of_products))
            for place, part in enumerate(zip(of_products, slabs, of_filters.slabs, strict=True)):
                of_slab, of_filter = convolution.backward(*part, wanted=wanted)
                if wanted[0]:
                    of_slabs[place] = of_slab
                if wanted[1]:
                    of_filters.put(of_filter)
            if wanted[1]:
                of_weight = _gradient_of_weight(of_filters.results, weight, algorithm)
        return None, of_weight, of_bias, None, None, *of_slabs
