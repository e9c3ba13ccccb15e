"""Colour shifts by name: how the colours of a whole data set are moved, each sample by its own reproducible draw.

A shift is one or more moves joined by commas, ``"hue:90"``, ``"sat:-0.2"``, ``"hue:uniform,lum:0.1"``. A move is

- ``hue:X``, a turn by X degrees; ``hue:X..Y``, a turn drawn uniformly from [X, Y); ``hue:uniform``, from the circle;
- ``sat:X`` and ``lum:X``, a shift of saturation or luminance in HSL, or ``sat:X..Y``, one drawn uniformly.

Saturation and luminance are moved by the paper's action, ``min(max(x + X, 0), 1)``, so that X is in units of what it
moves. ``sat:X:exact`` chooses the library's exact action instead, where X shifts the logit and greys stay grey.

Sets without colour (MNIST, the digits, small NORB) are coloured by a hue move: an intensity v becomes the pure red
(v, 0, 0), and that is turned. So ``hue:0..240`` on MNIST is the training set of the paper's Hue-shift MNIST.
"""

import re
from dataclasses import dataclass

import torch
from torch import Tensor

from equicolor import color
from equicolor.data._random import uniform

_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?"
_MOVE = re.compile(
    rf"(?P<kind>hue|sat|lum):(?:(?P<all>uniform)|(?P<low>{_NUMBER})(?:\.\.(?P<high>{_NUMBER}))?)(?::(?P<action>\w+))?"
)


@dataclass(frozen=True)
class Move:
    """One move: by ``low``, or by a number drawn uniformly from [``low``, ``high``)."""

    kind: str
    low: float
    high: float
    action: color.Action = "clamp"

    def amounts(self, rows: Tensor, seed: int, purpose: str) -> Tensor:
        """How far each row is moved, float64."""
        if self.low == self.high:
            return torch.full((len(rows),), self.low, dtype=torch.float64)
        return self.low + (self.high - self.low) * uniform(rows, seed, f"{purpose}/{self.kind}")

    def apply(self, images: Tensor, amounts: Tensor, grey: bool) -> Tensor:
        """The images ``(B, 3, H, W)``, RGB in [0, 1], each moved by its own amount."""
        if self.kind == "hue" and grey:
            red = images.new_tensor([1.0, 0.0, 0.0]).view(1, 3, 1, 1).expand(len(images), -1, -1, -1)
            return images[:, :1] * color.shift_hue(red, amounts.to(images))
        if self.kind == "hue":
            return color.shift_hue(images, self._shared(amounts))
        shifted = color.shift_saturation if self.kind == "sat" else color.shift_luminance
        return shifted(images, self._shared(amounts), action=self.action)

    def _shared(self, amounts: Tensor) -> float | Tensor:
        return self.low if self.low == self.high else amounts  # one shift for all is the faster case

    def __str__(self) -> str:
        value = f"{self.low:g}" if self.low == self.high else f"{self.low:g}..{self.high:g}"
        return f"{self.kind}:{value}" + (":exact" if self.action == "exact" else "")


@dataclass(frozen=True)
class Shift:
    """Moves applied one after another. ``str`` gives a name that :meth:`parse` reads back.

    >>> str(Shift.parse("hue:uniform,sat:-0.20"))
    'hue:0..360,sat:-0.2'
    """

    moves: tuple[Move, ...]

    @classmethod
    def parse(cls, shift: "str | Shift") -> "Shift":
        """The shift of this name; a shift is returned as it is."""
        if isinstance(shift, Shift):
            return shift
        if not isinstance(shift, str):
            raise TypeError(f"expected a shift such as 'hue:90', got {shift!r}")
        return cls(tuple(_move(part.strip(), shift) for part in shift.split(",")))

    def amounts(self, rows: Tensor, seed: int, purpose: str = "shift") -> list[Tensor]:
        """How far each row is moved by each move: a function of seed, purpose and row number alone."""
        return [move.amounts(rows, seed, purpose) for move in self.moves]

    def apply(self, images: Tensor, rows: Tensor, seed: int, purpose: str = "shift", grey: bool = False) -> Tensor:
        """``images`` ``(B, 3, H, W)``, RGB in [0, 1], which are the rows ``rows`` ``(B,)`` of their data set, moved."""
        for move, amounts in zip(self.moves, self.amounts(rows, seed, purpose), strict=True):
            images = move.apply(images, amounts, grey)
            grey = grey and move.kind != "hue"
        return images

    def __str__(self) -> str:
        return ",".join(map(str, self.moves))


def hue_coverage(degrees: float) -> tuple[str, str]:
    """The hue coverage protocol: shifts for training, on an arc of this many degrees, and for testing, on the rest.

    An arc of the whole circle leaves no rest: testing is then on the circle too.

    >>> hue_coverage(60)
    ('hue:0..60', 'hue:60..360')
    """
    if not 0 < degrees <= 360:
        raise ValueError(f"an arc covers more than 0 and at most 360 degrees, got {degrees!r}")
    if degrees == 360:
        return "hue:0..360", "hue:0..360"
    return f"hue:0..{degrees:g}", f"hue:{degrees:g}..360"


def _move(text: str, whole: str) -> Move:
    match = _MOVE.fullmatch(text)
    if not match or (match["all"] and match["kind"] != "hue") or (match["action"] and match["kind"] == "hue"):
        raise ValueError(
            f"unknown shift {whole!r}. A shift is 'hue:90' (degrees), 'hue:uniform', 'hue:0..240', 'sat:-0.2' or "
            "'lum:0.1', or several joined by commas; sat and lum take an action: 'sat:0.2:exact'."
        )
    action = match["action"] or "clamp"
    color.check_action(action)
    low, high = (0.0, 360.0) if match["all"] else (float(match["low"]), float(match["high"] or match["low"]))
    if high < low or (match["high"] and high == low):
        raise ValueError(f"the range in shift {whole!r} is empty: expected LOW..HIGH with LOW < HIGH")
    return Move(match["kind"], low, high, action)  # type: ignore[arg-type]
