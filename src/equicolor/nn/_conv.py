"""Group convolution and its transpose, with the arguments of PyTorch's."""

from collections.abc import Sequence
from typing import Literal, TypeAlias

import torch
import torch.nn.functional as F
from torch import Tensor

from equicolor._tools.leaf import leaf
from equicolor._tools.strided import is_strided_point, spread, thin
from equicolor.algorithms import Window
from equicolor.groups import Group
from equicolor.nn._base import Choice, GroupConvBase, Size, one_window, pair
from equicolor.nn._bilinear import Convolution, share_bias, trained_products
from equicolor.nn._combine import unstack

#: What stands outside an image, as in :class:`torch.nn.Conv2d`.
PaddingMode: TypeAlias = Literal["zeros", "reflect", "replicate", "circular"]


class GroupConv2d(GroupConvBase):
    """Group convolution over the pixels and over the group, with the arguments of :class:`torch.nn.Conv2d`.

    Element g of the output is y_g = Σ_h x_h ∗ w_{h-g}. The layer is equivariant: a move of the input's elements moves
    those of the output in the same way.

    Args:
        group: a group or its name.
        in_channels: channels of the input, for each element of the group.
        out_channels: channels of the output, for each element of the group.
        kernel_size: as in :class:`torch.nn.Conv2d`.
        stride: as in :class:`torch.nn.Conv2d`.
        padding: as in :class:`torch.nn.Conv2d`.
        dilation: as in :class:`torch.nn.Conv2d`.
        groups: as in :class:`torch.nn.Conv2d`.
        bias: as in :class:`torch.nn.Conv2d`; one number for each output channel, shared by the elements of the group.
        algorithm: how the sum over the group is computed; the parameters are the same. ``"fast"``: by a bilinear
            algorithm. ``"direct"``: by one convolution with the full filter bank. ``"auto"``: whichever is faster at
            the size of the input.
        padding_mode: as in :class:`torch.nn.Conv2d`.
        rescale: the same as ``window="rescale"``.
        window: what a truncated group (saturation, light, …) sees beyond the edge of its window. ``"zero"``: zeros.
            ``"rescale"``: zeros, and element j is multiplied by n/(n-abs(j)) to make up for them, as in the paper's
            code. ``"replicate"``: the element at the edge. ``"valid"``: nothing, as filters span three elements and the
            output is on ``out_group``, whose windows have two elements less; equivariance is then exact on what stays
            inside.
        device: as in :class:`torch.nn.Conv2d`.
        dtype: as in :class:`torch.nn.Conv2d`.

    Shape:
        ``(G·B, in, H, W)`` to ``(G·B, out, H', W')``; with ``window="valid"`` to ``(G'·B, out, H', W')``.

    Example:
        >>> GroupConv2d("hue4", 16, 32, 3, padding=1)(torch.rand(8, 16, 10, 12)).shape
        torch.Size([8, 32, 10, 12])
        >>> valid = GroupConv2d("sat5", 16, 32, 3, window="valid")
        >>> str(valid.out_group), valid(torch.rand(10, 16, 8, 8)).shape
        ('sat3', torch.Size([6, 32, 6, 6]))
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
        window: Window = "zero",
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        sizes = (in_channels, out_channels, kernel_size, stride, dilation, groups)
        super().__init__(group, *sizes, bias, algorithm, one_window(window, rescale), device, dtype)
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

    @property
    def has_products(self) -> bool:
        """Whether this layer, by its bilinear algorithm, is convolutions between two transforms and nothing else.

        A bias is shared out among them, so that it reaches every element.
        """
        margins = self._margins()
        return self.padding_mode == "zeros" and margins[0] == margins[1] and margins[2] == margins[3]

    def products(self, slabs: Sequence[Tensor], features: Tensor | None = None) -> list[Tensor]:
        """Computes the convolutions alone, of a layer that :attr:`has_products`.

        Args:
            slabs: the feature, transformed.
            features: the feature itself, for a layer that is not frozen: it is kept for the backward pass, which
                transforms it once more, and the slabs are not. Gradients reach the slabs, and not the feature.

        Returns:
            The products, to be transformed back.

        Raises:
            ValueError: the layer is not frozen, and the feature is not given.

        Shape:
            R times ``(B, in, H, W)`` to R times ``(B, out, H', W')``.
        """
        margins, stride = self._margins(), self.stride
        if not self.frozen and features is None:
            raise ValueError("the products of a layer that is not frozen take the feature beside its slabs")
        if is_strided_point(self.kernel_size, stride, margins):
            slabs = [thin(slab, stride) for slab in slabs]
            features = None if features is None else thin(features, stride)
            stride = (1, 1)
        convolution = Convolution(stride, (margins[2], margins[0]), self.dilation, self.groups)
        if not self.frozen and features is not None:
            return trained_products(features, slabs, self.weight, self.bias, self._bilinear, convolution)
        parts = zip(slabs, unstack(self.filters, len(slabs)), share_bias(self.bias, self._bilinear), strict=True)
        return [convolution.forward(*part) for part in parts]

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
    """Transposed group convolution, with the arguments of :class:`torch.nn.ConvTranspose2d`.

    It enlarges the image where it strides. The filters are ``(in, G·out/groups, kH, kW)``.

    Args:
        group: a group or its name.
        in_channels: channels of the input, for each element of the group.
        out_channels: channels of the output, for each element of the group.
        kernel_size: as in :class:`torch.nn.ConvTranspose2d`.
        stride: as in :class:`torch.nn.ConvTranspose2d`.
        padding: as in :class:`torch.nn.ConvTranspose2d`.
        output_padding: as in :class:`torch.nn.ConvTranspose2d`.
        groups: as in :class:`torch.nn.ConvTranspose2d`.
        bias: as in :class:`torch.nn.ConvTranspose2d`.
        dilation: as in :class:`torch.nn.ConvTranspose2d`.
        algorithm: as in :class:`GroupConv2d`.
        padding_mode: only ``"zeros"``.
        rescale: as in :class:`GroupConv2d`.
        window: as in :class:`GroupConv2d`.
        device: as in :class:`torch.nn.ConvTranspose2d`.
        dtype: as in :class:`torch.nn.ConvTranspose2d`.

    Shape:
        ``(G·B, in, H, W)`` to ``(G·B, out, H', W')``.

    Example:
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
        window: Window = "zero",
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        sizes = (in_channels, out_channels, kernel_size, stride, dilation, groups)
        super().__init__(group, *sizes, bias, algorithm, one_window(window, rescale), device, dtype)
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
