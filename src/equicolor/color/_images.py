"""What counts as images, and what every colour move does before and after it."""

import math
from typing import Literal, TypeAlias

import torch
from torch import Tensor

Action: TypeAlias = Literal["clamp", "exact"]
Space: TypeAlias = Literal["hsl", "hsv"]
Shift: TypeAlias = float | Tensor

#: How far outside [0, 1] a value may lie and still be taken for rounding, not for a mistake.
_RANGE_TOLERANCE = 1e-3


def as_images(images: Tensor, channels: int | None = 3) -> Tensor:
    """``images`` as a floating tensor ``(*, C, H, W)``: uint8 is divided by 255, anything else is an error.

    Args:
        images: floats in [0, 1], or uint8 in [0, 255].
        channels: how many are expected; None for any number.
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
    """Raises ValueError where images hold NaN or leave [0, 1]. Reads the values: on an accelerator, it synchronises."""
    if images.numel() == 0:
        return
    low, high = (bound.item() for bound in torch.aminmax(images.detach()))
    if math.isnan(low) or math.isnan(high):
        raise ValueError("images contain NaN: a colour move of it is meaningless. Check how the images were loaded.")
    if low < -_RANGE_TOLERANCE or high > 1 + _RANGE_TOLERANCE:
        raise ValueError(
            f"images must be RGB in [0, 1], got values from {low:.4g} to {high:.4g}. The usual cause is normalising by "
            "mean and std before the lift: hand over plain RGB and let Lift(group, mean=..., std=...) normalise after. "
            "Images in [0, 255] belong in uint8, or divided by 255; resampling overshoot wants .clamp(0, 1)."
        )


def check_action(action: str) -> None:
    """Raises ValueError unless ``action`` names one."""
    _check_choice("action", action, ("clamp", "exact"))


def check_space(space: str) -> None:
    """Raises ValueError unless ``space`` names one."""
    _check_choice("colour space", space, ("hsl", "hsv"))


def rise_and_fall(shift: Tensor) -> tuple[Tensor, Tensor]:
    """A factor e^shift as rise/fall, the larger of the two 1: held at e^80 and e^-80, it never over- or underflows."""
    zero = shift.new_zeros(())  # minimum halves the gradient at a shift of 0, where clamp would count it twice
    return torch.minimum(shift.clamp(min=-80), zero).exp(), torch.minimum((-shift).clamp(min=-80), zero).exp()


def _check_choice(what: str, given: str, known: tuple[str, ...]) -> None:
    if given not in known:
        raise ValueError(f"unknown {what} {given!r}: expected one of {', '.join(map(repr, known))}")


def working(images: Tensor) -> Tensor:
    """The dtype to compute in: half precision is computed in float32."""
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
