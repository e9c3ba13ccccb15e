"""How a colour moves: RGB ↔ HSL/HSV, and shifts of hue, saturation and luminance, as pure tensor functions.

Images are tensors ``(*, 3, H, W)`` holding RGB in [0, 1], in any floating dtype and on any device. Half precision is
computed in float32 and rounded once. ``uint8`` images are accepted and divided by 255. Hue is in degrees throughout.

Two facts shape this file.

*A hue shift is piecewise linear in RGB.* With ``M`` and ``m`` the largest and smallest channel, chroma ``C = M - m``
and the hue ``h`` in sextants (60°), a channel whose own hue is ``o`` (red 0, green 2, blue -2) has the value
``m + C·clamp(||h - o| - 3| - 1, 0, 1)`` for ``|h - o| <= 6``. Multiplying the clamp by ``C`` leaves only ``p = C·h``,
and ``p`` is a difference of channels: nothing is divided, so greys need no epsilon and every gradient is bounded.

*The rest of a colour does not know its hue.* A colour is a pure hue (smallest channel 0, largest 1), a saturation and a
luminance. Hue shifts move the first alone, saturation and luminance shifts the other two alone; so they commute, and
an image is taken apart once however many moves are applied to it.
"""

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

import torch
from torch import Tensor

Action: TypeAlias = Literal["clamp", "exact"]
Space: TypeAlias = Literal["hsl", "hsv"]
Shift: TypeAlias = float | Tensor

#: The hue of pure red, green and blue, in sextants.
_CHANNEL_HUES = (0.0, 2.0, -2.0)
#: How far outside [0, 1] a value may lie and still be taken for rounding, not for a mistake.
_RANGE_TOLERANCE = 1e-3


# ------------------------------------------------------------------------------------------------ colour spaces


def rgb_to_hsl(images: Tensor) -> Tensor:
    """RGB to hue (degrees in [0, 360)), saturation and luminance (both in [0, 1]), ``(*, 3, H, W)``.

    Greys have hue 0 and saturation 0.

    >>> rgb_to_hsl(torch.tensor([0.0, 1.0, 0.0]).view(3, 1, 1)).flatten().tolist()
    [120.0, 1.0, 0.5]
    """
    return _from_rgb(images, "hsl")


def rgb_to_hsv(images: Tensor) -> Tensor:
    """RGB to hue (degrees in [0, 360)), saturation and value (both in [0, 1]), ``(*, 3, H, W)``.

    >>> rgb_to_hsv(torch.tensor([0.0, 0.0, 0.5]).view(3, 1, 1)).flatten().tolist()
    [240.0, 1.0, 0.5]
    """
    return _from_rgb(images, "hsv")


def hsl_to_rgb(images: Tensor) -> Tensor:
    """Hue (degrees, any real), saturation and luminance to RGB, ``(*, 3, H, W)``.

    >>> hsl_to_rgb(torch.tensor([60.0, 1.0, 0.5]).view(3, 1, 1)).flatten().tolist()
    [1.0, 1.0, 0.0]
    """
    return _to_rgb(images, "hsl")


def hsv_to_rgb(images: Tensor) -> Tensor:
    """Hue (degrees, any real), saturation and value to RGB, ``(*, 3, H, W)``.

    >>> hsv_to_rgb(torch.tensor([180.0, 1.0, 1.0]).view(3, 1, 1)).flatten().tolist()
    [0.0, 1.0, 1.0]
    """
    return _to_rgb(images, "hsv")


# ------------------------------------------------------------------------------------------------ shifts


def shift_hue(images: Tensor, degrees: Shift) -> Tensor:
    """The paper's hue action φ_h: turns the hue of every pixel by ``degrees``.

    Shifts by a multiple of 120° are permutations of the channels and bit-exact; all others keep the largest and the
    smallest channel of each pixel, and with them saturation and luminance, in HSL and HSV alike.

    Args:
        images: RGB in [0, 1], ``(*, 3, H, W)``.
        degrees: one shift for all images, or a tensor of one shift for each, ``(*,)``.

    >>> red = torch.tensor([1.0, 0.0, 0.0]).view(3, 1, 1)
    >>> shift_hue(red, 120).flatten().tolist()
    [0.0, 1.0, 0.0]
    """
    images = as_images(images)
    work = _working(images)
    if not isinstance(degrees, Tensor):
        return _hue_orbit(work, [degrees])[0].to(images.dtype)
    shift = _per_image(degrees, work)
    parts = _hue_parts(work)
    # The shift decomposes into whole thirds of the circle, which are exact, and a rest, which is rounded.
    peaks = work.new_tensor(_CHANNEL_HUES).view(3, 1, 1)
    turned = _hue_channel(parts, _wrapped(shift / 60.0 - peaks))
    thirds = torch.round(shift / 120.0)
    source = torch.remainder(torch.arange(3, device=work.device).view(3, 1, 1) - thirds.long(), 3)
    permuted = torch.take_along_dim(work, source.view(*[1] * (work.dim() - source.dim()), *source.shape), dim=-3)
    return _where_exact(shift == thirds * 120.0, permuted, turned, degrees).to(images.dtype)


