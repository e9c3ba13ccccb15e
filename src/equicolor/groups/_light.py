"""Groups of light: what lamps, white balances and exposures do. See :func:`equicolor.color.shift_light`."""

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import ClassVar

import numpy as np
from torch import Tensor

from equicolor import color
from equicolor.color import Shift
from equicolor.groups._actions import ActionFactor
from equicolor.groups._factor import Factor
from equicolor.groups._family import Family
from equicolor.groups._names import register_group


class _Light(Family):
    """Shifts of channels by multiples of a direction: those of several factors add, and are made in one pass."""

    def check(self, factors: Sequence[Factor]) -> None:
        names, lights = "-".join(factor.name for factor in factors), _lights(factors)
        if len({light.action for light in lights}) > 1:
            raise ValueError(f"the factors of a product of light must share one action, got {names}")
        channels = {light.channels for light in lights if light.channels is not None}
        if len(channels) > 1:
            raise ValueError(f"the factors of a product must be for the same number of channels, got {names}")
        if np.linalg.matrix_rank([light.along(max(channels, default=1)) for light in lights]) < len(lights):
            raise ValueError(f"a product takes each direction of light at most once, got {names}")

    def orbit(self, factors: Sequence[Factor], images: Tensor, amounts: Sequence[Sequence[float]]) -> Tensor:
        directions = [light.along(images.shape[-3]) for light in _lights(factors)]
        shifts = [_sum(own, directions) for own in product(*amounts)]
        return color.light_orbit(images, shifts, _lights(factors)[0].action).reshape(*map(len, amounts), *images.shape)

    def move(self, factors: Sequence[Factor], images: Tensor, amounts: Sequence[Shift]) -> Tensor:
        shifts = images.new_zeros(images.shape[-3])
        for light, amount in zip(_lights(factors), amounts, strict=True):
            own = amount.flatten(-3) if isinstance(amount, Tensor) and amount.dim() else amount
            shifts = shifts + own * images.new_tensor(light.along(images.shape[-3]))
        return color.shift_light(images, shifts, _lights(factors)[0].action)

    def level(self, factors: Sequence[Factor], images: Tensor) -> Tensor | None:
        """What it takes of each direction to come closest to the medians of the channels."""
        lights = _lights(factors)
        directions = np.array([light.along(images.shape[-3]) for light in lights])
        return color.median_level(images, lights[0].action) @ images.new_tensor(np.linalg.pinv(directions))

    def domain(self, factors: Sequence[Factor], noise: Tensor) -> Tensor:
        """Anything; for gains, dark enough that the largest of them does not clip."""
        lights = _lights(factors)
        if lights[0].action == "exact":
            return noise
        most = sum(light.step * light.n * max(map(abs, light.along(noise.shape[-3]))) for light in lights)
        return noise * math.exp(-most)


def _sum(amounts: Sequence[float], directions: Sequence[Sequence[float]]) -> list[float]:
    return [sum(a * part for a, part in zip(amounts, parts, strict=True)) for parts in zip(*directions, strict=True)]


def _lights(factors: Sequence[Factor]) -> list["Light"]:
    return [factor for factor in factors if isinstance(factor, Light)]


@dataclass(frozen=True)
class Light(ActionFactor):
    """A group of ``n`` shifts of light by multiples of ``step`` along a direction: the base class of groups of light.

    Args:
        n: how many elements; 3 stands for {-1, 0, 1}.
        step: the shift between neighbours: of logits for ``exact`` (default 0.75, which takes a mid grey of 0.5 to
            0.68), of the logarithm of a gain for ``clamp`` (default 0.3, about as far).
        action: ``"exact"``, a true group action, or ``"clamp"``, as cameras do: see
            :func:`equicolor.color.shift_temperature`.
    """

    default_steps: ClassVar[dict[str, float]] = {"clamp": 0.3, "exact": 0.75}
    default_reaches: ClassVar[dict[str, float]] = {"clamp": 0.5, "exact": 1.0}
    family: ClassVar[Family] = _Light("light")

    @abstractmethod
    def along(self, channels: int) -> Sequence[float]:
        """How far each channel moves by a shift of 1.

        Args:
            channels: how many channels the images have.

        Returns:
            One number for each channel.
        """

    def move(self, images: Tensor, amount: Shift) -> Tensor:
        return self.family.move([self], images, [amount])

    def level(self, images: Tensor) -> Tensor | None:
        level = self.family.level([self], images)
        return None if level is None else level.squeeze(-1)


