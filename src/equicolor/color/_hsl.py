"""Saturation and luminance: their shifts, their space with hue, and every combination of the three.

A colour is a pure hue (smallest channel 0, largest 1), a saturation and a luminance. Hue shifts move the first alone,
saturation and luminance shifts the other two alone; so they commute, and an image is taken apart once however many
moves are applied to it.
"""

import math
from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

import torch
from torch import Tensor

from equicolor.color._hue import CHANNEL_HUES, HueParts, hue_channel, hue_orbit, hue_parts, shift_hue, wrapped
from equicolor.color._images import (
    Action,
    Shift,
    Space,
    as_images,
    check_action,
    check_shift,
    check_space,
    per_image,
    rise_and_fall,
    where_exact,
    working,
)


def rgb_to_hsl(images: Tensor) -> Tensor:
    """Converts RGB to HSL.

    Greys have hue 0 and saturation 0.

    Args:
        images: RGB in [0, 1].

    Returns:
        Hue in degrees, in [0, 360); saturation and luminance in [0, 1].

    Shape:
        ``(*, 3, H, W)`` to ``(*, 3, H, W)``.

    Example:
        >>> rgb_to_hsl(torch.tensor([0.0, 1.0, 0.0]).view(3, 1, 1)).flatten().tolist()
        [120.0, 1.0, 0.5]
    """
    return _from_rgb(images, "hsl")


def rgb_to_hsv(images: Tensor) -> Tensor:
    """Converts RGB to HSV.

    Greys have hue 0 and saturation 0.

    Args:
        images: RGB in [0, 1].

    Returns:
        Hue in degrees, in [0, 360); saturation and value in [0, 1].

    Shape:
        ``(*, 3, H, W)`` to ``(*, 3, H, W)``.

    Example:
        >>> rgb_to_hsv(torch.tensor([0.0, 0.0, 0.5]).view(3, 1, 1)).flatten().tolist()
        [240.0, 1.0, 0.5]
    """
    return _from_rgb(images, "hsv")


def hsl_to_rgb(images: Tensor) -> Tensor:
    """Converts HSL to RGB.

    Args:
        images: hue in degrees, any real number; saturation and luminance in [0, 1].

    Returns:
        RGB images in [0, 1].

    Shape:
        ``(*, 3, H, W)`` to ``(*, 3, H, W)``.

    Example:
        >>> hsl_to_rgb(torch.tensor([60.0, 1.0, 0.5]).view(3, 1, 1)).flatten().tolist()
        [1.0, 1.0, 0.0]
    """
    return _to_rgb(images, "hsl")


def hsv_to_rgb(images: Tensor) -> Tensor:
    """Converts HSV to RGB.

    Args:
        images: hue in degrees, any real number; saturation and value in [0, 1].

    Returns:
        RGB images in [0, 1].

    Shape:
        ``(*, 3, H, W)`` to ``(*, 3, H, W)``.

    Example:
        >>> hsv_to_rgb(torch.tensor([180.0, 1.0, 1.0]).view(3, 1, 1)).flatten().tolist()
        [0.0, 1.0, 1.0]
    """
    return _to_rgb(images, "hsv")


def shift_saturation(images: Tensor, shift: Shift, action: Action = "exact", space: Space = "hsl") -> Tensor:
    """Moves the saturation at constant hue and luminance: the paper's saturation action φ_s.

    Args:
        images: RGB in [0, 1].
        shift: one shift for all images, or a tensor of one shift for each, ``(*,)``.
        action: ``"exact"`` adds the shift to the logit of the saturation: a true action of (ℝ, +) under which greys
            stay grey. ``"clamp"`` is the paper's ``min(max(x + s, 0), 1)``, which forgets what it clips and turns greys
            red, since their undefined hue is read as 0.
        space: where saturation is measured, ``"hsl"`` or ``"hsv"``; in ``"hsv"`` the value stays constant instead.

    Returns:
        The moved images, in [0, 1].

    Shape:
        ``(*, 3, H, W)`` to ``(*, 3, H, W)``.

    Example:
        >>> pink = torch.tensor([0.75, 0.25, 0.25]).view(3, 1, 1)
        >>> shift_saturation(pink, 0.5, action="clamp").flatten().tolist()
        [1.0, 0.0, 0.0]
    """
    return shift_hsl(images, saturation=shift, saturation_action=action, space=space)


def shift_luminance(images: Tensor, shift: Shift, action: Action = "exact", space: Space = "hsl") -> Tensor:
    """Moves the luminance at constant hue and saturation: the paper's luminance action φ_l.

    Arguments are those of :func:`shift_saturation`.

    Args:
        images: RGB in [0, 1].
        shift: one shift for all images, or a tensor of one shift for each, ``(*,)``.
        action: ``"exact"`` or ``"clamp"``, as for :func:`shift_saturation`.
        space: ``"hsl"``; in ``"hsv"`` the value is moved instead.

    Returns:
        The moved images, in [0, 1].

    Shape:
        ``(*, 3, H, W)`` to ``(*, 3, H, W)``.

    Example:
        >>> grey = torch.full((3, 1, 1), 0.5)
        >>> shift_luminance(grey, 0.25, action="clamp").flatten().tolist()
        [0.75, 0.75, 0.75]
    """
    return shift_hsl(images, luminance=shift, luminance_action=action, space=space)