def shift_saturation(images: Tensor, shift: Shift, action: Action = "exact", space: Space = "hsl") -> Tensor:
    """The paper's saturation action φ_s, at constant hue and luminance (``"hsl"``) or value (``"hsv"``).

    Args:
        images: RGB in [0, 1], ``(*, 3, H, W)``.
        shift: one shift for all images, or a tensor of one shift for each, ``(*,)``.
        action: ``"exact"`` adds the shift to the logit of the saturation: a true action of (ℝ, +) under which greys
            stay grey. ``"clamp"`` is the paper's ``min(max(x + s, 0), 1)``, which forgets what it clips and turns greys
            red, since their undefined hue is read as 0.
        space: where saturation is measured.

    >>> pink = torch.tensor([0.75, 0.25, 0.25]).view(3, 1, 1)
    >>> shift_saturation(pink, 0.5, action="clamp").flatten().tolist()
    [1.0, 0.0, 0.0]
    """
    return _shift_part(images, "saturation", shift, action, space)


def shift_luminance(images: Tensor, shift: Shift, action: Action = "exact", space: Space = "hsl") -> Tensor:
    """The paper's luminance action φ_l, at constant hue and saturation; in ``"hsv"`` it moves the value instead.

    Arguments are those of :func:`shift_saturation`.

    >>> grey = torch.full((3, 1, 1), 0.5)
    >>> shift_luminance(grey, 0.25, action="clamp").flatten().tolist()
    [0.75, 0.75, 0.75]
    """
    return _shift_part(images, "luminance", shift, action, space)


def orbit(
    images: Tensor,
    degrees: Sequence[float] = (0.0,),
    saturation: Sequence[float] = (0.0,),
    luminance: Sequence[float] = (0.0,),
    saturation_action: Action = "exact",
    luminance_action: Action = "exact",
    space: Space = "hsl",
) -> Tensor:
    """Every combination of the given moves applied to ``images``: ``(hues, saturations, luminances, *, 3, H, W)``.

    What does not depend on the move is computed once. Where an image is both saturated by ``clamp`` and turned in hue,
    the hue is turned last, as in the paper, so that a grey becomes a turned red.

    >>> orbit(torch.rand(5, 3, 8, 8), degrees=[0, 120, 240], saturation=[-1, 0, 1]).shape
    torch.Size([3, 3, 1, 5, 3, 8, 8])
    """
    images = as_images(images)
    work = _working(images)
    still = all(s == 0 for s in (*saturation, *luminance))
    work = work if still else work.clamp(0, 1)
    turned = _hue_orbit(work, degrees)
    if still:
        return turned[:, None, None].expand(-1, len(saturation), len(luminance), *turned.shape[1:]).to(images.dtype)
    parts = _split(work, space)
    pure = _pure_hue(turned, parts, degrees)[:, None, None]
    saturations = torch.stack([_move(parts.saturation, s, saturation_action) for s in saturation])[:, None]
    luminances = torch.stack([_move(parts.luminance, s, luminance_action) for s in luminance])
    moved = _place(pure, saturations, luminances, space)
    if 0 in saturation and 0 in luminance:  # bit-exact where nothing but the hue moves
        moved[:, list(saturation).index(0), list(luminance).index(0)] = turned
    return moved.to(images.dtype)


def rotate_rgb(images: Tensor, degrees: float, clamp: bool = True) -> Tensor:
    """CEConv's hue shift: RGB turned about the axis (1, 1, 1), then clamped back into the cube.

    It agrees with :func:`shift_hue` on multiples of 120° only; elsewhere the turned cube leaves the cube, and what is
    clamped is lost. The baseline of the paper's comparisons, not a colour move to use.
    """
    images = as_images(images)
    work = _working(images)
    matrix = torch.tensor(rgb_rotation(degrees), dtype=work.dtype, device=work.device)
    turned = torch.einsum("ij,...jhw->...ihw", matrix, work)
    return (turned.clamp(0, 1) if clamp else turned).to(images.dtype)


