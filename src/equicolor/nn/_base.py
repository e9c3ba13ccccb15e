"""What ordinary and transposed group convolutions share: y_g = Σ_h x_h ∗ w_{h-g}, summed by a bilinear algorithm.

A feature is ``(G·B, C, H, W)``, group-major. The filters are one parameter, ``(out, G·in/groups, kH, kW)``, the filter
of the first element first (the group's elements are also the filters' offsets h-g; of a valid convolution, fewer are);
kept 4-D, they follow
``.to(memory_format=torch.channels_last)``. The parameter does not depend on the algorithm.
"""

import math
from collections.abc import Sequence
from numbers import Integral
from typing import Literal, TypeAlias, get_args

import torch
from torch import Tensor, nn

from equicolor import algorithms
from equicolor._tools.computed import why_computed
from equicolor._tools.tensors import is_traced, layout
from equicolor.algorithms import Window
from equicolor.groups import Group
from equicolor.groups import group as as_group
from equicolor.nn import _cost
from equicolor.nn._bilinear import Convolution, convolve, convolve_trained, transform_filters
from equicolor.nn._combine import unstack

#: How a group convolution is summed: by the filter bank, by a bilinear algorithm, or whichever is faster.
Choice: TypeAlias = Literal["auto", "direct", "fast"]
#: A number for both directions of an image, or one for each.
Size: TypeAlias = int | Sequence[int]

#: Of a feature whose size is not known, over the batch.
_MIDDLING_PIXELS = 32 * 16 * 16


