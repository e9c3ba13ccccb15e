"""Group convolution and its transpose, with the arguments of PyTorch's."""

from collections.abc import Sequence
from typing import Literal, TypeAlias

import torch
import torch.nn.functional as F
from torch import Tensor

from equicolor._tools.leaf import leaf
from equicolor._tools.strided import is_strided_point, spread, thin
from equicolor.groups import Group
from equicolor.nn._base import Choice, GroupConvBase, Size, pair
from equicolor.nn._bilinear import Convolution

PaddingMode: TypeAlias = Literal["zeros", "reflect", "replicate", "circular"]


class GroupConv2d(GroupConvBase):
    r"""Group convolution of a feature on the group: ``(G·B, in, H, W)`` to ``(G·B, out, H', W')``.

    Args:
        group: a group or its name.
        in_channels, out_channels: of each element of the group.
        kernel_size, stride, padding, dilation, groups, bias, padding_mode, device, dtype: as in
            :class:`torch.nn.Conv2d`.
        algorithm: ``"fast"`` sums over the group by a bilinear algorithm, ``"direct"`` by one convolution with the full
            filter bank; ``"auto"`` takes the one that is faster at this size. The parameters are the same.
        rescale: multiply element j of a truncated group by n/(n-abs(j)), to make up for the neighbours that its edge
            lacks. The paper's code does so, the paper does not say so.

    >>> GroupConv2d("hue4", 16, 32, 3, padding=1)(torch.rand(8, 16, 10, 12)).shape
    torch.Size([8, 32, 10, 12])
    """

    _output_first = True

    def __init__(
        self,
        group: Group | str,
        in_channels: int,
        out_channels: int,
        kernel_size: Size,
        stride: Size = 1,
        padding: Size | Literal["same", "valid"] = 0,
        dilation: Size = 1,
        groups: int = 1,
        bias: bool = True,
        algorithm: Choice = "auto",
        *,
        padding_mode: PaddingMode = "zeros",
        rescale: bool = False,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        sizes = (in_channels, out_channels, kernel_size, stride, dilation, groups)
        super().__init__(group, *sizes, bias, algorithm, rescale, device, dtype)
        if padding_mode not in ("zeros", "reflect", "replicate", "circular"):
            raise ValueError(
                f"unknown padding_mode {padding_mode!r}: expected 'zeros', 'reflect', 'replicate' or 'circular'"
            )
        self.padding: tuple[int, int] | str
        if isinstance(padding, str):
            if padding not in ("same", "valid"):
                raise ValueError(f"unknown padding {padding!r}: expected a number, a pair, 'same' or 'valid'")
            if padding == "same" and self.stride != (1, 1):
                raise ValueError("padding='same' goes with stride 1 only")
            self.padding = padding
        else:
            self.padding = pair("padding", padding, least=0)
        self.padding_mode = padding_mode

    @leaf
    def forward(self, features: Tensor) -> Tensor:
        self._check(features)
        margins, stride = self._margins(), self.stride
        if self.padding_mode != "zeros" or margins[0] != margins[1] or margins[2] != margins[3]:
            mode = "constant" if self.padding_mode == "zeros" else self.padding_mode
            features, margins = F.pad(features, margins, mode=mode), [0, 0, 0, 0]
        if is_strided_point(self.kernel_size, stride, margins):
            # Of what a strided 1×1 convolution throws away, nothing need be transformed.
            features, stride = thin(features, stride), (1, 1)
        padding = (margins[2], margins[0])
        return self._convolve(features, Convolution(stride, padding, self.dilation, self.groups))

    def _margins(self) -> list[int]:
        """The padding as ``torch.nn.functional.pad`` takes it: left, right, top, bottom."""
        if self.padding == "valid":
            return [0, 0, 0, 0]
        if isinstance(self.padding, str):
            totals = [d * (k - 1) for d, k in zip(self.dilation, self.kernel_size, strict=True)]
            return [side for total in reversed(totals) for side in (total // 2, total - total // 2)]
        return [side for amount in reversed(self.padding) for side in (amount, amount)]

    def _special_repr(self) -> list[str]:
        parts = [] if self.padding in ((0, 0), "valid") else [f"padding={self.padding!r}"]
        return parts + ([] if self.padding_mode == "zeros" else [f"padding_mode={self.padding_mode!r}"])


class GroupConvTranspose2d(GroupConvBase):
    """Transposed group convolution: ``(G·B, in, H, W)`` to ``(G·B, out, H', W')``, enlarging where it strides.

    Arguments in the order of :class:`torch.nn.ConvTranspose2d`; see :class:`GroupConv2d` for those of its own. The
    filters are ``(in, G·out/groups, kH, kW)``.

    >>> GroupConvTranspose2d("hue4", 16, 8, 2, stride=2)(torch.rand(8, 16, 10, 12)).shape
    torch.Size([8, 8, 20, 24])
    """

    _output_first = False

    def __init__(
        self,
        group: Group | str,
        in_channels: int,
        out_channels: int,
        kernel_size: Size,
        stride: Size = 1,
        padding: Size = 0,
        output_padding: Size = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Size = 1,
        algorithm: Choice = "auto",
        *,
        padding_mode: Literal["zeros"] = "zeros",
        rescale: bool = False,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        sizes = (in_channels, out_channels, kernel_size, stride, dilation, groups)
        super().__init__(group, *sizes, bias, algorithm, rescale, device, dtype)
        if padding_mode != "zeros":
            raise ValueError(f"a transposed convolution takes padding_mode='zeros' only, got {padding_mode!r}")
        self.padding = pair("padding", padding, least=0)
        self.output_padding = pair("output_padding", output_padding, least=0)
        self.padding_mode = padding_mode

    @leaf
    def forward(self, features: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        self._check(features)
        output_padding = self.output_padding if output_size is None else self._padding_for(features, output_size)
        stride = self.stride
        if is_strided_point(self.kernel_size, stride, self.padding):
            features, stride, output_padding = spread(features, stride, output_padding), (1, 1), (0, 0)
        convolution = Convolution(
            stride, self.padding, self.dilation, self.groups, transposed=True, output_padding=output_padding
        )
        return self._convolve(features, convolution)

    def _padding_for(self, features: Tensor, output_size: Sequence[int]) -> tuple[int, int]:
        """The output padding that gives ``output_size``, (H', W') or a whole shape."""
        wanted = list(output_size)[-2:]
        least = [
            (size - 1) * stride - 2 * padding + dilation * (kernel - 1) + 1
            for size, stride, padding, dilation, kernel in zip(
                features.shape[2:], self.stride, self.padding, self.dilation, self.kernel_size, strict=True
            )
        ]
        most = [low + max(s, d) - 1 for low, s, d in zip(least, self.stride, self.dilation, strict=True)]
        if len(wanted) != 2 or any(
            not low <= size <= high for low, size, high in zip(least, wanted, most, strict=True)
        ):
            raise ValueError(f"output_size must lie between {least} and {most} for this input, got {list(output_size)}")
        return wanted[0] - least[0], wanted[1] - least[1]

    def _special_repr(self) -> list[str]:
        parts = [] if self.padding == (0, 0) else [f"padding={self.padding}"]
        return parts + ([] if self.output_padding == (0, 0) else [f"output_padding={self.output_padding}"])
