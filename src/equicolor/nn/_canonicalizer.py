"""Canonicalizer: the layer that finds the colour move an image has undergone, and undoes it.

With h equivariant, h(φ(g, x)) = g·h(x), the canonical image φ(h(x)⁻¹, x) is the same for all φ(g, x), and whatever
looks at it is invariant. What h is depends on the factor:

*Circles* (hue). A small group network gives a number for each element j of the group, s_j(x). Equivariance makes
s_j(φ(g, x)) = s_{jg}(x), so the canonical image φ(j*, x), of the j* with the largest number, does not change with g:
exactly, whatever the weights are. ``continuous`` goes on to the crest of the trigonometric polynomial through the
numbers next to j*, which moves along with any angle as far as the numbers are smooth in it.

*Windows* (light, saturation, luminance, stain) are translations, of any amount. A small network regresses the amount;
what it leaves is found by looking again, ``iterations`` times. That is equivariant as far as it is learnt.
``anchored``, there is no network, but a measure m of the image that moves along exactly, m(φ(a, x)) = a + m(x), such as
the median of its logits. h is m less its mean over the images of training, and as exact; that mean is all that is
learnt, so that canonical images have usual colours. (A network that looks at φ(-m(x), x) would be as exact. It learns
to tell each image's own colours by whatever else is in it, and brings no two images closer together.)

The networks look at no more than ``size``×``size`` pixels. These are picked, not averaged: a colour move is not linear,
so it commutes with picking and does not with averaging.
"""

import math
import operator
import re
from collections.abc import Sequence
from functools import reduce
from numbers import Real
from typing import Any, Literal, NamedTuple, TypeAlias

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from equicolor import color
from equicolor._tools.crest import crest
from equicolor._tools.leaf import leaf
from equicolor._tools.tensors import full_precision, is_recorded
from equicolor.groups import Factor, Group, registered_factors
from equicolor.groups import group as as_group
from equicolor.nn._canonical_networks import Usual, scores_of, shifts_of

#: Whether a move is one of the elements of a group, or any amount.
CanonicalMode: TypeAlias = Literal["discrete", "continuous"]
#: How sharply the numbers of a circle are asked to peak at the right element, in training.
_SHARPNESS = 4.0
#: Where nothing is said, windows are searched so many times as far as jitter goes.
_FURTHER = 1.5
#: Pixels from which on an image is moved by itself: smaller ones gain less by it than the calls cost.
_LARGE = 128 * 128


class Canonical(NamedTuple):
    """The result of a :class:`Canonicalizer`: images in their usual colours, and the moves that were undone.

    ``group.move_by(images, move)`` gives the original images back.

    Attributes:
        images: the canonical images, ``(B, C, H, W)``.
        move: what had been done to each of them, ``(B, factors)``, in the units of the factors.
    """

    images: Tensor
    move: Tensor


