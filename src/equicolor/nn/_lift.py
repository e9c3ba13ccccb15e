"""Lift: the first layer, from images to features on the group."""

import math
from collections.abc import Sequence
from numbers import Real

import torch
from torch import Tensor, nn

from equicolor import color
from equicolor._tools.leaf import leaf
from equicolor._tools.tensors import AUTOCAST, is_channels_last, is_readable
from equicolor.groups import Group
from equicolor.groups import group as as_group

#: On an accelerator, the values of a batch are checked at these calls and at every further power of two.
_FIRST_CHECKS = 2


class Lift(nn.Module):
    """Applies every colour move of the group to a batch of images, then normalises: the paper's lifting layer.

    Images are in [0, 1] or uint8; RGB, unless the group is for other channels. The copies are stacked along the batch,
    group-major. Normalisation stands after the lift, since the colour move of a normalised image is meaningless.

    Values outside [0, 1] and NaN raise a ValueError. On the CPU every batch is checked. On an accelerator, where a look
    at the values would stall the queue, calls 1, 2, 4, 8, … are. Where there are no values to look at, nothing is
    checked: in a graph that is compiled, exported or captured, under ``torch.func`` and with fake tensors.

    Args:
        group: a group or its name.
        mean: subtracted after the lift, one number for each channel or one for all.
        std: divided by after the lift, one number for each channel or one for all.
        device: the device of the buffers that hold mean and std.
        dtype: the dtype of the buffers that hold mean and std.
        in_channels: channels of the images, for groups that take any number of them; by default as many as mean and std
            have, or 3.

    Shape:
        ``(B, C, H, W)`` to ``(G·B, C, H, W)``.

    Example:
        >>> Lift("hue4")(torch.rand(2, 3, 8, 8)).shape
        torch.Size([8, 3, 8, 8])
    """

    mean: Tensor
    std: Tensor

    def __init__(
        self,
        group: Group | str,
        mean: float | Sequence[float] = 0.0,
        std: float | Sequence[float] = 1.0,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
        in_channels: int | None = None,
    ) -> None:
        super().__init__()
        self.group = as_group(group)
        self.in_channels = channels = _count(self.group, in_channels, mean, std)
        mean, std = _channels("mean", mean, channels), _channels("std", std, channels)
        if not all(map(math.isfinite, mean)):
            raise ValueError(f"mean must be finite, got {mean}")
        if not all(0 < value < math.inf for value in std):
            raise ValueError(f"std must be positive and finite, got {std}")
        self.register_buffer("mean", torch.tensor(mean, device=device, dtype=dtype).view(channels, 1, 1))
        self.register_buffer("std", torch.tensor(std, device=device, dtype=dtype).view(channels, 1, 1))
        self._calls = 0

    @property
    def normalizes(self) -> bool:
        """Whether mean and std change anything; True where that cannot be seen, or not without waiting."""
        if self.mean.device.type != "cpu" or not is_readable(self.mean):
            return True
        return bool(self.mean.any()) or bool((self.std != 1).any())

    @leaf
    def forward(self, images: Tensor) -> Tensor:
        self._check(images)
        if isinstance(images, Tensor) and images.dim() == 4 and images.shape[1] != self.in_channels:
            color.as_images(images, self.in_channels)  # says what is wrong
        if isinstance(images, Tensor) and images.dtype == torch.uint8:
            images = color.as_images(images, self.in_channels).to(self.mean.dtype)
        self._check_dtype(images)
        lifted = self.group.lift(images)
        if is_channels_last(images):
            lifted = lifted.contiguous(memory_format=torch.channels_last)
        return (lifted - self.mean) / self.std if self.normalizes else lifted

    def _check(self, images: Tensor) -> None:
        # The CPU's batches are checked by the lift itself.
        if not isinstance(images, Tensor) or images.device.type == "cpu" or not images.is_floating_point():
            return
        if not is_readable(images):
            return
        self._calls += 1
        if self._calls <= _FIRST_CHECKS or self._calls & (self._calls - 1) == 0:
            color.check_range(images)

    def _check_dtype(self, images: Tensor) -> None:
        """What follows computes in one precision, and would fail on another in words of its own."""
        if not isinstance(images, Tensor) or not images.is_floating_point() or images.dtype == self.mean.dtype:
            return
        if images.device.type in AUTOCAST and torch.is_autocast_enabled(images.device.type):
            return  # PyTorch chooses the precision
        given, own = (str(dtype).removeprefix("torch.") for dtype in (images.dtype, self.mean.dtype))
        raise TypeError(
            f"the images are {given} and the network is {own}: convert the images, images.to(torch.{own}), or the "
            f"network, network.to(torch.{given})"
        )

    def extra_repr(self) -> str:
        about = str(self.group) if self.in_channels == 3 else f"{self.group}, in_channels={self.in_channels}"
        if not self.normalizes:
            return about
        mean, std = (tuple(round(value, 4) for value in buffer.flatten().tolist()) for buffer in (self.mean, self.std))
        return f"{about}, mean={mean}, std={std}"


def _count(group: Group, given: int | None, *values: float | Sequence[float]) -> int:
    """How many channels the images have: as the group says, as is given, or as mean and std have it."""
    if given is not None and (isinstance(given, bool) or not isinstance(given, int) or given < 1):
        raise ValueError(f"in_channels must be a positive whole number, got {given!r}")
    if given is not None and group.channels not in (None, given):
        raise ValueError(f"{group} is for images of {group.channels} channels, got in_channels={given}")
    lengths = [None if isinstance(value, Real) else len(value) for value in values]  # type: ignore[arg-type]
    return next((count for count in (group.channels, given, *lengths) if count is not None), 3)


def _channels(what: str, value: float | Sequence[float], count: int) -> list[float]:
    values = [value] * count if isinstance(value, Real) else list(value)  # type: ignore[arg-type]
    if len(values) != count:
        names = "three, for red, green and blue" if count == 3 else f"{count}, one for each channel"
        raise ValueError(f"{what} takes one number or {names}, got {value!r}")
    return [float(v) for v in values]