def shift_hsl(
    images: Tensor,
    degrees: Shift = 0.0,
    saturation: Shift = 0.0,
    luminance: Shift = 0.0,
    saturation_action: Action = "exact",
    luminance_action: Action = "exact",
    space: Space = "hsl",
) -> Tensor:
    """Moves hue, saturation and luminance at once: images are taken apart a single time.

    Args:
        images: RGB in [0, 1].
        degrees: hue shift in degrees, one for all images, or a tensor of one for each, ``(*,)``.
        saturation: saturation shift, one for all images, or a tensor of one for each, ``(*,)``.
        luminance: luminance shift, one for all images, or a tensor of one for each, ``(*,)``.
        saturation_action: ``"exact"`` or ``"clamp"``, as for :func:`shift_saturation`.
        luminance_action: ``"exact"`` or ``"clamp"``, as for :func:`shift_luminance`.
        space: ``"hsl"`` or ``"hsv"``, as for :func:`shift_saturation`.

    Returns:
        The moved images, in [0, 1].

    Shape:
        ``(*, 3, H, W)`` to ``(*, 3, H, W)``.

    Example:
        >>> red = torch.tensor([1.0, 0.0, 0.0]).view(3, 1, 1)
        >>> shift_hsl(red, degrees=120, luminance=0.25, luminance_action="clamp").flatten().tolist()
        [0.5, 1.0, 0.5]
    """
    check_action(saturation_action)
    check_action(luminance_action)
    check_space(space)
    check_shift(degrees, saturation, luminance)
    images = as_images(images)
    work = working(images)
    turns = isinstance(degrees, Tensor) or degrees != 0
    turned = shift_hue(work, degrees) if turns else work.clone()
    by = [per_image(shift, work) if isinstance(shift, Tensor) else shift for shift in (saturation, luminance)]
    if all(not isinstance(shift, Tensor) and shift == 0 for shift in by):
        return turned.to(images.dtype)
    parts = _split(work.clamp(0, 1), space)
    red = shift_hue(_red(work).expand(*work.shape[:-3], -1, -1, -1), degrees) if turns else _red(work)
    pure = _pure_hue(turned.clamp(0, 1), parts, red)
    moved = _place(
        pure,
        _move(parts.saturation, by[0], saturation_action),
        _move(parts.luminance, by[1], luminance_action),
        space,
    )
    still = [shift == 0 for shift in by]
    if False not in [mask for mask in still if isinstance(mask, bool)]:  # bit-exact where nothing but the hue moves
        mask = reduce(torch.logical_and, [mask for mask in still if isinstance(mask, Tensor)])
        moved = where_exact(mask, turned, moved, saturation, luminance)
    return moved.to(images.dtype)


def orbit(
    images: Tensor,
    degrees: Sequence[float] = (0.0,),
    saturation: Sequence[float] = (0.0,),
    luminance: Sequence[float] = (0.0,),
    saturation_action: Action = "exact",
    luminance_action: Action = "exact",
    space: Space = "hsl",
) -> Tensor:
    """Applies every combination of the given hue, saturation and luminance shifts to images.

    What does not depend on the move is computed once. Where an image is both saturated by ``clamp`` and turned in hue,
    the hue is turned last, as in the paper, so that a grey becomes a turned red.

    Args:
        images: RGB in [0, 1].
        degrees: hue shifts in degrees.
        saturation: saturation shifts.
        luminance: luminance shifts.
        saturation_action: ``"exact"`` or ``"clamp"``, as for :func:`shift_saturation`.
        luminance_action: ``"exact"`` or ``"clamp"``, as for :func:`shift_luminance`.
        space: ``"hsl"`` or ``"hsv"``, as for :func:`shift_saturation`.

    Returns:
        The moved images, with three new axes in front.

    Shape:
        ``(*, 3, H, W)`` to ``(hues, saturations, luminances, *, 3, H, W)``.

    Example:
        >>> orbit(torch.rand(5, 3, 8, 8), degrees=[0, 120, 240], saturation=[-1, 0, 1]).shape
        torch.Size([3, 3, 1, 5, 3, 8, 8])
    """
    check_action(saturation_action)
    check_action(luminance_action)
    check_shift(degrees, saturation, luminance)
    images = as_images(images)
    work = working(images)
    still = all(s == 0 for s in (*saturation, *luminance))
    work = work if still else work.clamp(0, 1)
    turned = hue_orbit(work, degrees)
    if still:
        return turned[:, None, None].expand(-1, len(saturation), len(luminance), *turned.shape[1:]).to(images.dtype)
    parts = _split(work, space)
    red = hue_orbit(_red(work), degrees).view(len(degrees), *[1] * (work.dim() - 3), 3, 1, 1)
    pure = _pure_hue(turned, parts, red)[:, None, None]
    saturations = torch.stack([_move(parts.saturation, s, saturation_action) for s in saturation])[:, None]
    luminances = torch.stack([_move(parts.luminance, s, luminance_action) for s in luminance])
    moved = _place(pure, saturations, luminances, space)
    if 0 in saturation and 0 in luminance:  # bit-exact where nothing but the hue moves
        moved[:, list(saturation).index(0), list(luminance).index(0)] = turned
    return moved.to(images.dtype)