@register_group
@dataclass(frozen=True)
class Temperature(Light):
    """A group of ``n`` shifts from cool (more blue) to warm (more red) light.

    Args:
        n: how many elements; 3 stands for {-1, 0, 1}.
        step: the shift between neighbours.
        action: ``"exact"`` or ``"clamp"``, as for :func:`equicolor.color.shift_temperature`.

    Example:
        >>> Temperature(3).describe(1)
        'temperature +0.75'
    """

    prefix: ClassVar[str] = "temp"
    quantity: ClassVar[str] = "temperature"

    def along(self, channels: int) -> Sequence[float]:
        return color.TEMPERATURE


@register_group
@dataclass(frozen=True)
class Tint(Light):
    """A group of ``n`` shifts from magenta to green light.

    Args:
        n: how many elements; 3 stands for {-1, 0, 1}.
        step: the shift between neighbours.
        action: ``"exact"`` or ``"clamp"``, as for :func:`equicolor.color.shift_tint`.

    Example:
        >>> (Temperature(3) * Tint(3)).order
        9
    """

    prefix: ClassVar[str] = "tint"
    quantity: ClassVar[str] = "tint"

    def along(self, channels: int) -> Sequence[float]:
        return color.TINT


@register_group
@dataclass(frozen=True)
class Exposure(Light):
    """A group of ``n`` shifts from dark to bright, for images of any number of channels.

    Args:
        n: how many elements; 3 stands for {-1, 0, 1}.
        step: the shift between neighbours.
        action: ``"exact"`` or ``"clamp"``, as for :func:`equicolor.color.shift_exposure`.

    Example:
        >>> import torch
        >>> Exposure(3).lift(torch.rand(2, 7, 8, 8)).shape
        torch.Size([6, 7, 8, 8])
    """

    prefix: ClassVar[str] = "exp"
    quantity: ClassVar[str] = "exposure"
    channels: ClassVar[int | None] = None

    def along(self, channels: int) -> Sequence[float]:
        return (1.0,) * channels


@register_group
@dataclass(frozen=True)
class Gain(Light):
    """A group of ``n`` shifts along a direction of your own, for multispectral images.

    Args:
        direction: how far each channel moves by a shift of 1; images have as many channels as it has numbers. All
            channels alike is :class:`Exposure`.
        n: how many elements; 3 stands for {-1, 0, 1}.
        step: the shift between neighbours.
        action: ``"exact"`` or ``"clamp"``, as for :func:`equicolor.color.shift_light`.

    Example:
        >>> infrared = Gain(3, direction=(0, 0, 0, 1))
        >>> str(infrared)
        'gain3(direction=0.0:0.0:0.0:1.0)'
        >>> import torch
        >>> infrared.lift(torch.rand(2, 4, 8, 8)).shape
        torch.Size([6, 4, 8, 8])
    """

    prefix: ClassVar[str] = "gain"
    quantity: ClassVar[str] = "gain"
    direction: tuple[float, ...] = field(kw_only=True)

    def __post_init__(self) -> None:
        direction = tuple(map(float, self.direction))
        if not any(direction) or not all(map(math.isfinite, direction)):
            raise ValueError(f"Gain takes a direction of finite numbers, not all of them 0, got {self.direction!r}")
        object.__setattr__(self, "direction", direction)
        super().__post_init__()

    @property
    def channels(self) -> int:  # type: ignore[override]
        return len(self.direction)

    def along(self, channels: int) -> Sequence[float]:
        return self.direction
