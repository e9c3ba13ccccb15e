"""Colour shifts by name: how the colours of a whole data set are moved, each sample by its own reproducible draw.

A shift is one or more moves joined by commas, ``"hue:90"``, ``"temp:0.3"``, ``"hue:uniform,lum:0.1"``. A move names a
factor by its prefix (:func:`equicolor.groups.registered_factors`, a factor of your own among them), and says how far:

- ``hue:X``, a turn by X degrees; ``hue:X..Y``, a turn drawn uniformly from [X, Y); ``hue:uniform``, from the circle;
- ``sat:X`` and ``lum:X``, a shift of saturation or luminance in HSL, or ``sat:X..Y``, one drawn uniformly;
- ``temp:X``, ``tint:X``, ``exp:X``, a change of light, ``hema:X``, ``eosin:X``, ``dab:X``, of stain, and so on.

Saturation and luminance are moved by the paper's action, ``min(max(x + X, 0), 1)``, so that X is in units of what it
moves. ``sat:X:exact`` chooses the library's exact action instead, where X shifts the logit and greys stay grey. Light
is moved by the exact action, and ``temp:X:clamp`` by a gain. Other arguments of a factor stand in parentheses behind
its prefix: ``sat(space=hsv):0.1``.

Sets without colour (MNIST, the digits, small NORB) are coloured by a hue move, or another that goes around a circle: an
intensity v becomes the pure red (v, 0, 0), and that is turned. So ``hue:0..240`` on MNIST is the training set of the
paper's Hue-shift MNIST.
"""

import re
from dataclasses import dataclass

import torch
from torch import Tensor

from equicolor._tools.renamed import renamed
from equicolor.data._random import uniform
from equicolor.groups import Factor, argument_names, read_arguments, registered_factors, written_arguments

_NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?"
_MOVE = re.compile(
    rf"(?P<kind>[a-z]+)(?:\((?P<arguments>[^()]*)\))?:"
    rf"(?:(?P<all>uniform)|(?P<low>{_NUMBER})(?:\.\.(?P<high>{_NUMBER}))?)(?::(?P<action>\w+))?"
)
#: The largest amount: beyond, float32 cannot tell degrees apart.
_FURTHEST = 1e6
_COMMA = re.compile(r",(?![^()]*\))")  # not one between arguments


@dataclass(frozen=True)
class Move:
    """One move of a factor: by ``low``, or by a number drawn uniformly from [``low``, ``high``)."""

    factor: Factor
    low: float
    high: float

    @property
    def kind(self) -> str:
        """What is moved, by the prefix of its factor."""
        return self.factor.prefix

    def amounts(self, rows: Tensor, seed: int, purpose: str) -> Tensor:
        """How far each row is moved, float64."""
        if self.low == self.high:
            return torch.full((len(rows),), self.low, dtype=torch.float64)
        return self.low + (self.high - self.low) * uniform(rows, seed, f"{purpose}/{self.kind}")

    @renamed(grey="gray")
    def apply(self, images: Tensor, amounts: Tensor, gray: bool) -> Tensor:
        """The images ``(B, 3, H, W)``, RGB in [0, 1], each moved by its own amount."""
        each = amounts.to(images)[:, None, None, None]
        if gray and self.factor.closes:
            red = images.new_tensor([1.0, 0.0, 0.0]).view(1, 3, 1, 1).expand(len(images), -1, -1, -1)
            return images[:, :1] * self.factor.move(red, each)
        return self.factor.move(images, self.low if self.low == self.high else each)  # one for all is the faster case

    def __str__(self) -> str:
        value = f"{self.low:g}" if self.low == self.high else f"{self.low:g}..{self.high:g}"
        own = dict(written_arguments(self.factor))
        own.pop("action", None)
        arguments = ",".join(f"{name}={text}" for name, text in own.items())
        action, usual = getattr(self.factor, "action", None), self.factor.shift_options.get("action", "exact")
        suffix = f":{action}" if action not in (None, usual) else ""
        return f"{self.kind}{f'({arguments})' if arguments else ''}:{value}{suffix}"