class _Parts(NamedTuple):
    smallest: Tensor  # m, (*, 1, H, W) like the others
    chroma: Tensor  # C
    grey: Tensor  # where the hue is undefined
    saturation: Tensor
    luminance: Tensor  # of HSL, or the value of HSV


def _split(images: Tensor, space: Space) -> _Parts:
    check_space(space)
    largest, smallest = images.amax(-3, keepdim=True), images.amin(-3, keepdim=True)
    chroma = largest - smallest
    if space == "hsl":
        luminance = (largest + smallest) / 2
        reach = torch.minimum(largest + smallest, (1 - largest) + (1 - smallest))  # 1 - |2L - 1|, without cancelling
    else:
        luminance = reach = largest
    # Below the smallest normal number a quotient's gradient overflows; no eye or sensor tells that from grey.
    tiny = torch.finfo(images.dtype).tiny * 16
    grey = chroma < tiny
    saturation = torch.where(grey, 0.0, chroma / torch.where(reach < tiny, 1.0, reach)).clamp_max(1)
    return _Parts(smallest, chroma, grey, saturation, luminance)


def _pure_hue(images: Tensor, parts: _Parts, red: Tensor) -> Tensor:
    """The fully saturated colour of each pixel's hue, smallest channel 0, largest 1; ``red``, turned, for greys."""
    chroma = torch.where(parts.grey, 1.0, parts.chroma)
    return torch.where(parts.grey, red, (images - parts.smallest) / chroma)


def _red(images: Tensor) -> Tensor:
    red = images.new_zeros(3, 1, 1)
    red[0] = 1
    return red


def _place(pure: Tensor, saturation: Tensor, luminance: Tensor, space: Space) -> Tensor:
    """The RGB of a pure hue at this saturation and luminance (or value)."""
    if space == "hsv":
        return luminance * (1 - saturation * (1 - pure))
    reach = 2 * torch.minimum(luminance, 1 - luminance)
    return luminance + (saturation * reach) * (pure - 0.5)


def _move(value: Tensor, shift: Shift, action: Action) -> Tensor:
    """``value`` in [0, 1] moved by ``shift``.

    ``exact`` adds the shift to the logit, which is the Möbius map x ↦ kx/(1 + (k-1)x) with k = e^shift. With
    k = rise/fall and the larger of the two 1, no shift overflows; held at 80, where all is at the end, none underflows.
    The map has a pole close to [0, 1] where k is large or small, so what rounding left outside must be inside by now.
    """
    if not isinstance(shift, Tensor) and shift == 0:
        return value
    if action == "clamp":
        return (value + shift).clamp(0, 1)
    if isinstance(shift, Tensor):
        rise, fall = rise_and_fall(shift)
        return rise * value / (fall * (1 - value) + rise * value)
    up, down = math.exp(max(min(shift, 0.0), -80.0)), math.exp(max(min(-shift, 0.0), -80.0))
    return up * value / (down * (1 - value) + up * value)


def _from_rgb(images: Tensor, space: Space) -> Tensor:
    images = as_images(images)
    work = working(images)
    parts, hue = _split(work, space), hue_parts(work)
    sextants = torch.where(parts.grey, 0.0, hue.chroma_hue / torch.where(parts.grey, 1.0, parts.chroma))
    degrees = 60 * sextants
    degrees = torch.where(degrees < 0, degrees + 360, degrees)
    result = torch.cat([degrees, parts.saturation, parts.luminance], dim=-3).to(images.dtype)
    turn = result.new_zeros(3, 1, 1)  # a hue too close to 360 for its precision is 0
    turn[0] = 360
    return torch.where((result >= 360) & (turn > 0), result - turn, result)


def _to_rgb(images: Tensor, space: Space) -> Tensor:
    if isinstance(images, Tensor) and not images.is_floating_point():
        raise TypeError(f"expected hue in degrees beside {space[1:].upper()} in [0, 1] as floats, got {images.dtype}")
    images = as_images(images)
    degrees, saturation, luminance = torch.split(working(images), 1, dim=-3)
    sextants = wrapped(degrees / 60)
    one = torch.ones_like(sextants)
    unit = HueParts(torch.zeros_like(one), one, one, sextants, -one)
    pure = hue_channel(unit, -sextants.new_tensor(CHANNEL_HUES).view(3, 1, 1))
    return _place(pure, saturation, luminance, space).to(images.dtype)
