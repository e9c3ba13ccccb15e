"""Light: what another lamp, white balance or exposure does to colours, channel by channel.

``exact`` adds to the logit of each channel, which is the map x ↦ kx/(1 + (k-1)x) with k = e^s: a true action of
(ℝ^C, +) on images of C channels. It is undone by the opposite shift, keeps [0, 1], and black and white stay what they
are. In the dark it is the gain k, close to white its mirror image. ``clamp`` is that gain everywhere, min(kx, 1), as in
a camera (von Kries): what it clips is lost.

The named directions are at right angles to each other. Shifts are in logits (``exact``) or natural logarithms of a gain
(``clamp``; one stop is 0.69). What a shift of 1 does to a mid grey of 0.5, exactly:

    temperature   (1, 0, -1)       red to 0.73, blue to 0.27: warmer
    tint          (-½, 1, -½)      green to 0.73, red and blue to 0.38: greener
    exposure      (1, 1, 1)        all to 0.73: brighter
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from equicolor._tools.tensors import is_channels_last, is_readable
from equicolor.color._images import (
    Action,
    Shift,
    as_images,
    check_action,
    check_shift,
    per_image,
    rise_and_fall,
    where_exact,
    working,
)

#: How far red, green and blue move under a shift of temperature by 1.
TEMPERATURE = (1.0, 0.0, -1.0)
#: How far red, green and blue move under a shift of tint by 1.
TINT = (-0.5, 1.0, -0.5)
#: How far red, green and blue move under a shift of exposure by 1.
EXPOSURE = (1.0, 1.0, 1.0)


def shift_temperature(images: Tensor, shift: Shift, action: Action = "exact") -> Tensor:
    """Makes the light warmer (more red, less blue) for a positive shift, cooler for a negative one.

    Args:
        images: RGB in [0, 1].
        shift: one shift for all images, or a tensor of one shift for each, ``(*,)``. The unit is that of the logit of a
            channel: 1 takes a red of 0.5 to 0.73.
        action: ``"exact"``, a true action of (ℝ, +), or ``"clamp"``, the gain of a camera, which forgets what it clips.

    Returns:
        The moved images, in [0, 1].

    Shape:
        ``(*, 3, H, W)`` to ``(*, 3, H, W)``.

    Example:
        >>> grey = torch.full((3, 1, 1), 0.5)
        >>> shift_temperature(grey, 1.0).flatten().tolist()
        [0.7310585975646973, 0.5, 0.2689414322376251]
    """
    return _along(images, shift, TEMPERATURE, action)


def shift_tint(images: Tensor, shift: Shift, action: Action = "exact") -> Tensor:
    """Makes the light greener for a positive shift, more magenta for a negative one.

    Args:
        images: RGB in [0, 1].
        shift: one shift for all images, or a tensor of one shift for each, ``(*,)``.
        action: ``"exact"`` or ``"clamp"``, as for :func:`shift_temperature`.

    Returns:
        The moved images, in [0, 1].

    Shape:
        ``(*, 3, H, W)`` to ``(*, 3, H, W)``.

    Example:
        >>> grey = torch.full((3, 1, 1), 0.5)
        >>> [round(value, 2) for value in shift_tint(grey, 1.0).flatten().tolist()]
        [0.38, 0.73, 0.38]
    """
    return _along(images, shift, TINT, action)


def shift_exposure(images: Tensor, shift: Shift, action: Action = "exact") -> Tensor:
    """Makes images brighter for a positive shift, darker for a negative one; any number of channels.

    Args:
        images: images in [0, 1].
        shift: one shift for all images, or a tensor of one shift for each, ``(*,)``.
        action: ``"exact"`` or ``"clamp"``, as for :func:`shift_temperature`.

    Returns:
        The moved images, in [0, 1].

    Shape:
        ``(*, C, H, W)`` to ``(*, C, H, W)``.

    Example:
        >>> dark = torch.full((5, 1, 1), 0.25)
        >>> shift_exposure(dark, 0.6931472, action="clamp").flatten().tolist()  # by one stop
        [0.5, 0.5, 0.5, 0.5, 0.5]
    """
    return _along(images, shift, None, action)


def shift_light(images: Tensor, shifts: Sequence[float] | Tensor, action: Action = "exact") -> Tensor:
    """Moves each channel by a shift of its own, in one pass: what all changes of light come down to.

    Args:
        images: images in [0, 1].
        shifts: C numbers for all images, or a tensor of C numbers for each, ``(*, C)``.
        action: as for :func:`shift_temperature`.

    Returns:
        The moved images, in [0, 1].

    Raises:
        ValueError: there are not as many shifts as channels.

    Shape:
        ``(*, C, H, W)`` to ``(*, C, H, W)``.

    Example:
        >>> shift_light(torch.full((2, 1, 1), 0.5), [0.0, 50.0]).flatten().tolist()
        [0.5, 1.0]
    """
    check_action(action)
    check_shift(shifts)
    images = as_images(images, channels=None)
    work = working(images)
    given = shifts if isinstance(shifts, Tensor) else work.new_tensor([float(shift) for shift in shifts])
    channels = images.shape[-3]
    if tuple(given.shape) != ((channels,) if given.dim() == 1 else (*images.shape[:-3], channels)):
        raise ValueError(
            f"expected a shift for each of {channels} channels, or so many for each image "
            f"{(*images.shape[:-3], channels)}, got shape {tuple(given.shape)}"
        )
    by = given.to(work)[..., None, None]
    inside = work.clamp(0, 1)  # the map has a pole close to [0, 1], where rounding may have left a value
    moved = _moved(inside, _in_rows(by, work), action)
    if by.device.type == "cpu" and is_readable(by) and bool(by.all()):  # nothing stays what it is: a pass less
        return moved.to(images.dtype)
    return where_exact(by == 0, work, moved, given).to(images.dtype)


def light_orbit(images: Tensor, shifts: Sequence[Sequence[float]], action: Action = "exact") -> Tensor:
    """Moves the light of images by each of several shifts, as :func:`shift_light` does by one.

    Args:
        images: images in [0, 1].
        shifts: for each element of the result, one number for each channel.
        action: as for :func:`shift_temperature`.

    Returns:
        The moved images, stacked along a new first axis.

    Shape:
        ``(*, C, H, W)`` to ``(len(shifts), *, C, H, W)``.

    Example:
        >>> light_orbit(torch.rand(2, 3, 8, 8), [[0.0, 0.0, 0.0], [1.0, 0.0, -1.0]]).shape
        torch.Size([2, 2, 3, 8, 8])
    """
    check_action(action)
    check_shift(*shifts)
    images = as_images(images, channels=None)
    still = [place for place, shift in enumerate(shifts) if not any(shift)]
    if len(still) == len(shifts):
        return images.expand(len(shifts), *images.shape).clone()
    work = working(images)
    by, inside = work.new_tensor(shifts)[..., None, None], work.clamp(0, 1)
    if torch.compiler.is_compiling():  # one expression: a compiler makes one pass of it
        moved = _moved(inside, by.view(len(shifts), *[1] * (work.dim() - 3), -1, 1, 1), action)
        for place in still:  # bit-exact where nothing moves
            moved[place] = work
        return moved.to(images.dtype)
    last, shape = is_channels_last(work), work.shape
    if last:
        by, shape = _in_rows(by, work), work.movedim(-3, -1).shape
    rest, gains = 1 - inside, _gains(by, action)
    moved = work.new_empty(len(shifts), *shape)
    moved = moved.movedim(-1, -3) if last else moved
    for place in range(len(shifts)):  # element by element, for the caches
        own = [gain[place] for gain in gains]
        moved[place].copy_(work if place in still else _by_gains(inside, rest, own))
    return moved.to(images.dtype)


def _along(images: Tensor, shift: Shift, direction: Sequence[float] | None, action: Action) -> Tensor:
    """Every channel moved by ``shift`` times its part of ``direction``; all alike without one."""
    check_shift(shift)
    images = as_images(images, channels=None if direction is None else len(direction))
    direction = (1.0,) * images.shape[-3] if direction is None else direction
    if not isinstance(shift, Tensor):
        return shift_light(images, [shift * part for part in direction], action)
    by = per_image(shift, working(images)).flatten(-3)
    return shift_light(images, by * by.new_tensor(direction), action)


def _in_rows(shifts: Tensor, images: Tensor) -> Tensor:
    """Shifts ``(*, C, 1, 1)`` beside images whose channels are neighbours in memory: a row of them, for long loops."""
    if torch.compiler.is_compiling() or not is_channels_last(images):
        return shifts
    shifts = shifts if shifts.dim() == 4 else shifts[None]
    return shifts.expand(-1, -1, 1, images.shape[-1]).contiguous(memory_format=torch.channels_last)


def _moved(images: Tensor, shifts: Tensor, action: Action) -> Tensor:
    """``images`` in [0, 1] moved by shifts that broadcast against them."""
    return _by_gains(images, 1 - images, _gains(shifts, action))


def _gains(shifts: Tensor, action: Action) -> tuple[Tensor, ...]:
    """What multiplies an image: one gain to be clamped, or two, of the image and of what it lacks to white."""
    if action == "clamp":
        return (shifts.clamp(-80, 40).exp(),)  # so that no gradient overflows
    return rise_and_fall(shifts)


def _by_gains(images: Tensor, rest: Tensor, gains: Sequence[Tensor]) -> Tensor:
    risen = gains[0] * images
    return risen.clamp(max=1) if len(gains) == 1 else risen / torch.addcmul(risen, gains[1], rest)