class GroupConvBase(nn.Module):
    """The base class of the group convolutions; a subclass adds the ordinary convolution it is made of.

    Args:
        group: a group or its name.
        in_channels: channels of the input, for each element of the group.
        out_channels: channels of the output, for each element of the group.
        kernel_size: as in :class:`torch.nn.Conv2d`.
        stride: as in :class:`torch.nn.Conv2d`.
        dilation: as in :class:`torch.nn.Conv2d`.
        groups: as in :class:`torch.nn.Conv2d`.
        bias: as in :class:`torch.nn.Conv2d`.
        algorithm: ``"fast"``, ``"direct"`` or ``"auto"``, see :class:`GroupConv2d`.
        window: see :class:`GroupConv2d`.
        device: as in :class:`torch.nn.Conv2d`.
        dtype: as in :class:`torch.nn.Conv2d`.
    """

    weight: Tensor
    bias: nn.Parameter | None
    filters: Tensor
    #: Whether :meth:`freeze` was called.
    frozen: bool = False
    #: The parameters behind ``weight``.
    filter_parameters: tuple[str, ...] = ("weight",)
    #: Whether the leading axis of the filters belongs to the output.
    _output_first: bool

    def __init__(
        self,
        group: Group | str,
        in_channels: int,
        out_channels: int,
        kernel_size: Size,
        stride: Size,
        dilation: Size,
        groups: int,
        bias: bool,
        algorithm: Choice,
        window: Window,
        device: torch.device | str | None,
        dtype: torch.dtype | None,
    ) -> None:
        super().__init__()
        self.group = as_group(group)
        for name, value in (("in_channels", in_channels), ("out_channels", out_channels), ("groups", groups)):
            if value < 1:
                raise ValueError(f"{name} must be positive, got {value}")
        if in_channels % groups or out_channels % groups:
            raise ValueError(
                f"in_channels and out_channels must be multiples of groups, got {in_channels}, {out_channels}, {groups}"
            )
        if algorithm not in ("auto", "direct", "fast"):
            raise ValueError(f"unknown algorithm {algorithm!r}: expected 'auto', 'direct' or 'fast'")
        if window not in get_args(Window):
            raise ValueError(f"unknown window {window!r}: expected one of {', '.join(map(repr, get_args(Window)))}")
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        self.kernel_size = pair("kernel_size", kernel_size)
        self.stride = pair("stride", stride)
        self.dilation = pair("dilation", dilation)
        self.algorithm, self.window = algorithm, window
        self.rescale = window == "rescale"
        #: What the result lives on: the group, or its inner elements where the convolution is valid.
        self.out_group = algorithms.inner(self.group) if window == "valid" else self.group
        # Constants of the group: made here, so that a compiler need not trace how.
        self._bilinear = algorithms.fast(self.group, window)
        self._bank = algorithms.blocks(self.group, window)
        self._scales = algorithms.edge_scales(self.group) if self.rescale else (1.0,) * self.group.order
        first, second = (out_channels, in_channels) if self._output_first else (in_channels, out_channels)
        shape = (first, algorithms.taps(self.group, window) * second // groups, *self.kernel_size)
        self._register_filters(torch.empty(shape, device=device, dtype=dtype))
        filled = nn.Parameter(torch.empty(out_channels, device=device, dtype=dtype)) if bias else None
        self.register_parameter("bias", filled)
        self.reset_parameters()

    def _register_filters(self, filters: Tensor) -> None:
        """Makes the parameters behind ``weight``, the filters."""
        self.weight = nn.Parameter(filters)

    def reset_parameters(self) -> None:
        """Draws new weights, as :class:`torch.nn.Conv2d` does, with a fan-in that counts the group."""
        nn.init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            bound = 1 / math.sqrt(self.weight[0].numel())
            nn.init.uniform_(self.bias, -bound, bound)

    @property
    def _enlargement(self) -> float:
        """Pixels of the output for one of the input."""
        area = math.prod(self.stride)
        return 1 / area if self._output_first else area

    @property
    def bilinear(self) -> algorithms.Algorithm:
        """The bilinear algorithm of its group and window, whether or not it is the one in use."""
        return self._bilinear

    def chosen_for(self, features: Tensor) -> Literal["direct", "fast"]:
        """The algorithm that features of this size are convolved by, ``"direct"`` or ``"fast"``.

        Args:
            features: a feature that the layer may be given.

        Returns:
            The name of the algorithm.
        """
        return self._choose(self._pixels(features), features.device.type)

    @property
    def chosen_algorithm(self) -> Literal["direct", "fast"]:
        """The algorithm in use, ``"direct"`` or ``"fast"``; with ``"auto"`` that for features of a middling size.

        In eager mode ``"auto"`` is decided by the actual size of the features, in every forward.
        """
        return self._choose(
            _MIDDLING_PIXELS, next(self.parameters()).device.type if self.algorithm == "auto" else "cpu"
        )

    def _choose(self, pixels: int, kind: str) -> Literal["direct", "fast"]:
        """``auto`` for so many pixels, over the batch, on a kind of device: the faster one, as far as can be told."""
        if self.algorithm != "auto":
            return self.algorithm
        machine = _cost.MACHINES.get(kind, _cost.MACHINES["cpu"])
        return "fast" if _cost.prefers_fast(self._cost_size(pixels), machine) else "direct"

    def _cost_size(self, pixels: int) -> _cost.Size:
        """What the cost of this layer depends on, for so many pixels of the input."""
        return _cost.Size(
            math.isqrt(self.group.order * self.out_group.order),  # they differ where the convolution is valid
            self._bilinear.rank,
            self.in_channels,
            self.out_channels,
            math.prod(self.kernel_size) / self.groups,
            pixels,
            pixels * self._enlargement,
        )

    def settle(self, features: Tensor) -> None:
        """Fixes ``algorithm="auto"`` to the algorithm that is faster for features of this size.

        Args:
            features: an input of the size that is to come.
        """
        self.algorithm = self.chosen_for(features)

    @torch.no_grad()
    def freeze(self) -> None:
        """Replaces the filters by the transformed ones, so that no forward transforms them: for inference.

        The layer then has a buffer ``filters`` and no ``weight``. So nothing can become stale: it can no longer be
        trained, nor load the state of a layer that is not frozen.

        Raises:
            ValueError: the filters are computed in every forward, by a hook (pruning, say) or a parametrization.
        """
        if self.frozen:
            return
        if reason := why_computed(self, self.filter_parameters):
            raise ValueError(f"cannot freeze this {type(self).__name__}: {reason}")
        self.algorithm = self.chosen_algorithm
        filters = self._filter_bank() if self.algorithm == "direct" else self._transformed_filters()
        for name in self.filter_parameters:
            delattr(self, name)
        self.register_buffer("filters", filters.clone())
        self.frozen = True

    @torch.no_grad()
    def fold(self, scale: Tensor, shift: Tensor) -> None:
        """Freezes the layer, to compute ``scale · y + shift`` in each output channel, as a norm behind it would.

        Args:
            scale: one number for each output channel.
            shift: one number for each output channel.
        """
        self.freeze()
        rank, groups, own = self._bilinear.rank, self.groups, self.out_channels // self.groups
        inputs, outputs_on = self.group.order, self.out_group.order
        # How the frozen filters split into axes, and along which of them the output channels lie.
        split, outputs = {
            ("fast", True): ((rank, groups, own, -1), (1, groups, own, 1)),
            ("direct", True): ((groups, outputs_on, own, -1), (groups, 1, own, 1)),
            ("fast", False): ((rank, groups, self.in_channels // groups, own, -1), (1, groups, 1, own, 1)),
            ("direct", False): (
                (groups, inputs * self.in_channels // groups, outputs_on, own, -1),
                (groups, 1, 1, own, 1),
            ),
        }[self.algorithm, self._output_first]
        folded = (self.filters.reshape(split) * scale.view(outputs)).reshape(self.filters.shape)
        self.filters = folded.contiguous(memory_format=layout(self.filters))
        bias = shift if self.bias is None else self.bias * scale + shift
        self.bias = nn.Parameter(bias.clone(), requires_grad=False)

    def _check(self, features: Tensor) -> None:
        if features.dim() != 4 or features.shape[1] != self.in_channels:
            raise ValueError(
                f"{type(self).__name__} expected a feature (G·B, {self.in_channels}, H, W) on {self.group}, "
                f"got shape {tuple(features.shape)}"
            )
        if features.shape[0] % self.group.order:
            self.group.split(features)  # says what is wrong

    def _convolve(self, features: Tensor, convolution: Convolution) -> Tensor:
        """The group convolution in terms of an ordinary one."""
        # A graph that is traced for any batch must not depend on the size of the one it was traced with.
        strided = math.prod(self.stride) // math.prod(convolution.stride)  # already, by whoever calls
        pixels = _MIDDLING_PIXELS if is_traced() else strided * self._pixels(features)
        if self._choose(pixels, features.device.type) == "direct":
            return self._convolve_direct(features, convolution)
        # Whoever records a graph decides what to keep for the backward pass, and nothing is kept without one.
        if self.frozen or is_traced() or not torch.is_grad_enabled():
            return convolve(features, self._transformed_filters(), self.bias, self._bilinear, convolution)
        return convolve_trained(features, self.weight, self.bias, self._bilinear, convolution)

    def _pixels(self, features: Tensor) -> int:
        """Of one element, over the batch."""
        return features.shape[0] * features.shape[2] * features.shape[3] // self.group.order

    def _transformed_filters(self) -> Tensor:
        """The filters of the bilinear algorithm's convolutions, stacked."""
        return self.filters if self.frozen else transform_filters(self.weight, self._bilinear)

    def _convolve_direct(self, features: Tensor, convolution: Convolution) -> Tensor:
        """One ordinary convolution with the full filter bank, the group's elements side by side as channels."""
        order, groups = self.out_group.order, self.groups
        bias = None if self.bias is None else self.bias.view(groups, 1, -1).expand(-1, order, -1).flatten()
        as_given = layout(features)
        side_by_side = _elements_to_channels(features, self.group.order, groups).contiguous(memory_format=as_given)
        result = convolution.forward(side_by_side, self._filter_bank(), bias)
        return _elements_to_batch(result, order, groups).contiguous(memory_format=as_given)

    def _filter_bank(self) -> Tensor:
        """The filters from every element to every element, those to one element side by side."""
        if self.frozen:
            return self.filters
        rows, columns = self.out_group.order, self.group.order
        rows, columns = (rows, columns) if self._output_first else (columns, rows)
        taps = torch.unflatten(self.weight, 1, (len(self._bilinear.filter[0]), -1)).unbind(1)
        zero = torch.zeros_like(taps[0])

        def block(row: int, column: int) -> Tensor:
            g, h = (row, column) if self._output_first else (column, row)
            if not self._bank[g][h]:
                return zero
            first, *others = (taps[tap] for tap in self._bank[g][h])
            total = sum(others, first)
            return total if self._scales[g] == 1 else total * self._scales[g]

        bank = [torch.cat([block(row, column) for column in range(columns)], dim=1) for row in range(rows)]
        return torch.unflatten(torch.stack(bank), 1, (self.groups, -1)).transpose(0, 1).flatten(0, 2)

    def extra_repr(self) -> str:
        parts = [str(self.group), f"{self.in_channels}", f"{self.out_channels}", f"kernel_size={self.kernel_size}"]
        parts.append(f"stride={self.stride}")
        parts += self._special_repr()
        if self.dilation != (1, 1):
            parts.append(f"dilation={self.dilation}")
        if self.groups != 1:
            parts.append(f"groups={self.groups}")
        if self.bias is None:
            parts.append("bias=False")
        if self.window != "zero":
            parts.append("rescale=True" if self.rescale else f"window={self.window!r}")
        if self.frozen:
            parts.append("frozen")
        if self.algorithm != "auto":
            parts.append(f"algorithm={self.algorithm}")
        return ", ".join(parts)

    def _special_repr(self) -> list[str]:
        return []


def one_window(window: Window, rescale: bool) -> Window:
    """The window, for which ``rescale=True`` is another way to say ``"rescale"``."""
    if rescale and window not in ("zero", "rescale"):
        raise ValueError(f"rescale=True says window='rescale', got window={window!r} beside it")
    return "rescale" if rescale else window


def pair(name: str, value: Size, least: int = 1) -> tuple[int, int]:
    pair = (value, value) if isinstance(value, Integral) else tuple(value)  # type: ignore[arg-type]
    if len(pair) != 2 or any(not isinstance(v, Integral) or v < least for v in pair):
        raise ValueError(f"{name} must be a whole number of at least {least}, or a pair of them, got {value!r}")
    return int(pair[0]), int(pair[1])


def _elements_to_channels(features: Tensor, order: int, groups: int) -> Tensor:
    """``(G·B, C, H, W)`` to ``(B, G·C, H, W)``, the elements inside each of the convolution's ``groups``."""
    slabs = unstack(features, order)
    if groups == 1:
        return torch.cat(slabs, dim=1)
    return torch.stack([torch.unflatten(slab, 1, (groups, -1)) for slab in slabs], dim=2).flatten(1, 3)


def _elements_to_batch(features: Tensor, order: int, groups: int) -> Tensor:
    """The inverse of :func:`_elements_to_channels`."""
    slabs = torch.unflatten(features, 1, (groups, order, -1)).unbind(2)
    return torch.cat([slab.flatten(1, 2) for slab in slabs])
