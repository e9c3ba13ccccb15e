"""The paper's groups: shifts of hue, saturation and luminance."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from torch import Tensor

from equicolor import color
from equicolor.color import Shift, Space
from equicolor.groups._actions import ActionFactor
from equicolor.groups._factor import Factor
from equicolor.groups._family import Family
from equicolor.groups._names import register_group


class _HSL(Family):
    """Hue, saturation and luminance, which an image is taken apart into once for all moves."""

    def check(self, factors: Sequence[Factor]) -> None:
        super().check(factors)
        if len({factor.space for factor in factors if isinstance(factor, _Translations)}) > 1:
            names = "-".join(factor.name for factor in factors)
            raise ValueError(f"the factors of a product must share one colour space, got {names}")

    def orbit(self, factors: Sequence[Factor], images: Tensor, amounts: Sequence[Sequence[float]]) -> Tensor:
        orbit = color.orbit(images, **_moves(factors, amounts))
        present = [("degrees", "saturation", "luminance").index(_argument(factor)) for factor in factors]
        return orbit.permute(*present, *(axis for axis in range(orbit.dim()) if axis not in present)).reshape(
            *map(len, amounts), *images.shape
        )

    def move(self, factors: Sequence[Factor], images: Tensor, amounts: Sequence[Shift]) -> Tensor:
        return color.shift_hsl(images, **_moves(factors, amounts))

    def domain(self, factors: Sequence[Factor], noise: Tensor) -> Tensor:
        """Any hue; where there are windows, middling saturation and luminance, so that nothing clips."""
        if all(factor.closes for factor in factors):
            return noise
        scale, base = noise.new_tensor([360.0, 0.2, 0.2]), noise.new_tensor([0.0, 0.4, 0.4])
        return color.hsl_to_rgb(base.view(3, 1, 1) + scale.view(3, 1, 1) * noise)


def _argument(factor: Factor) -> str:
    """What the functions of :mod:`equicolor.color` call it."""
    return "degrees" if factor.closes else factor.quantity


def _moves(factors: Sequence[Factor], amounts: Sequence[Any]) -> dict[str, Any]:
    moves: dict[str, Any] = {}
    for factor, amount in zip(factors, amounts, strict=True):
        moves[_argument(factor)] = amount
        if isinstance(factor, _Translations):
            moves |= {f"{factor.quantity}_action": factor.action, "space": factor.space}
    return moves


HSL = _HSL("HSL")


@register_group
@dataclass(frozen=True)
class Hue(Factor):
    """A group of ``n`` hue shifts by multiples of 360°/n: the cyclic group (the paper's H_N).

    Example:
        >>> [element * Hue(4).step for element in Hue(4)]
        [0.0, 90.0, 180.0, 270.0]
    """

    prefix: ClassVar[str] = "hue"
    quantity: ClassVar[str] = "hue"
    unit: ClassVar[str] = "°"
    period: ClassVar[float] = 360.0
    family: ClassVar[Family] = HSL

    @property
    def step(self) -> float:
        """Degrees between neighbouring elements."""
        return 360.0 / self.n

    def degrees(self, element: int) -> float:
        """The hue shift of an element.

        Args:
            element: an element.

        Returns:
            Degrees in [0, 360); exact wherever they are a whole number.
        """
        return self.amount(element)

    def move(self, images: Tensor, amount: Shift) -> Tensor:
        return color.shift_hue(images, amount)


@dataclass(frozen=True)
class _Translations(ActionFactor):
    """A window of ``n`` elements of (ℤ, +), around 0: what saturation and luminance have in common."""

    # 0.1 as in the paper; in logits, what moves a half-saturated colour about as far.
    default_steps: ClassVar[dict[str, float]] = {"clamp": 0.1, "exact": 0.4}
    default_reaches: ClassVar[dict[str, float]] = {"clamp": 0.5, "exact": 1.2}
    shift_options: ClassVar[dict[str, Any]] = {"action": "clamp"}  # the paper's
    family: ClassVar[Family] = HSL
    space: Space = "hsl"

    def __post_init__(self) -> None:
        color.check_space(self.space)
        super().__post_init__()

    def level(self, images: Tensor) -> Tensor | None:
        if self.action != "exact":  # what is clipped leaves the median behind
            return None
        split = color.rgb_to_hsl if self.space == "hsl" else color.rgb_to_hsv
        place = ("hue", "saturation", "luminance").index(self.quantity)
        return color.median_level(split(images)[..., place : place + 1, :, :]).squeeze(-1)


@register_group
@dataclass(frozen=True)
class Saturation(_Translations):
    """A group of ``n`` shifts of saturation by multiples of ``step``: a window of translations (the paper's S_N).

    Args:
        n: how many elements; 3 stands for {-1, 0, 1}.
        step: the shift between neighbours: of the saturation for ``clamp`` (default 0.1), of its logit for ``exact``
            (default 0.4, which takes a saturation of 0.5 to 0.6).
        action: ``"exact"``, a true group action, or ``"clamp"``, the paper's: see
            :func:`equicolor.color.shift_saturation`.
        space: ``"hsl"``, as in the paper, or ``"hsv"``, as in its authors' code.

    Example:
        >>> str(Saturation(3, step=0.05, action="clamp"))
        'sat3(step=0.05,action=clamp)'
    """

    prefix: ClassVar[str] = "sat"
    quantity: ClassVar[str] = "saturation"
    family: ClassVar[Family] = HSL

    def move(self, images: Tensor, amount: Shift) -> Tensor:
        return color.shift_saturation(images, amount, self.action, self.space)


@register_group
@dataclass(frozen=True)
class Luminance(_Translations):
    """A group of ``n`` shifts of luminance by multiples of ``step`` (the paper's L_N).

    Args:
        n: how many elements; 3 stands for {-1, 0, 1}.
        step: the shift between neighbours.
        action: ``"exact"`` or ``"clamp"``, as for :func:`equicolor.color.shift_luminance`.
        space: ``"hsl"`` or ``"hsv"``, as for :func:`equicolor.color.shift_luminance`.

    Example:
        >>> list(Luminance(3))
        [-1, 0, 1]
    """

    prefix: ClassVar[str] = "lum"
    quantity: ClassVar[str] = "luminance"
    family: ClassVar[Family] = HSL

    def move(self, images: Tensor, amount: Shift) -> Tensor:
        return color.shift_luminance(images, amount, self.action, self.space)