def rgb_rotation(degrees: float) -> list[list[float]]:
    """The 3×3 matrix that turns RGB by ``degrees`` about the grey axis; exact on multiples of 120°."""
    if degrees % 120 == 0:
        thirds = int(degrees // 120) % 3
        return [[float((row - column) % 3 == thirds) for column in range(3)] for row in range(3)]
    # Rodrigues' formula about (1, 1, 1)/√3: the matrix is circulant.
    cosine, sine = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    a = cosine + (1 - cosine) / 3
    b = (1 - cosine) / 3 - sine / math.sqrt(3)
    c = (1 - cosine) / 3 + sine / math.sqrt(3)
    return [[a, b, c], [c, a, b], [b, c, a]]


# ------------------------------------------------------------------------------------------------ checks


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


def _check_choice(what: str, given: str, known: tuple[str, ...]) -> None:
    if given not in known:
        raise ValueError(f"unknown {what} {given!r}: expected one of {', '.join(map(repr, known))}")


def check_action(action: str) -> None:
    """Raises ValueError unless ``action`` names one."""
    _check_choice("action", action, ("clamp", "exact"))


def check_space(space: str) -> None:
    """Raises ValueError unless ``space`` names one."""
    _check_choice("colour space", space, ("hsl", "hsv"))


def _working(images: Tensor) -> Tensor:
    """The dtype to compute in: half precision is computed in float32."""
    return images.float() if images.dtype in (torch.float16, torch.bfloat16) else images


def _per_image(shift: Tensor, images: Tensor) -> Tensor:
    """A shift for each image, ready to broadcast against ``(*, 3, H, W)``."""
    batch = images.shape[:-3]
    if shift.dim() > 0 and tuple(shift.shape) != tuple(batch):
        raise ValueError(
            f"expected one shift, or one for each image {tuple(batch)}, got a tensor of shape {tuple(shift.shape)}"
        )
    return shift.to(images)[..., None, None, None]


def _where_exact(mask: Tensor, exact: Tensor, computed: Tensor, shift: Tensor) -> Tensor:
    """``exact`` where ``mask``, else ``computed``; a learned shift gets its gradient from ``computed`` everywhere."""
    if shift.requires_grad:
        exact = exact.detach() + (computed - computed.detach())
    return torch.where(mask, exact, computed)


# ------------------------------------------------------------------------------------------------ hue


class _HueParts(NamedTuple):
    smallest: Tensor  # m, (*, 1, H, W) like the others
    largest: Tensor  # M
    chroma: Tensor  # C = M - m
    chroma_hue: Tensor  # p = C·h, with the hue h in sextants, in [-3, 3]
    base: Tensor  # m - C


def _hue_parts(images: Tensor) -> _HueParts:
    red, green, blue = torch.split(images, 1, dim=-3)
    largest = torch.maximum(torch.maximum(red, green), blue)
    smallest = torch.minimum(torch.minimum(red, green), blue)
    chroma = largest - smallest
    chroma_hue = torch.where(
        largest == red,
        green - blue,
        torch.where(largest == green, torch.add(blue - red, chroma, alpha=2), torch.sub(red - green, chroma, alpha=2)),
    )
    return _HueParts(smallest, largest, chroma, chroma_hue, smallest - chroma)


def _hue_channel(parts: _HueParts, offset: Shift) -> Tensor:
    """One channel of the colours whose hue lies ``offset`` sextants (in [-3, 3]) above where the channel peaks.

    All three at once for a tensor of offsets with three channels.
    """
    # Written with alpha and addcmul, so that products are not rounded before they are added; in place, for the caches.
    if isinstance(offset, Tensor):
        height = torch.addcmul(parts.chroma_hue, offset, parts.chroma)
    else:
        height = torch.add(parts.chroma_hue, parts.chroma, alpha=offset)
    height = height.abs_().sub_(parts.chroma, alpha=3).abs_().add_(parts.base)
    return height.clamp(parts.smallest, parts.largest)


def _wrapped(sextants: Tensor) -> Tensor:
    return sextants - 6 * torch.round(sextants / 6)


def _hue_orbit(images: Tensor, degrees: Sequence[float]) -> Tensor:
    """``images`` turned by each of ``degrees``: ``(len(degrees), *, 3, H, W)``; multiples of 120° are permutations."""
    # Turning by 120° moves each channel to the next: channel c of the shift d is channel 0 of the shift d - 120°·c.
    wanted = [[(float(d) - 120.0 * channel) % 360.0 for channel in range(3)] for d in degrees]
    known: dict[float, Tensor] = dict(zip((0.0, 240.0, 120.0), torch.split(images, 1, dim=-3), strict=True))
    parts = None if all(angles[0] in known for angles in wanted) else _hue_parts(images)
    if torch.compiler.is_compiling():  # one expression for each element: a compiler makes one pass of all
        elements = []
        for angles in wanted:
            if parts is None or angles[0] in known:
                elements.append(torch.cat([known[angle] for angle in angles], dim=-3))
            else:
                offsets = [_sextants(angle) for angle in angles]
                elements.append(_hue_channel(parts, images.new_tensor(offsets).view(3, 1, 1)))
        return torch.stack(elements)
    turned = images.new_empty(len(wanted), *images.shape)  # each channel computed once, and written where it belongs
    for element, angles in enumerate(wanted):
        for channel, angle in enumerate(angles):
            if angle not in known and parts is not None:
                known[angle] = _hue_channel(parts, _sextants(angle))
            turned[element].narrow(-3, channel, 1).copy_(known[angle])
    return turned


def _sextants(degrees: float) -> float:
    """Degrees in [0, 360) as sextants in (-3, 3]."""
    return degrees / 60.0 - (6.0 if degrees > 180.0 else 0.0)


# ------------------------------------------------------------------------------------------------ saturation, luminance


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


def _pure_hue(images: Tensor, parts: _Parts, degrees: Sequence[float] | None = None) -> Tensor:
    """The fully saturated colour of each pixel's hue, smallest channel 0, largest 1; red, turned, for greys."""
    red = images.new_zeros(3, 1, 1)
    red[0] = 1
    if degrees is not None:  # the leading axis of images is their orbit
        red = _hue_orbit(red, degrees).view(len(degrees), *[1] * (images.dim() - 4), 3, 1, 1)
    chroma = torch.where(parts.grey, 1.0, parts.chroma)
    return torch.where(parts.grey, red, (images - parts.smallest) / chroma)


def _place(pure: Tensor, saturation: Tensor, luminance: Tensor, space: Space) -> Tensor:
    """The RGB of a pure hue at this saturation and luminance (or value)."""
    if space == "hsv":
        return luminance * (1 - saturation * (1 - pure))
    reach = 2 * torch.minimum(luminance, 1 - luminance)
    return luminance + (saturation * reach) * (pure - 0.5)


def _shift_part(
    images: Tensor, part: Literal["saturation", "luminance"], shift: Shift, action: Action, space: Space
) -> Tensor:
    """``images`` with one part moved and the others as they are; bit-exact where the shift is 0."""
    images = as_images(images)
    work = _working(images)
    by = _per_image(shift, work) if isinstance(shift, Tensor) else shift
    inside = work.clamp(0, 1)
    parts = _split(inside, space)
    there = parts._replace(**{part: _move(getattr(parts, part), by, action)})
    moved = _place(_pure_hue(inside, parts), there.saturation, there.luminance, space)
    if isinstance(by, Tensor) and isinstance(shift, Tensor):
        moved = _where_exact(by == 0, work, moved, shift)
    elif by == 0:
        moved = work.clone()
    return moved.to(images.dtype)


def _move(value: Tensor, shift: Shift, action: Action) -> Tensor:
    """``value`` in [0, 1] moved by ``shift``.

    ``exact`` adds the shift to the logit, which is the Möbius map x ↦ kx/(1 + (k-1)x) with k = e^shift. With
    k = rise/fall and the larger of the two 1, no shift overflows; held at 80, where all is at the end, none underflows.
    The map has a pole close to [0, 1] where k is large or small, so what rounding left outside must be inside by now.
    """
    check_action(action)
    if action == "clamp":
        return (value + shift).clamp(0, 1)
    if isinstance(shift, Tensor):
        rise, fall = shift.clamp(-80, 0).exp(), (-shift).clamp(-80, 0).exp()
        return rise * value / (fall * (1 - value) + rise * value)
    up, down = math.exp(max(min(shift, 0.0), -80.0)), math.exp(max(min(-shift, 0.0), -80.0))
    return up * value / (down * (1 - value) + up * value)


# ------------------------------------------------------------------------------------------------ conversion


def _from_rgb(images: Tensor, space: Space) -> Tensor:
    images = as_images(images)
    work = _working(images)
    parts, hue = _split(work, space), _hue_parts(work)
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
    degrees, saturation, luminance = torch.split(_working(images), 1, dim=-3)
    sextants = _wrapped(degrees / 60)
    one = torch.ones_like(sextants)
    unit = _HueParts(torch.zeros_like(one), one, one, sextants, -one)
    pure = _hue_channel(unit, -sextants.new_tensor(_CHANNEL_HUES).view(3, 1, 1))
    return _place(pure, saturation, luminance, space).to(images.dtype)
