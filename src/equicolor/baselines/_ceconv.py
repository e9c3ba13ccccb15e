"""The CEConv baseline (Lengyel et al., 2023): hue shifts as rotations of RGB filters, not of images.

Its features are stacked like all others here, ``(n·B, C, H, W)``, group-major; so its coset pooling is
:class:`~equicolor.nn.GroupPool` on ``Hue(n)``, and its batch norm, shared over the rotations, ``torch.nn.BatchNorm2d``.
"""

import math
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from equicolor import color
from equicolor._tools.leaf import leaf
from equicolor._tools.strided import is_strided_point, thin
from equicolor._tools.tensors import full_precision
from equicolor.groups import Hue
from equicolor.nn import Choice, GroupConv2d, GroupConvBase, GroupConvTranspose2d, PaddingMode, Size


class CEConvLift(nn.Module):
    """CEConv's lifting layer: one RGB filter bank, turned about the grey axis by multiples of 360°/n.

    The result is group-major. The layer is equivariant to hue shifts for n = 1 and n = 3 only, where the rotation is a
    permutation of R, G and B; a hue shift of an image is otherwise no rotation of its RGB values. And only where the
    images were normalised alike in all three channels, if at all: else the rotation mixes the constants.

    Args:
        n: the number of rotations.
        out_channels: as in :class:`torch.nn.Conv2d`, for each rotation.
        kernel_size: as in :class:`torch.nn.Conv2d`.
        stride: as in :class:`torch.nn.Conv2d`.
        padding: as in :class:`torch.nn.Conv2d`.
        bias: as in :class:`torch.nn.Conv2d`.
        learnable: train the rotation by 360°/n, a 3×3 matrix, too. Fixed or not, it is one of the parameters and counts
            as nine of them, as in the original.
        dilation: as in :class:`torch.nn.Conv2d`.
        device: as in :class:`torch.nn.Conv2d`.
        dtype: as in :class:`torch.nn.Conv2d`.

    Shape:
        ``(B, 3, H, W)`` to ``(n·B, out, H', W')``.

    Example:
        >>> CEConvLift(3, 16, 3, padding=1)(torch.rand(2, 3, 8, 8)).shape
        torch.Size([6, 16, 8, 8])
    """

    bias: nn.Parameter | None

    def __init__(
        self,
        n: int,
        out_channels: int,
        kernel_size: Size,
        stride: Size = 1,
        padding: Size | Literal["same", "valid"] = 0,
        bias: bool = True,
        learnable: bool = False,
        *,
        dilation: Size = 1,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.group, self.learnable = Hue(n), learnable
        self.kernel_size, self.stride, self.dilation = _pair(kernel_size), _pair(stride), _pair(dilation)
        self.padding = padding if isinstance(padding, str) else _pair(padding)
        self.weight = nn.Parameter(torch.empty(out_channels, 3, *self.kernel_size, device=device, dtype=dtype))
        self.register_parameter(
            "bias", nn.Parameter(torch.empty(out_channels, device=device, dtype=dtype)) if bias else None
        )
        rotation = torch.tensor(color.rgb_rotation(self.group.step), device=device, dtype=dtype)
        self.rotation = nn.Parameter(rotation, requires_grad=learnable)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws new weights, as :class:`torch.nn.Conv2d` does; the rotation stays what it is."""
        nn.init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.weight[0].numel())
            nn.init.uniform_(self.bias, -bound, bound)

    @leaf
    def forward(self, images: Tensor) -> Tensor:
        images, stride = color.as_images(images), self.stride
        if is_strided_point(self.kernel_size, stride, self.padding):
            images, stride = thin(images, stride), (1, 1)
        features = F.conv2d(images, self._filters(), stride=stride, padding=self.padding, dilation=self.dilation)
        features = torch.unflatten(features, 1, (self.group.order, -1)).movedim(1, 0).flatten(0, 1)
        return features if self.bias is None else features + self.bias.view(-1, 1, 1)

    def _filters(self) -> Tensor:
        """The filters of every element: element j sees the image turned by j steps, which is the filter turned back."""
        # A fixed rotation stays fixed even where a user unfreezes every parameter of a model.
        rotation = self.rotation if self.learnable else self.rotation.detach()
        with full_precision(self.weight.device):
            turned: list[Tensor] = [self.weight]
            for _ in range(self.group.order - 1):
                turned.append(torch.einsum("oihw,ij->ojhw", turned[-1], rotation))
            return torch.cat(turned)

    def extra_repr(self) -> str:
        parts = [str(self.group.order), str(self.weight.shape[0]), f"kernel_size={self.kernel_size}"]
        parts += [f"stride={self.stride}", f"padding={self.padding}"]
        return ", ".join(parts + ["bias=False"] * (self.bias is None) + ["learnable=True"] * self.learnable)


def _pair(size: Size) -> tuple[int, int]:
    return (size, size) if isinstance(size, int) else (size[0], size[1])


class _Separable(GroupConvBase):
    """Filters in two factors: a spatial one shared over the rotations, and a weight for each rotation."""

    spatial: nn.Parameter
    rotational: nn.Parameter
    filter_parameters = ("spatial", "rotational")

    def _register_filters(self, filters: Tensor) -> None:
        first, taps, *kernel = filters.shape
        self.spatial = nn.Parameter(filters.new_empty(first, taps // self.group.order, *kernel))
        self.rotational = nn.Parameter(filters.new_empty(first, taps, 1, 1))

    @property
    def weight(self) -> Tensor:  # type: ignore[override]
        """The filters of the group convolution: the product of the two factors."""
        return self.spatial.repeat(1, self.group.order, 1, 1) * self.rotational

    def reset_parameters(self) -> None:
        """Both factors, and the bias, uniform within one over the root of the fan-in, as in the original."""
        bound = 1 / math.sqrt(self.rotational[0].numel() * math.prod(self.kernel_size))
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -bound, bound)


class CEConv2d(_Separable, GroupConv2d):
    """CEConv's hidden layer: a group convolution over n rotations with separable filters.

    Filters that are not separable are those of ``GroupConv2d(Hue(n), ...)``.

    Args:
        n: the number of rotations.
        in_channels: channels of the input, for each rotation.
        out_channels: channels of the output, for each rotation.
        kernel_size: as in :class:`torch.nn.Conv2d`.
        stride: as in :class:`torch.nn.Conv2d`.
        padding: as in :class:`torch.nn.Conv2d`.
        dilation: as in :class:`torch.nn.Conv2d`.
        groups: as in :class:`torch.nn.Conv2d`.
        bias: as in :class:`torch.nn.Conv2d`.
        algorithm: as in :class:`equicolor.nn.GroupConv2d`.
        padding_mode: as in :class:`torch.nn.Conv2d`.
        device: as in :class:`torch.nn.Conv2d`.
        dtype: as in :class:`torch.nn.Conv2d`.

    Shape:
        ``(n·B, in, H, W)`` to ``(n·B, out, H', W')``.

    Example:
        >>> CEConv2d(3, 16, 32, 3)(torch.rand(6, 16, 8, 8)).shape
        torch.Size([6, 32, 6, 6])
    """

    def __init__(
        self,
        n: int,
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
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(
            Hue(n), in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, algorithm,
            padding_mode=padding_mode, device=device, dtype=dtype,
        )  # fmt: skip


class CEConvTranspose2d(_Separable, GroupConvTranspose2d):
    """The transposed convolution that goes with :class:`CEConv2d`.

    Args:
        n: the number of rotations.
        in_channels: channels of the input, for each rotation.
        out_channels: channels of the output, for each rotation.
        kernel_size: as in :class:`torch.nn.ConvTranspose2d`.
        stride: as in :class:`torch.nn.ConvTranspose2d`.
        padding: as in :class:`torch.nn.ConvTranspose2d`.
        output_padding: as in :class:`torch.nn.ConvTranspose2d`.
        groups: as in :class:`torch.nn.ConvTranspose2d`.
        bias: as in :class:`torch.nn.ConvTranspose2d`.
        dilation: as in :class:`torch.nn.ConvTranspose2d`.
        algorithm: as in :class:`equicolor.nn.GroupConv2d`.
        device: as in :class:`torch.nn.ConvTranspose2d`.
        dtype: as in :class:`torch.nn.ConvTranspose2d`.

    Shape:
        ``(n·B, in, H, W)`` to ``(n·B, out, H', W')``.

    Example:
        >>> CEConvTranspose2d(3, 16, 8, 2, stride=2)(torch.rand(6, 16, 8, 8)).shape
        torch.Size([6, 8, 16, 16])
    """

    def __init__(
        self,
        n: int,
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
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__(
            Hue(n), in_channels, out_channels, kernel_size, stride, padding, output_padding, groups, bias, dilation,
            algorithm, device=device, dtype=dtype,
        )  # fmt: skip
