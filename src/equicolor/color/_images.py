"""What counts as images, and what every colour move does before and after it."""

import math
from collections.abc import Iterable
from numbers import Real
from typing import Literal, TypeAlias

import torch
from torch import Tensor

from equicolor._tools.tensors import is_channels_last, is_readable

#: What a shift does near 0 and 1: ``"clamp"`` clips there; ``"exact"`` is a true group action and never arrives there.
Action: TypeAlias = Literal["clamp", "exact"]
#: The colour space in which saturation and luminance are measured.
Space: TypeAlias = Literal["hsl", "hsv"]
#: One shift for all images, or one for each.
Shift: TypeAlias = float | Tensor

#: How far outside [0, 1] a value may lie and still be taken for rounding, not for a mistake.
_RANGE_TOLERANCE = 1e-3


def as_images(images: Tensor, channels: int | None = 3) -> Tensor:
    """Checks images and makes floats of them: uint8 is divided by 255, anything else is an error.

    Args:
        images: floats in [0, 1], or uint8 in [0, 255].
        channels: how many are expected; None for any number.

    Returns:
        The images, floating.

    Raises:
        TypeError: the images are no tensor, or neither floats nor uint8.
        ValueError: they are not ``(*, C, H, W)`` with the channels expected.

    Shape:
        ``(*, C, H, W)`` to ``(*, C, H, W)``.

    Example:
        >>> as_images(torch.full((3, 1, 1), 255, dtype=torch.uint8)).flatten().tolist()
        [1.0, 1.0, 1.0]
    """
    what = "RGB images" if channels == 3 else "images"
    expected = f"{what} (*, {channels or 'C'}, H, W)"
    if not isinstance(images, Tensor):
        raise TypeError(
            f"expected a torch.Tensor of {expected}, got {type(images).__name__}. "
            "For a PIL image or an array: torch.from_numpy(numpy.array(image)).permute(2, 0, 1)."
        )
    if images.dim() < 3 or (channels is not None and images.shape[-3] != channels):
        channels_last = images.dim() >= 3 and images.shape[-1] == channels
        hint = " The channels come last here: move them with .movedim(-1, -3)." if channels_last else ""
        raise ValueError(f"expected {expected}, got shape {tuple(images.shape)}.{hint}")
    if images.dtype == torch.uint8:
        return images.to(torch.get_default_dtype()) / 255
    if not images.is_floating_point():
        raise TypeError(
            f"expected floating point images in [0, 1], or uint8 in [0, 255], got {images.dtype}. "
            "Convert with images.to(torch.uint8) or images.float() / 255."
        )
    return images


def check_range(images: Tensor) -> None:
    """Checks that images are in [0, 1].

    It reads the values, and so waits for an accelerator.

    Args:
        images: floats.

    Raises:
        ValueError: there are NaN, or values outside [0, 1].
    """
    if images.numel() == 0:
        return
    values = images.detach()
    if is_channels_last(values):  # of which PyTorch would make a copy first
        values = values.movedim(-3, -1)
    low, high = (bound.item() for bound in torch.aminmax(values))
    if math.isnan(low) or math.isnan(high):
        raise ValueError("images contain NaN: a colour move of it is meaningless. Check how the images were loaded.")
    if low < -_RANGE_TOLERANCE or high > 1 + _RANGE_TOLERANCE:
        raise ValueError(
            f"images must be RGB in [0, 1], got values from {low:.4g} to {high:.4g}. The usual cause is normalising by "
            "mean and std before the lift: hand over plain RGB and let Lift(group, mean=..., std=...) normalise after. "
            "Images in [0, 255] belong in uint8, or divided by 255; resampling overshoot wants .clamp(0, 1)."
        )


def check_shift(*shifts: object) -> None:
    """Raises ValueError where a shift is not a finite number. Tensors are read where that is free: on the CPU.

    Args:
        shifts: numbers, tensors of any shape, or sequences of numbers.
    """
    if torch.compiler.is_compiling():
        return
    for shift in shifts:
        if isinstance(shift, Tensor):
            if shift.device.type == "cpu" and is_readable(shift) and not torch.isfinite(shift.detach()).all():
                raise ValueError("a shift is NaN or infinite: expected finite numbers")
        elif isinstance(shift, Iterable) and not isinstance(shift, str):
            check_shift(*shift)
        elif not _is_finite(shift):
            raise ValueError(f"a shift must be a finite number, got {shift!r:.40}")


def _is_finite(shift: object) -> bool:
    try:
        return isinstance(shift, Real) and math.isfinite(shift)
    except OverflowError:  # a whole number beyond all floats
        return False


def check_action(action: str) -> None:
    """Checks that an action has a known name.

    Args:
        action: the name, ``"exact"`` or ``"clamp"``.

    Raises:
        ValueError: there is no such action.
    """
    check_choice("action", action, ("clamp", "exact"))


def check_space(space: str) -> None:
    """Checks that a colour space has a known name.

    Args:
        space: the name, ``"hsl"`` or ``"hsv"``.

    Raises:
        ValueError: there is no such space.
    """
    check_choice("colour space", space, ("hsl", "hsv"))


def rise_and_fall(shift: Tensor) -> tuple[Tensor, Tensor]:
    """A factor e^shift as rise/fall, the larger of the two 1: held at e^80 and e^-80, it never over- or underflows."""
    zero = shift.new_zeros(())  # minimum halves the gradient at a shift of 0, where clamp would count it twice
    return torch.minimum(shift.clamp(min=-80), zero).exp(), torch.minimum((-shift).clamp(min=-80), zero).exp()


def check_choice(what: str, given: str, known: tuple[str, ...]) -> None:
    """Raises ValueError unless what is given is known."""
    if given not in known:
        raise ValueError(f"unknown {what} {given!r}: expected one of {', '.join(map(repr, known))}")


def working(images: Tensor) -> Tensor:
    """Converts images to the dtype to compute in: half precision becomes float32.

    Args:
        images: floats.

    Returns:
        The images in that dtype.

    Shape:
        ``(*)`` to ``(*)``.
    """
    return images.float() if images.dtype in (torch.float16, torch.bfloat16) else images


def per_image(shift: Tensor, images: Tensor) -> Tensor:
    """A shift for each image, ready to broadcast against ``(*, C, H, W)``; one that is so already, ``(*, 1, 1, 1)``."""
    batch = tuple(images.shape[:-3])
    if tuple(shift.shape) == (*batch, 1, 1, 1):
        return shift.to(images)
    if shift.dim() > 0 and tuple(shift.shape) != batch:
        raise ValueError(
            f"expected one shift, or one for each image {batch}, got a tensor of shape {tuple(shift.shape)}"
        )
    return shift.to(images)[..., None, None, None]


def where_exact(mask: Tensor, exact: Tensor, computed: Tensor, *shifts: Shift) -> Tensor:
    """``exact`` where ``mask``, else ``computed``; a learned shift gets its gradient from ``computed`` everywhere."""
    if any(isinstance(shift, Tensor) and shift.requires_grad for shift in shifts):
        exact = exact.detach() + (computed - computed.detach())
    return torch.where(mask, exact, computed)
