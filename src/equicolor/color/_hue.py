"""Hue shifts, as the piecewise linear maps of RGB that they are.

With ``M`` and ``m`` the largest and smallest channel, chroma ``C = M - m`` and the hue ``h`` in sextants (60°), a
channel whose own hue is ``o`` (red 0, green 2, blue -2) has the value ``m + C·clamp(||h - o| - 3| - 1, 0, 1)`` for
``|h - o| <= 6``. Multiplying the clamp by ``C`` leaves only ``p = C·h``, and ``p`` is a difference of channels: nothing
is divided, so greys need no epsilon and every gradient is bounded.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from equicolor._tools.tensors import is_channels_last, is_recorded
from equicolor.color._images import Shift, as_images, check_shift, per_image, where_exact, working

#: The hue of pure red, green and blue, in sextants.
CHANNEL_HUES = (0.0, 2.0, -2.0)


def shift_hue(images: Tensor, degrees: Shift) -> Tensor:
    """Turns the hue of every pixel: the paper's hue action φ_h.

    Shifts by a multiple of 120° are permutations of the channels and bit-exact; all others keep the largest and the
    smallest channel of each pixel, and with them saturation and luminance, in HSL and HSV alike.

    Args:
        images: RGB in [0, 1].
        degrees: the angle, one for all images, or a tensor of one for each, ``(*,)``.

    Returns:
        The turned images, in [0, 1].

    Shape:
        ``(*, 3, H, W)`` to ``(*, 3, H, W)``.

    Example:
        >>> red = torch.tensor([1.0, 0.0, 0.0]).view(3, 1, 1)
        >>> shift_hue(red, 120).flatten().tolist()
        [0.0, 1.0, 0.0]
    """
    check_shift(degrees)
    images = as_images(images)
    work = working(images)
    if not isinstance(degrees, Tensor):
        return hue_orbit(work, [degrees])[0].to(images.dtype)
    shift = per_image(degrees, work)
    parts = hue_parts(work)
    # The shift decomposes into whole thirds of the circle, which are exact, and a rest, which is rounded.
    peaks = work.new_tensor(CHANNEL_HUES).view(3, 1, 1)
    turned = hue_channel(parts, wrapped(shift / 60.0 - peaks))
    thirds = torch.round(shift / 120.0)
    source = torch.remainder(torch.arange(3, device=work.device).view(3, 1, 1) - thirds.long(), 3)
    # Not take_along_dim, which ties an exported graph to the number of images it was traced with.
    permuted = work.gather(-3, source.expand(work.shape))
    return where_exact(shift == thirds * 120.0, permuted, turned, degrees).to(images.dtype)


class HueParts(NamedTuple):
    smallest: Tensor  # m, (*, 1, H, W) like the others
    largest: Tensor  # M
    chroma: Tensor  # C = M - m
    chroma_hue: Tensor  # p = C·h, with the hue h in sextants, in [-3, 3]
    base: Tensor  # m - C


def _extremes(images: Tensor) -> tuple[Tensor, Tensor]:
    """The smallest and the largest channel."""
    red, green, blue = torch.split(images, 1, dim=-3)
    return torch.minimum(torch.minimum(red, green), blue), torch.maximum(torch.maximum(red, green), blue)


def hue_parts(images: Tensor) -> HueParts:
    red, green, blue = torch.split(images, 1, dim=-3)
    smallest, largest = _extremes(images)
    chroma = largest - smallest
    if images.device.type != "cpu" or is_recorded(images):
        chroma_hue = torch.where(
            largest == red,
            green - blue,
            torch.where(
                largest == green, torch.add(blue - red, chroma, alpha=2), torch.sub(red - green, chroma, alpha=2)
            ),
        )
    else:
        # The same in all three cases, without asking which it is: CPUs are slow to choose pixel by pixel. Its gradient
        # would not be: where green and blue are equal it is that of a modulus.
        chroma_hue = (green - smallest).add_(blue - red).add_(chroma).copysign_(green - blue)
    return HueParts(smallest, largest, chroma, chroma_hue, smallest - chroma)


def hue_channel(parts: HueParts, offset: Shift) -> Tensor:
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


def wrapped(sextants: Tensor) -> Tensor:
    return sextants - 6 * torch.round(sextants / 6)


def hue_orbit(images: Tensor, degrees: Sequence[float]) -> Tensor:
    """``images`` turned by each of ``degrees``: ``(len(degrees), *, 3, H, W)``; multiples of 120° are permutations."""
    # Turning by 120° moves each channel to the next: channel c of the shift d is channel 0 of the shift d - 120°·c.
    wanted = [[(float(d) - 120.0 * channel) % 360.0 for channel in range(3)] for d in degrees]
    on_cpu = images.device.type == "cpu" and not is_recorded(images)
    last = on_cpu and is_channels_last(images)
    images = images.contiguous() if last else images  # every channel is read several times: once with gaps is enough
    known: dict[float, Tensor] = dict(zip((0.0, 240.0, 120.0), torch.split(images, 1, dim=-3), strict=True))
    missing = {angle for angles in wanted for angle in angles} - known.keys()
    near = missing & _TWELFTHS if on_cpu else set()
    parts = hue_parts(images) if missing - near else None
    if near:
        known |= _twelfths(images, near, _extremes(images) if parts is None else (parts.smallest, parts.largest))
    if torch.compiler.is_compiling():  # one expression for each element: a compiler makes one pass of all
        elements = []
        for angles in wanted:
            if parts is None or angles[0] in known:
                elements.append(torch.cat([known[angle] for angle in angles], dim=-3))
            else:
                offsets = [_sextants(angle) for angle in angles]
                elements.append(hue_channel(parts, images.new_tensor(offsets).view(3, 1, 1)))
        return torch.stack(elements)
    turned = images.new_empty(len(wanted), *images.shape)  # each channel computed once, and written where it belongs
    if last and len(wanted) == 1:  # of several, what comes next makes its own layout
        turned = torch.empty_like(turned[0], memory_format=torch.channels_last)[None]
    for element, angles in enumerate(wanted):
        for channel, angle in enumerate(angles):
            if angle not in known and parts is not None:
                known[angle] = hue_channel(parts, _sextants(angle))
            turned[element].narrow(-3, channel, 1).copy_(known[angle])
    return turned


#: Channel 0 of a turn by an odd multiple of 30° is the middle between the largest and the smallest channel, and the
#: difference of these two channels more, clamped to both: half-way through a sextant, both ramps are on one line.
_ODD = {30.0: (0, 1), 90.0: (2, 1), 150.0: (2, 0), 210.0: (1, 0), 270.0: (1, 2), 330.0: (0, 2)}
#: By 60°, 180° and 300° it is the complement of this channel: as far below the largest as that is above the smallest.
_EVEN = {60.0: 1, 180.0: 0, 300.0: 2}
_TWELFTHS = _ODD.keys() | _EVEN.keys()


def _twelfths(images: Tensor, angles: Iterable[float], extremes: tuple[Tensor, Tensor]) -> dict[float, Tensor]:
    """Channel 0 of turns by multiples of 30°, other than 120°, in fewer passes than other angles take."""
    channels, (smallest, largest) = torch.split(images, 1, dim=-3), extremes
    middle = torch.add(largest, smallest).mul_(0.5)
    found = {}
    for angle in angles:
        if angle in _EVEN:
            height = (largest - channels[_EVEN[angle]]).add_(smallest)
        else:
            more, less = (channels[place] for place in _ODD[angle])
            height = (more - less).add_(middle)
        found[angle] = height.clamp_(smallest, largest)
    return found


def _sextants(degrees: float) -> float:
    """Degrees in [0, 360) as sextants in (-3, 3]."""
    return degrees / 60.0 - (6.0 if degrees > 180.0 else 0.0)
