"""Batch norm, in less time where channels are few.

On a CPU, PyTorch's kernels for channels_last features take one pixel after another: whole vectors of its channels, and
slowly what is left of them. Networks on a group have √n times fewer channels, in more pixels. Here k pixels of C
channels are read as one of k·C, which fill vectors; what belongs to the same channel is put together afterwards.
"""

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.autograd import forward_ad

from equicolor._tools.leaf import leaf
from equicolor._tools.machine import LANES
from equicolor._tools.tensors import is_channels_last, is_plain, is_traced

#: With more channels than these, what does not fill a vector matters no longer.
_MOST_CHANNELS = 64


class BatchNorm2d(nn.BatchNorm2d):
    """A faster :class:`torch.nn.BatchNorm2d` for few channels on a CPU, with the same arguments and results.

    It is faster in training on a CPU, in channels_last, with fewer than 64 channels that do not fill the CPU's vectors,
    and computes as PyTorch's everywhere else, up to rounding. Parameters and buffers are the same. :func:`faster_norms`
    puts it where it gains; elsewhere there is no reason to use it: ``torch.jit.script`` cannot read it, nor do tools
    know it that ask for PyTorch's own class.

    Shape:
        ``(B, C, H, W)`` to ``(B, C, H, W)``.

    Example:
        >>> BatchNorm2d(9)(torch.rand(4, 9, 8, 8)).shape
        torch.Size([4, 9, 8, 8])
    """

    @leaf
    def forward(self, features: Tensor) -> Tensor:
        joined = _joined(self.num_features)
        of_the_batch = self.training or self.running_mean is None or self.running_var is None
        simple = of_the_batch and self.affine and self.eps > 0
        if not simple or not _gains(features, self.weight, self.bias, joined):
            return super().forward(features)
        wide, mean, variance = _JoinedBatchNorm.apply(features, self.weight, self.bias, self.eps, joined)  # type: ignore[no-untyped-call]
        count = features.numel() // self.num_features
        self._remember(mean, variance * (count / (count - 1)))
        return _part(wide, features)

    @torch.no_grad()
    def _remember(self, mean: Tensor, variance: Tensor) -> None:
        """The running statistics, as :class:`torch.nn.BatchNorm2d` keeps them."""
        if not self.training or self.running_mean is None or self.running_var is None:
            return
        if self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
        momentum = self.momentum
        if momentum is None:  # the average over all batches
            momentum = 0.0 if self.num_batches_tracked is None else 1 / float(self.num_batches_tracked)
        self.running_mean.lerp_(mean.to(self.running_mean.dtype), momentum)
        self.running_var.lerp_(variance.to(self.running_var.dtype), momentum)


def faster_norms(module: nn.Module) -> nn.Module:
    """Replaces the batch norms of few channels in ``module`` by faster ones, for training on a CPU in channels_last.

    A :class:`torch.nn.BatchNorm2d` becomes a :class:`BatchNorm2d` of this package where that gains, in place, with the
    parameters and buffers that it has.

    Args:
        module: a network, which is changed.

    Returns:
        The same network.

    Example:
        >>> network = faster_norms(nn.Sequential(nn.BatchNorm2d(9), nn.BatchNorm2d(64)))
        >>> [type(norm) is nn.BatchNorm2d for norm in network]
        [False, True]
    """
    for layer in module.modules():
        if type(layer) is nn.BatchNorm2d and _joined(layer.num_features) > 1 and layer.num_features < _MOST_CHANNELS:
            layer.__class__ = BatchNorm2d
    return module


def _joined(channels: int) -> int:
    """How many pixels of so many channels fill vectors."""
    return LANES // math.gcd(LANES, channels)