@dataclass(frozen=True)
class Shift:
    """A colour shift: moves applied one after another.

    ``str`` gives a name that :meth:`parse` reads back.

    Args:
        moves: the moves.

    Example:
        >>> str(Shift.parse("hue:uniform,sat:-0.20"))
        'hue:0..360,sat:-0.2'
    """

    moves: tuple[Move, ...]

    @classmethod
    def parse(cls, shift: "str | Shift") -> "Shift":
        """Makes a shift from its name.

        Args:
            shift: the name, such as ``"hue:90"``; a shift is returned as it is.

        Returns:
            The shift.

        Raises:
            TypeError: it is neither.
            ValueError: there is no shift of this name.
        """
        if isinstance(shift, Shift):
            return shift
        if not isinstance(shift, str):
            raise TypeError(f"expected a shift such as 'hue:90', got {shift!r}")
        return cls(tuple(_move(part.strip(), shift) for part in _COMMA.split(shift)))

    def amounts(self, rows: Tensor, seed: int, purpose: str = "shift") -> list[Tensor]:
        """How far each row is moved by each move: a function of seed, purpose and row number alone.

        Args:
            rows: the numbers of the rows, ``(B,)``.
            seed: what the draws depend on.
            purpose: what is drawn for; draws for different purposes have nothing in common.

        Returns:
            For each move, its amounts, ``(B,)`` float64.
        """
        return [move.amounts(rows, seed, purpose) for move in self.moves]

    @renamed(grey="gray")
    def apply(self, images: Tensor, rows: Tensor, seed: int, purpose: str = "shift", gray: bool = False) -> Tensor:
        """Moves images.

        Args:
            images: RGB in [0, 1], ``(B, 3, H, W)``.
            rows: the rows of their data set that they are, ``(B,)``.
            seed: what the draws depend on.
            purpose: what is drawn for, as for :meth:`amounts`.
            gray: whether the images have no colour of their own; a turn of hue then colours them.

        Returns:
            The moved images, ``(B, 3, H, W)``.
        """
        for move, amounts in zip(self.moves, self.amounts(rows, seed, purpose), strict=True):
            images = move.apply(images, amounts, gray)
            gray = gray and not move.factor.closes
        return images

    def __str__(self) -> str:
        return ",".join(map(str, self.moves))


def hue_coverage(degrees: float) -> tuple[str, str]:
    """The shifts of the hue coverage protocol: for training on an arc of hues, and for testing on the rest.

    An arc of the whole circle leaves no rest: testing is then on the circle too.

    Args:
        degrees: the length of the arc.

    Returns:
        The names of both shifts.

    Raises:
        ValueError: the arc is not more than 0° and at most 360°.

    Example:
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
    kind = registered_factors().get(match["kind"]) if match else None
    if not match or not kind:
        raise _unknown(whole)
    arguments = {**kind.shift_options, **read_arguments(kind, match["arguments"] or "", whole)}
    if match["action"]:
        if "action" not in argument_names(kind):
            raise _unknown(whole, f"{kind.prefix} has no actions to choose from")
        arguments["action"] = match["action"]
    try:
        factor = kind(1, **arguments)
    except TypeError as error:
        raise _unknown(whole, str(error)) from None
    if factor.channels not in (None, 3):
        raise _unknown(whole, f"{kind.prefix} is for {factor.channels} channels, and the images of data sets are RGB")
    if match["all"]:
        if factor.period is None:
            raise _unknown(whole, f"{kind.prefix} does not go around a circle, so it cannot be drawn from all of it")
        return Move(factor, 0.0, factor.period)
    low, high = float(match["low"]), float(match["high"] or match["low"])
    if max(abs(low), abs(high)) > _FURTHEST:
        raise ValueError(f"the amount in shift {whole!r} is too large: expected {_FURTHEST:g} at the most")
    if high < low or (match["high"] and high == low):
        raise ValueError(f"the range in shift {whole!r} is empty: expected LOW..HIGH with LOW < HIGH")
    return Move(factor, low, high)


def _unknown(whole: str, why: str = "") -> ValueError:
    return ValueError(
        f"unknown shift {whole!r}{f' ({why})' if why else ''}. A shift is 'hue:90' (degrees), 'hue:uniform', "
        "'hue:0..240', 'sat:-0.2', 'temp:0.3' or several joined by commas, of what is registered "
        f"({', '.join(registered_factors())}); some take an action: 'sat:0.2:exact'."
    )
