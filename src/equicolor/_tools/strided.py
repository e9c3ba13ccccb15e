"""Strided 1×1 convolutions without their stride: a bug of the CPU's kernels that none of our networks may meet.

On CPUs with AVX2 but no AVX-512, oneDNN's gradient of the filters of a strided 1×1 convolution in channels_last writes
past its workspace where there are fewer than 8 input channels, or output channels of a transposed one: it is wrong, or
the process hangs or dies (https://github.com/uxlfoundation/oneDNN/issues/6035, in PyTorch up to 2.13 at least). A 1×1
filter needs no stride: of an ordinary convolution, leave out what the stride skips before it; of a transposed one, put
zeros between before it.
"""

from collections.abc import Sequence
from typing import Any

import torch.nn.functional as F
from torch import Tensor, nn

from equicolor._tools.leaf import leaf
from equicolor._tools.tensors import layout


def is_strided_point(kernel_size: Sequence[int], stride: Sequence[int], padding: Sequence[int] | str) -> bool:
    """Whether a convolution is 1×1 and strided, without padding."""
    unpadded = padding == "valid" if isinstance(padding, str) else not any(padding)
    return tuple(kernel_size) == (1, 1) and tuple(stride) != (1, 1) and unpadded


def thin(features: Tensor, stride: Sequence[int]) -> Tensor:
    """The pixels that a strided 1×1 convolution looks at, laid out as they were."""
    return features[:, :, :: stride[0], :: stride[1]].contiguous(memory_format=layout(features))


def spread(features: Tensor, stride: Sequence[int], output_padding: Sequence[int]) -> Tensor:
    """``features`` with zeros between, where a strided transposed 1×1 convolution would put their images."""
    height, width = features.shape[2:]
    apart = F.pad(features[:, :, :, None, :, None], (0, stride[1] - 1, 0, 0, 0, stride[0] - 1))
    whole = apart.reshape(*features.shape[:2], height * stride[0], width * stride[1])
    # The last pixel is followed by its output padding alone, which may be wider than the stride.
    ends = [padding + 1 - step for padding, step in zip(output_padding, stride, strict=True)]
    return F.pad(whole, (0, ends[1], 0, ends[0])).contiguous(memory_format=layout(features))


class _StridedPoint2d(nn.Conv2d):
    """A strided 1×1 convolution that computes as one without a stride."""

    @leaf
    def forward(self, features: Tensor) -> Tensor:
        return F.conv2d(thin(features, self.stride), self.weight, self.bias, groups=self.groups)


class _StridedPointTranspose2d(nn.ConvTranspose2d):
    """The same of a transposed one."""

    @leaf
    def forward(self, features: Tensor, output_size: list[int] | None = None) -> Tensor:
        find: Any = self._output_padding
        padding = find(features, output_size, self.stride, self.padding, self.kernel_size, 2, self.dilation)
        return F.conv_transpose2d(spread(features, self.stride, padding), self.weight, self.bias, groups=self.groups)


def without_strided_points(module: nn.Module) -> nn.Module:
    """``module``, with plain strided 1×1 convolutions in it that compute the same without their strides.

    They keep their parameters and stay a ``torch.nn.Conv2d`` or ``torch.nn.ConvTranspose2d``.
    """
    for layer in module.modules():
        if type(layer) is nn.Conv2d and is_strided_point(layer.kernel_size, layer.stride, layer.padding):
            layer.__class__ = _StridedPoint2d
        elif type(layer) is nn.ConvTranspose2d and is_strided_point(layer.kernel_size, layer.stride, layer.padding):
            layer.__class__ = _StridedPointTranspose2d
    return module