def _gains(features: Tensor, weight: Tensor, bias: Tensor, joined: int) -> bool:
    """Whether joining pixels is possible, and worth it."""
    if is_traced() or features.device.type != "cpu" or not is_channels_last(features):
        return False
    pixels, channels = features.numel() // max(1, features.shape[1]), features.shape[1]
    fits = 1 < joined <= pixels and pixels % joined == 0 and channels == len(weight) < _MOST_CHANNELS
    kinds = {tensor.dtype for tensor in (features, weight, bias)}
    return fits and kinds in ({torch.float32}, {torch.float64}) and not any(map(_transformed, (features, weight, bias)))


def _transformed(tensor: Tensor) -> bool:
    """Whether it is no plain tensor, or a forward derivative follows what is done to it."""
    return not is_plain(tensor) or forward_ad.unpack_dual(tensor).tangent is not None  # type: ignore[no-untyped-call]


class _JoinedBatchNorm(torch.autograd.Function):
    """``apply(features, weight, bias, eps, joined)``: the result, joined, and mean and variance of each channel."""

    @staticmethod
    def forward(
        ctx: Any, features: Tensor, weight: Tensor, bias: Tensor, eps: float, joined: int
    ) -> tuple[Tensor, Tensor, Tensor]:
        wide = _join(features, joined)
        _, means, deviations = torch.native_batch_norm(wide, None, None, None, None, True, 0.0, eps)
        means, deviations = means.view(joined, -1), deviations.view(joined, -1)  # the latter are 1/√(variance + eps)
        mean = means.mean(0)
        variance = (deviations.pow(-2).mean(0) - eps + (means - mean).square().mean(0)).clamp_min(0)
        means, variances, weights, biases = (tensor.repeat(joined) for tensor in (mean, variance, weight, bias))
        result = F.batch_norm(wide, means, variances, weights, biases, training=False, eps=eps)
        ctx.save_for_backward(features, weight, bias, mean, variance)
        ctx.eps, ctx.joined = eps, joined
        ctx.mark_non_differentiable(mean, variance)
        return result, mean, variance

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        features, weight, bias, mean, variance = ctx.saved_tensors
        of_wide, joined = gradients[0].contiguous(), ctx.joined
        if torch.is_grad_enabled():  # for second derivatives
            wanted = ctx.needs_input_grad[:3]
            inputs = [tensor for tensor, needed in zip((features, weight, bias), wanted, strict=True) if needed]
            result = F.batch_norm(features, None, None, weight, bias, True, 0.0, ctx.eps)
            found = iter(torch.autograd.grad(result, inputs, _part(of_wide, features), create_graph=True))
            return *(next(found) if needed else None for needed in wanted), None, None
        wide = _join(features, joined)
        each = (mean.repeat(joined), variance.repeat(joined))
        sums: Any = torch.ops.aten.native_batch_norm_backward(
            of_wide, wide, None, *each, None, None, False, ctx.eps, (False, True, True)
        )
        of_weight, of_bias = (part.view(joined, -1).sum(0) for part in sums[1:])
        of_features = None
        if ctx.needs_input_grad[0]:
            # weight · (gradient - of_bias/count - x̂ · of_weight/count) / deviation, with x̂ = (x - mean) / deviation
            count, deviation = features.numel() // len(mean), (variance + ctx.eps).sqrt()
            scale = weight / deviation
            slope = -scale * of_weight / (deviation * count)
            shift = -scale * of_bias / count - slope * mean
            scale, slope, shift = (row.repeat(joined).view(-1, 1, 1) for row in (scale, slope, shift))
            of_features = _part(torch.addcmul(shift, wide, slope).addcmul_(of_wide, scale), features)
        return of_features, of_weight, of_bias, None, None


def _join(features: Tensor, joined: int) -> Tensor:
    """``(B, C, H, W)`` in channels_last, k pixels as one: ``(B·H·W/k, k·C, 1, 1)``."""
    last = features.permute(0, 2, 3, 1)
    return last.reshape(-1, joined * features.shape[1], 1, 1)


def _part(wide: Tensor, like: Tensor) -> Tensor:
    """The inverse of :func:`_join`."""
    batch, channels, height, width = like.shape
    return wide.view(batch, height, width, channels).permute(0, 3, 1, 2)
