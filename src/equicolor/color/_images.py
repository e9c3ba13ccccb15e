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


def as_images(images: Tensor) -> Tensor:
    """``images`` as a floating tensor ``(*, 3, H, W)``: uint8 is divided by 255, anything else is an error."""
    if not isinstance(images, Tensor):
        raise TypeError(
            f"expected a torch.Tensor of RGB images (*, 3, H, W), got {type(images).__name__}. "
            "For a PIL image or an array: torch.from_numpy(numpy.array(image)).permute(2, 0, 1)."
        )
    if images.dim() < 3 or images.shape[-3] != 3:
        channels_last = images.dim() >= 3 and images.shape[-1] == 3
        hint = " The channels come last here: move them with .movedim(-1, -3)." if channels_last else ""
        raise ValueError(f"expected RGB images (*, 3, H, W), got shape {tuple(images.shape)}.{hint}")
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


def _check_choice(what: str, given: str, known: tuple[str, ...]) -> None:
    if given not in known:
        raise ValueError(f"unknown {what} {given!r}: expected one of {', '.join(map(repr, known))}")


def working(images: Tensor) -> Tensor:
    """The dtype to compute in: half precision is computed in float32."""
    return images.float() if images.dtype in (torch.float16, torch.bfloat16) else images


def per_image(shift: Tensor, images: Tensor) -> Tensor:
    """A shift for each image, ready to broadcast against ``(*, 3, H, W)``."""
    batch = images.shape[:-3]
    if shift.dim() > 0 and tuple(shift.shape) != tuple(batch):
        raise ValueError(
            f"expected one shift, or one for each image {tuple(batch)}, got a tensor of shape {tuple(shift.shape)}"
        )
    return shift.to(images)[..., None, None, None]


def where_exact(mask: Tensor, exact: Tensor, computed: Tensor, shift: Tensor) -> Tensor:
    """``exact`` where ``mask``, else ``computed``; a learned shift gets its gradient from ``computed`` everywhere."""
    if shift.requires_grad:
        exact = exact.detach() + (computed - computed.detach())
    return torch.where(mask, exact, computed)
