"""The paper's groups: shifts of hue, saturation and luminance."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

from equicolor import color
from equicolor.color import Action, Space
from equicolor.groups._factor import Factor

#: The default step of each action: 0.1 as in the paper; in logits, what moves a half-saturated colour about as far.
DEFAULT_STEP: dict[str, float] = {"clamp": 0.1, "exact": 0.4}


@dataclass(frozen=True)
class Hue(Factor):
    """The cyclic group of ``n`` hue shifts by multiples of 360°/n (the paper's H_N).

    >>> [element * Hue(4).step for element in Hue(4)]
    [0.0, 90.0, 180.0, 270.0]
    """

    prefix: ClassVar[str] = "hue"
    axis: ClassVar[int] = 0
    closes: ClassVar[bool] = True
    n: int

    def __post_init__(self) -> None:
        self._check_order()

    @property
    def step(self) -> float:
        """Degrees between neighbouring elements."""
        return 360.0 / self.n

    def degrees(self, element: int) -> float:
        """The hue shift of an element, in [0, 360); exact wherever it is a whole number."""
        return 360.0 * (element % self.n) / self.n

    @property
    def name(self) -> str:
        return f"hue{self.n}"

    def describe_part(self, part: int) -> str:
        return f"hue +{self.degrees(part):g}°"

    def moves(self, parts: Sequence[int]) -> dict[str, Any]:
        return {"degrees": [self.degrees(part) for part in parts]}


@dataclass(frozen=True)
class _Translations(Factor):
    """A window of ``n`` elements of (ℤ, +), around 0: what saturation and luminance have in common."""

    closes: ClassVar[bool] = False
    _quantity: ClassVar[str]
    n: int
    step: float = None  # type: ignore[assignment]  # set by the action
    action: Action = "exact"
    space: Space = "hsl"

    def __post_init__(self) -> None:
        self._check_order()
        color.check_action(self.action)
        color.check_space(self.space)
        step = DEFAULT_STEP[self.action] if self.step is None else self.step
        if isinstance(step, bool) or not isinstance(step, Real) or not (0 < step < math.inf):
            raise ValueError(f"{type(self).__name__} takes a positive finite step, got {step!r}")
        object.__setattr__(self, "step", float(step))

    @property
    def name(self) -> str:
        special = []
        if self.step != DEFAULT_STEP[self.action]:
            special.append(f"step={self.step!r}")
        if self.action != "exact":
            special.append(f"action={self.action}")
        if self.space != "hsl":
            special.append(f"space={self.space}")
        return f"{self.prefix}{self.n}" + (f"({','.join(special)})" if special else "")

    def describe_part(self, part: int) -> str:
        return f"{self._quantity} {self.step * part:+g}"

    def moves(self, parts: Sequence[int]) -> dict[str, Any]:
        shifts = [self.step * part for part in parts]
        return {self._quantity: shifts, f"{self._quantity}_action": self.action, "space": self.space}


@dataclass(frozen=True)
class Saturation(_Translations):
    """``n`` shifts of saturation by multiples of ``step``: a window of a translation group (the paper's S_N).

    Args:
        n: how many elements; 3 stands for {-1, 0, 1}.
        step: the shift between neighbours: of the saturation for ``clamp`` (default 0.1), of its logit for ``exact``
            (default 0.4, which takes a saturation of 0.5 to 0.6).
        action: ``"exact"``, a true group action, or ``"clamp"``, the paper's: see
            :func:`equicolor.color.shift_saturation`.
        space: ``"hsl"``, as in the paper, or ``"hsv"``, as in its authors' code.

    >>> str(Saturation(3, step=0.05, action="clamp"))
    'sat3(step=0.05,action=clamp)'
    """

    prefix: ClassVar[str] = "sat"
    axis: ClassVar[int] = 1
    _quantity: ClassVar[str] = "saturation"


@dataclass(frozen=True)
class Luminance(_Translations):
    """``n`` shifts of luminance by multiples of ``step`` (the paper's L_N). Arguments as for :class:`Saturation`.

    >>> list(Luminance(3))
    [-1, 0, 1]
    """

    prefix: ClassVar[str] = "lum"
    axis: ClassVar[int] = 2
    _quantity: ClassVar[str] = "luminance"