class Canonicalizer(nn.Module):
    """Finds the colour move of each image and undoes it.

    The result are the canonical images and the moves that were undone, in the units of the factors: hues in [0, 360),
    others within ±``reach`` where a network finds them. It has to be trained first, by
    :func:`equicolor.train.train_canonicalizer`.

    In ``discrete`` mode the result is exactly the same for every element of the group, and ``anchored`` for every
    amount of a window, however far; both also before any training. Untrained and anchored by light it is a white
    balance: the medians of the channels become as grey as the moves can make them.

    Of two equal numbers the first counts, so the answer never depends on chance. Images without colour have equal
    numbers for all hues, up to rounding, and every element leaves them as they are: it does not matter which is chosen.

    Gradients reach the weights of a circle's network, unless they are frozen, as if the largest number had been a
    softmax (straight through). Under autocast the move is found in full precision all the same: which number is the
    largest must not depend on rounding. A canonicaliser whose parameters are frozen, ``requires_grad_(False)``, stays
    in eval mode.

    Args:
        group: the moves to undo, a group of one family or its name. Windows need no number of elements:
            ``"temp-tint"``. ``"anchored:temp-tint"`` is the same with ``anchored=True``; ``"gains:temp-tint"`` too, and
            its moves are the gains of a camera, ``temp(action=clamp)-tint(action=clamp)``.
        mode: ``"discrete"``, one of the elements, for groups whose factors all close to circles; ``"continuous"``, any
            amount. By default ``"discrete"`` where that is possible.
        size: the largest height and width that the networks look at; of larger images they see evenly picked rows and
            columns.
        iterations: how often a window is looked at, each time after the move found before is undone; by default
            twice, and once where it is anchored, after which there is nothing left to find.
        reach: the farthest move that is undone, of all windows or each; by default 1.5 times what jitter takes. Where
            it is anchored, the usual level lies within it, and moves have no bound.
        width: channels of the first layer, for a conventional network; networks on groups have fewer.
        anchored: find the move of windows by a measure that moves along exactly and costs next to nothing, see
            :meth:`equicolor.groups.Factor.level`, instead of a network: there is one for moves of light, and for the
            exact ones of saturation and luminance. Gains, ``"temp(action=clamp)"``, are exact but for what they clip.

    Shape:
        ``(B, C, H, W)`` to ``(B, C, H, W)`` and ``(B, factors)``.

    Example:
        >>> turned = Canonicalizer("hue4")(torch.rand(2, 3, 48, 48))
        >>> turned.images.shape, turned.move.shape
        (torch.Size([2, 3, 48, 48]), torch.Size([2, 1]))
    """

    def __init__(
        self,
        group: Group | str,
        mode: CanonicalMode | None = None,
        *,
        size: int = 32,
        iterations: int | None = None,
        reach: float | Sequence[float] | None = None,
        width: int = 16,
        anchored: bool = False,
    ) -> None:
        super().__init__()
        self.group, named_anchored = _named(group)
        anchored = named_anchored or anchored
        circles = [factor for factor in self.group.factors if factor.closes]
        windows = [factor for factor in self.group.factors if not factor.closes]
        self.mode: CanonicalMode = mode or ("continuous" if windows else "discrete")
        _check(self.group, self.mode, circles, windows)
        _check_anchor(self.group, windows, anchored, iterations)
        iterations = (1 if anchored else 2) if iterations is None else iterations
        for name, value in (("size", size), ("iterations", iterations), ("width", width)):
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(f"{name} must be a positive whole number, got {value!r}")
        self.size, self.iterations, self.width, self.anchored = size, iterations, width, anchored
        self.reach = _reach(reach, windows)
        self.circles: Group | None = reduce(operator.mul, circles) if circles else None
        self.scores = scores_of(self.circles, width) if self.circles is not None else None
        self.shifts: nn.Module | None = None
        if windows:
            self.shifts = Usual(len(windows)) if anchored else shifts_of(self.group.channels or 3, width, len(windows))

    @property
    def config(self) -> dict[str, Any]:
        """The arguments that make the same canonicaliser again, fit for JSON."""
        own = {"size": self.size, "iterations": self.iterations, "reach": list(self.reach) or None, "width": self.width}
        return {"group": str(self.group), "mode": self.mode, **own, "anchored": self.anchored}

    def train(self, mode: bool = True) -> "Canonicalizer":
        learns = any(parameter.requires_grad for parameter in self.parameters())
        return super().train(mode and learns)

    @leaf
    def forward(self, images: Tensor) -> Canonical:
        images = color.as_images(images, self.group.channels)
        with full_precision(images.device):
            small, level = self._anchor(self._picked(images))
            turn, offset, chances = self._turn(small)
            found = self._around(turn + offset)
            shift = level + self._shift(small, found)
        move = self._joined(found, shift)
        canonical = _moved(self.group, images, -move)
        if chances is not None:  # nothing is added but a gradient
            expected = self._expected(images, self._joined(offset, shift), chances)
            canonical = canonical + (expected - expected.detach())
        return Canonical(canonical, move)

    def loss(self, moved: Tensor, amounts: Tensor) -> Tensor:
        """The loss to minimise in training: how far the moves that are found are from those that were made.

        Args:
            moved: images that were moved, ``group.move_by(images, amounts)``.
            amounts: how far each of them was moved, in the units of the factors.

        Returns:
            The mean loss, a scalar.

        Shape:
            ``(B, C, H, W)`` and ``(B, factors)`` to ``()``.
        """
        small, level = self._anchor(self._picked(color.as_images(moved, self.group.channels)))
        turn, shift = (
            amounts[:, [place for place, factor in enumerate(self.group.factors) if factor.closes == closes]]
            for closes in (True, False)
        )
        total = small.new_zeros(())
        if self.circles is not None:
            # The element that undoes a turn is where both add up to nothing, or to all of the circle.
            angles = (turn[:, None] + self._elements(turn)) * (2 * math.pi / self._periods(turn))
            wanted = (_SHARPNESS * angles.cos().sum(-1)).softmax(1)
            numbers = self._numbers(small)
            total = total + F.cross_entropy(numbers, wanted.to(numbers))
        if self.shifts is not None:
            answers = self.shifts(self.group.move_by(small, -self._joined(turn, torch.zeros_like(shift))))
            total = total + F.mse_loss(answers, ((shift - level) / shift.new_tensor(self.reach)).to(answers))
        return total

    def draw(self, uniform: Tensor) -> Tensor:
        """Turns uniform random numbers into moves to train on.

        Args:
            uniform: random numbers in [0, 1).

        Returns:
            Moves in the units of the factors: elements or angles of a circle, amounts within ``reach`` of a window.

        Shape:
            ``(B, factors)`` to ``(B, factors)``.
        """
        amounts, bounds = [], iter(self.reach)
        for factor, own in zip(self.group.factors, uniform.unbind(1), strict=True):
            if factor.period is None:
                amounts.append((2 * own - 1) * next(bounds))
            else:
                part = (own * factor.order).floor() / factor.order if self.mode == "discrete" else own
                amounts.append(factor.period * part)
        return torch.stack(amounts, 1)

    # ---------------------------------------------------------------------------------------------- the moves

    def _picked(self, images: Tensor) -> Tensor:
        """Evenly picked rows and columns, ``size`` at most, in the precision of the networks."""
        sides = [min(length, self.size) for length in images.shape[-2:]]
        if sides != list(images.shape[-2:]):
            rows, columns = (
                (2 * torch.arange(side, device=images.device) + 1) * length // (2 * side)
                for side, length in zip(sides, images.shape[-2:], strict=True)
            )
            picked = (rows[:, None] * images.shape[-1] + columns).flatten()  # at once: ONNX has no bug in that
            images = images.flatten(-2).index_select(-1, picked).reshape(*images.shape[:-2], *sides)
        return images.to(next((parameter.dtype for parameter in self.parameters()), images.dtype))

    def _numbers(self, small: Tensor) -> Tensor:
        """One for each element of the circles, ``(B, G)``."""
        assert self.scores is not None
        assert self.circles is not None
        numbers: Tensor = self.scores(small)
        return numbers.view(self.circles.order, -1).T

    def _turn(self, small: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
        """The turn of each image to the nearest element and what is missing, ``(B, circles)``; chances, to learn by."""
        if self.circles is None:
            none = color.working(small).new_zeros(small.shape[0], 0)
            return none, none, None
        numbers = self._numbers(small)
        best = numbers.argmax(1)
        elements = self._elements(color.working(numbers))
        turn = self._around(-elements).index_select(0, best)
        offset = torch.zeros_like(turn)
        if self.mode == "continuous":
            samples = numbers.detach()
            samples = samples if samples.device.type == "mps" else samples.double()  # which has no float64
            offset = -self.circles.factors[0].amount(1) * crest(samples, best, reach=0.5)[0][:, None].to(turn)
        wanted = [parameter for parameter in self.parameters() if parameter.requires_grad]
        learns = bool(wanted) and torch.is_grad_enabled() and numbers.requires_grad
        return turn, offset, numbers.softmax(1) if learns else None

    def _shift(self, small: Tensor, turn: Tensor) -> Tensor:
        """The shift of each image, ``(B, windows)``, found by looking several times."""
        shift = turn.new_zeros(small.shape[0], len(self.reach))
        if self.shifts is None:
            return shift
        bounds = shift.new_tensor(self.reach)
        for _ in range(self.iterations):
            # From the start each time: a clamped move cannot be made in parts.
            seen = self.group.move_by(small, -self._joined(turn, shift))
            shift = (shift + self.shifts(seen).to(shift) * bounds).clamp(-bounds, bounds)
        return shift

    def _anchor(self, small: Tensor) -> tuple[Tensor, Tensor]:
        """What the networks look at, and how far the windows were moved back for it, ``(B, windows)``."""
        work = color.working(small)
        level = work.new_zeros(small.shape[0], len(self.reach))
        if not self.anchored:
            return small, level
        windows = [factor for factor in self.group.factors if not factor.closes]
        measured = windows[0].family.level(windows, work)
        assert measured is not None
        level = level + measured.detach()
        turn = work.new_zeros(small.shape[0], len(self.group.factors) - len(windows))
        return self.group.move_by(small, -self._joined(turn, level)), level

    def _joined(self, turn: Tensor, shift: Tensor) -> Tensor:
        """Both in the order of the factors, ``(B, factors)``."""
        turns, shifts = iter(turn.unbind(1)), iter(shift.unbind(1))
        return torch.stack([next(turns if factor.closes else shifts) for factor in self.group.factors], 1)

    def _elements(self, like: Tensor) -> Tensor:
        """How far each element of the circles turns, ``(G, circles)``."""
        assert self.circles is not None
        return like.new_tensor([self.circles.amounts(element) for element in self.circles.elements])

    def _periods(self, like: Tensor) -> Tensor:
        return like.new_tensor([factor.period for factor in self.group.factors if factor.closes])

    def _around(self, turn: Tensor) -> Tensor:
        """A turn in [0, period), where rounding too counts as having come round."""
        periods = self._periods(turn)
        turn = torch.remainder(turn, periods)
        return torch.where(turn < periods, turn, 0.0)

    def _expected(self, images: Tensor, others: Tensor, chances: Tensor) -> Tensor:
        """The canonical image, were the element of the circles drawn by chance; ``others``: what else is undone."""
        assert self.circles is not None
        orbit = self.circles.lift(self.group.move_by(images, -others).detach())
        # Laid out as the orbit is, and not by einsum: else an exported graph has a guard on the number of images.
        weights = chances.to(orbit).T.contiguous().flatten()[:, None, None, None]
        return torch.unflatten(weights * orbit, 0, (self.circles.order, images.shape[0])).sum(0)

    def extra_repr(self) -> str:
        own = f", iterations={self.iterations}, reach={self.reach}" if self.reach else ""
        own += ", anchored" if self.anchored else ""
        return f"{self.group}, mode={self.mode!r}, size={self.size}{own}"


def _moved(group: Group, images: Tensor, amounts: Tensor) -> Tensor:
    """Each image moved by its own amounts, ``(B, factors)``; large ones one after the other, where nothing is recorded.

    What is between then stays in the caches, and takes no memory of the size of the batch.
    """
    is_large = math.prod(images.shape[-2:]) >= _LARGE and images.device.type == "cpu"
    if is_recorded(images) or is_recorded(amounts) or not is_large:
        return group.move_by(images, amounts)
    moved = torch.empty_like(images)
    for image, own, result in zip(torch.split(images, 1), amounts.tolist(), torch.split(moved, 1), strict=True):
        result.copy_(group.move_by(image, own))
    return moved


def _named(group: Group | str) -> tuple[Group, bool]:
    """A group by a name in which windows may go without a number of elements: any number is the same here.

    And whether the name says that it is anchored.
    """
    if not isinstance(group, str):
        return as_group(group), False
    how, colon, moves = group.partition(":")
    if not colon or how not in ("anchored", "gains"):
        how, moves = "", group
    if how == "gains":
        moves = "-".join(f"{move}(action=clamp)" for move in moves.split("-"))

    def numbered(match: re.Match[str]) -> str:
        kind = registered_factors().get(match[2])
        return match[0] if kind is None or kind.period is not None else f"{match[0]}3"

    return as_group(re.sub(r"(^|[-+])([a-z]+)(?=[-+(]|$)", numbered, moves)), bool(how)


def _check(group: Group, mode: str, circles: Sequence[Factor], windows: Sequence[Factor]) -> None:
    if mode not in ("discrete", "continuous"):
        raise ValueError(f"mode must be 'discrete' or 'continuous', got {mode!r}")
    if len(group.stages) > 1:
        raise ValueError(
            f"a canonicaliser takes a group of one family, whose moves commute, got {group}. Canonicalise by one "
            "family after the other: canonicalize(canonicalize(network, first), second) undoes the second move first"
        )
    if mode == "discrete" and windows:
        raise ValueError(
            f"mode='discrete' is for factors that close to a circle, such as hue, and {windows[0]} is a window of a "
            "translation group: take mode='continuous'"
        )
    if mode == "continuous" and circles and (len(circles) > 1 or circles[0].order < 3):
        raise ValueError(
            f"an angle is found between the elements of one circle of 3 or more, such as 'hue4'; got {group}"
        )


def _check_anchor(group: Group, windows: Sequence[Factor], anchored: bool, iterations: int | None) -> None:
    if not isinstance(anchored, bool):
        raise ValueError(f"anchored is True or False, got {anchored!r}")
    if not anchored:
        return
    if not windows:
        raise ValueError(f"{group} is exact as it is; anchored=True is for windows, such as 'temp-tint'")
    if iterations not in (None, 1):
        raise ValueError(f"an anchored canonicaliser looks once: what it finds is exact; got iterations={iterations!r}")
    if windows[0].family.level(windows, torch.full((1, group.channels or 3, 1, 1), 0.5)) is None:
        raise ValueError(
            f"{group} has no measure that moves along exactly, and cannot be anchored: take moves of light, or exact "
            "ones of saturation or luminance, or give a factor of your own a method level(images)"
        )


def _reach(reach: float | Sequence[float] | None, windows: Sequence[Factor]) -> tuple[float, ...]:
    if reach is None:
        return tuple(_FURTHER * factor.reach for factor in windows)
    each = [float(reach)] * len(windows) if isinstance(reach, Real) else [float(own) for own in reach]  # type: ignore[union-attr]
    if len(each) != len(windows) or not all(0 < own < math.inf for own in each):
        names = "-".join(factor.name for factor in windows) or "no windows"
        raise ValueError(f"reach takes a positive number, or one for each of {names}, got {reach!r}")
    return tuple(each)
