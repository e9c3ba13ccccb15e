"""Which colour moves there are: finite groups of them, their products and names, and their actions.

A group here is a small immutable value, ``Hue(4)`` or ``Hue(4) * Saturation(3)``, whose ``str`` is its name and reads
back through :func:`group`. Its elements are integers, or tuples of them for a product: ``i`` stands for the i-th
multiple of the group's step. It acts on images by moving their colours (the paper's φ) and on features, whose batch
axis holds the group's elements one after the other, by moving those (the paper's ϕ).
"""

import math
import operator
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product
from numbers import Real
from typing import Any, ClassVar, TypeAlias

import torch
from torch import Tensor

from equicolor import color
from equicolor._tools.tensors import is_readable
from equicolor.color import Action, Space

Element: TypeAlias = int | tuple[int, ...]

#: The default step of each action: 0.1 as in the paper; in logits, what moves a half-saturated colour about as far.
DEFAULT_STEP: dict[str, float] = {"clamp": 0.1, "exact": 0.4}


class Group(ABC):
    """What all groups share; make one with :class:`Hue`, :class:`Saturation`, :class:`Luminance`, or by name."""

    @property
    @abstractmethod
    def factors(self) -> tuple["Factor", ...]:
        """The simple groups this one is a product of, in the order of the group axis."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The order of each factor: how the group axis of a feature splits."""
        return tuple(factor.order for factor in self.factors)

    @property
    def order(self) -> int:
        """How many elements a feature on the group holds."""
        return math.prod(self.shape)

    @property
    @abstractmethod
    def elements(self) -> tuple[Element, ...]:
        """The elements in the order of the group axis."""

    @property
    @abstractmethod
    def identity(self) -> Element:
        """The element that moves nothing."""

    @property
    def is_truncated(self) -> bool:
        """Whether this is a window of an infinite group, so that features shifted beyond it are lost."""
        return any(isinstance(factor, _Translations) for factor in self.factors)

    @abstractmethod
    def _parts(self, element: Element) -> tuple[int, ...]:
        """``element`` as one integer for each factor; TypeError or ValueError where it is none."""

    @abstractmethod
    def _element(self, parts: tuple[int, ...]) -> Element: ...

    def compose(self, first: Element, second: Element) -> Element:
        """The product of two elements; in a truncated group it may lie outside the window."""
        pairs = zip(self.factors, self._parts(first), self._parts(second), strict=True)
        return self._element(tuple(factor._reduce(a + b) for factor, a, b in pairs))

    def inverse(self, element: Element) -> Element:
        """The element that undoes ``element``."""
        pairs = zip(self.factors, self._parts(element), strict=True)
        return self._element(tuple(factor._reduce(-a) for factor, a in pairs))

    def index(self, element: Element) -> int:
        """Where ``element`` stands on the group axis; ValueError where it lies outside a truncated group's window."""
        index = 0
        for factor, part in zip(self.factors, self._parts(element), strict=True):
            place = factor._reduce(part) - factor.offsets[0]
            if not 0 <= place < factor.order:
                raise ValueError(f"element {element} lies outside the window of {self}: {list(self.elements)}")
            index = index * factor.order + place
        return index

    def describe(self, element: Element) -> str:
        """What an element does, in words.

        >>> group("hue4-sat3").describe((1, -1))
        'hue +90°, saturation -0.4'
        """
        return ", ".join(f._describe(part) for f, part in zip(self.factors, self._parts(element), strict=True))

    def act_on_images(self, element: Element, images: Tensor) -> Tensor:
        """The paper's φ: the colours of ``images`` moved by ``element``.

        Args:
            element: any element, inside a truncated group's window or not.
            images: RGB in [0, 1], ``(*, 3, H, W)``, or uint8 in [0, 255].

        >>> red = torch.tensor([1.0, 0.0, 0.0]).view(3, 1, 1)
        >>> Hue(3).act_on_images(1, red).flatten().tolist()
        [0.0, 1.0, 0.0]
        """
        images = _checked(images)
        return self._orbit([(part,) for part in self._parts(element)], images).reshape(images.shape)

    def act_on_features(self, element: Element, features: Tensor) -> Tensor:
        """The paper's ϕ: element j of the result is element j·``element`` of ``features``, ``(G·B, *)``.

        A roll for hue; for truncated groups a shift that fills with zeros what comes from outside the window.

        >>> Hue(3).act_on_features(1, torch.tensor([0, 1, 2])).tolist()
        [1, 2, 0]
        >>> Saturation(3).act_on_features(1, torch.tensor([1, 2, 3])).tolist()
        [2, 3, 0]
        """
        moved = self.split(features)
        for axis, (factor, part) in enumerate(zip(self.factors, self._parts(element), strict=True)):
            moved = factor._shift(moved, part, axis)
        return moved.reshape(features.shape)

    def overlap(self, element: Element) -> Tensor:
        """Which positions j of the group axis have j·``element`` inside the window too: a boolean mask ``(G,)``."""
        return self.act_on_features(element, torch.ones(self.order)) == 1

    def lift(self, images: Tensor) -> Tensor:
        """Every move of the group applied to ``images``: ``(B, 3, H, W)`` to ``(G·B, 3, H, W)``, group-major.

        >>> Hue(4).lift(torch.rand(5, 3, 8, 8)).shape
        torch.Size([20, 3, 8, 8])
        """
        if isinstance(images, Tensor) and images.dim() != 4:
            raise ValueError(
                f"expected a batch of RGB images (B, 3, H, W), got shape {tuple(images.shape)}"
                + (". For one image: images[None]." if images.dim() == 3 else "")
            )
        images = _checked(images)
        lifted = self._orbit([factor.offsets for factor in self.factors], images)
        return lifted.reshape(self.order * images.shape[0], *images.shape[1:])

    def _orbit(self, parts: Sequence[Sequence[int]], images: Tensor) -> Tensor:
        """All combinations of the factors' given moves, an axis for each factor, then the axes of ``images``."""
        moves: dict[str, Any] = {}
        for factor, own in zip(self.factors, parts, strict=True):
            moves |= factor._moves(own)
        orbit = color.orbit(images, **moves)
        present = [factor.axis for factor in self.factors]
        return orbit.permute(*present, *(axis for axis in range(orbit.dim()) if axis not in present))

    def split(self, features: Tensor) -> Tensor:
        """A feature ``(G·B, *)`` with one axis for each factor: ``(G₁, G₂, …, B, *)``, a view."""
        if features.dim() == 0 or features.shape[0] % self.order:
            raise ValueError(
                f"expected a feature on {self}, stacked along the batch axis as (G·B, …) with G = {self.order}, got "
                f"shape {tuple(features.shape)}, whose first axis is not a multiple of {self.order}. "
                "Lift images first, with Lift or group.lift."
            )
        return torch.unflatten(features, 0, (*self.shape, features.shape[0] // self.order))

    def __mul__(self, other: object) -> "Group":
        return Product(self.factors + other.factors) if isinstance(other, Group) else NotImplemented

    def __len__(self) -> int:
        return self.order

    def __iter__(self) -> Iterator[Element]:
        return iter(self.elements)

    def __contains__(self, element: object) -> bool:
        return element in self.elements

    def __str__(self) -> str:
        return "-".join(factor.name for factor in self.factors)


class Factor(Group):
    """A group of moves of one quantity. Its elements are integers."""

    prefix: ClassVar[str]
    axis: ClassVar[int]  # of this quantity in the result of color.orbit
    n: int

    @property
    def factors(self) -> tuple["Factor", ...]:
        return (self,)

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.n,)

    @property
    @abstractmethod
    def offsets(self) -> tuple[int, ...]:
        """The elements as integers, in the order of the group axis."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The name, with whatever is not the default in parentheses."""

    @abstractmethod
    def _reduce(self, part: int) -> int:
        """The canonical representative of an integer."""

    @abstractmethod
    def _shift(self, features: Tensor, part: int, axis: int) -> Tensor:
        """The action on a feature's own group axis."""

    @abstractmethod
    def _describe(self, part: int) -> str: ...

    @abstractmethod
    def _moves(self, parts: Sequence[int]) -> dict[str, Any]:
        """What :func:`equicolor.color.orbit` is to be told, for these elements."""

    @property
    def elements(self) -> tuple[int, ...]:
        return self.offsets

    @property
    def identity(self) -> int:
        return 0

    def _parts(self, element: Element) -> tuple[int, ...]:
        if not _is_integer(element):
            raise TypeError(f"an element of {self} is an integer, got {element!r}")
        return (operator.index(element),)  # type: ignore[arg-type]

    def _element(self, parts: tuple[int, ...]) -> int:
        return parts[0]

    def _check_order(self) -> None:
        if not _is_integer(self.n) or self.n < 1:
            raise ValueError(f"{type(self).__name__} takes a positive whole number of elements, got {self.n!r}")
        object.__setattr__(self, "n", operator.index(self.n))


@dataclass(frozen=True)
class Hue(Factor):
    """The cyclic group of ``n`` hue shifts by multiples of 360°/n (the paper's H_N).

    >>> [element * Hue(4).step for element in Hue(4)]
    [0.0, 90.0, 180.0, 270.0]
    """

    prefix: ClassVar[str] = "hue"
    axis: ClassVar[int] = 0
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
    def offsets(self) -> tuple[int, ...]:
        return tuple(range(self.n))

    @property
    def name(self) -> str:
        return f"hue{self.n}"

    def _reduce(self, part: int) -> int:
        return part % self.n

    def _shift(self, features: Tensor, part: int, axis: int) -> Tensor:
        return features.roll(-part, dims=axis)

    def _describe(self, part: int) -> str:
        return f"hue +{self.degrees(part):g}°"

    def _moves(self, parts: Sequence[int]) -> dict[str, Any]:
        return {"degrees": [self.degrees(part) for part in parts]}


@dataclass(frozen=True)
class _Translations(Factor):
    """A window of ``n`` elements of (ℤ, +), around 0: what saturation and luminance have in common."""

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
    def offsets(self) -> tuple[int, ...]:
        return tuple(range(-((self.n - 1) // 2), self.n // 2 + 1))

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

    def _reduce(self, part: int) -> int:
        return part

    def _shift(self, features: Tensor, part: int, axis: int) -> Tensor:
        keep = max(self.n - abs(part), 0)
        zeros = torch.zeros_like(features.narrow(axis, 0, self.n - keep))
        if part >= 0:
            return torch.cat([features.narrow(axis, self.n - keep, keep), zeros], dim=axis)
        return torch.cat([zeros, features.narrow(axis, 0, keep)], dim=axis)

    def _describe(self, part: int) -> str:
        return f"{self._quantity} {self.step * part:+g}"

    def _moves(self, parts: Sequence[int]) -> dict[str, Any]:
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


@dataclass(frozen=True, repr=False)
class Product(Group):
    """A direct product; the first factor varies slowest along the group axis. Its elements are tuples of integers.

    >>> (Hue(4) * Saturation(3)).order
    12
    """

    _factors: tuple[Factor, ...]

    def __post_init__(self) -> None:
        prefixes = [factor.prefix for factor in self._factors]
        if len(set(prefixes)) < len(prefixes):
            raise ValueError(f"a product takes each of hue, saturation and luminance at most once, got {self}")
        if len({factor.space for factor in self._factors if isinstance(factor, _Translations)}) > 1:
            raise ValueError(f"the factors of a product must share one colour space, got {self}")

    @property
    def factors(self) -> tuple[Factor, ...]:
        return self._factors

    @property
    def elements(self) -> tuple[tuple[int, ...], ...]:
        return tuple(product(*(factor.offsets for factor in self._factors)))

    @property
    def identity(self) -> tuple[int, ...]:
        return (0,) * len(self._factors)

    def _parts(self, element: Element) -> tuple[int, ...]:
        if not isinstance(element, tuple) or len(element) != len(self._factors) or not all(map(_is_integer, element)):
            raise TypeError(f"an element of {self} is a tuple of {len(self._factors)} integers, got {element!r}")
        return tuple(map(operator.index, element))

    def _element(self, parts: tuple[int, ...]) -> tuple[int, ...]:
        return parts

    def __repr__(self) -> str:
        return " * ".join(map(repr, self._factors))


_FACTORS: dict[str, type[Factor]] = {factor.prefix: factor for factor in (Hue, Saturation, Luminance)}
_FACTOR_NAME = re.compile(r"(?P<prefix>[a-z]+)(?P<n>\d+)(?:\((?P<arguments>[^()]*)\))?")


def group(name: str | Group) -> Group:
    """The group of this name: ``"hue4"``, ``"sat3"``, ``"hue4-sat3"``, ``"hue3-sat3(step=0.05,action=clamp)-lum3"``.

    ``str`` of a group gives such a name back. A group is returned as it is.

    >>> group("hue4-sat3") == Hue(4) * Saturation(3)
    True
    """
    if isinstance(name, Group):
        return name
    if not isinstance(name, str):
        raise TypeError(f"expected a group or its name, such as 'hue4', got {name!r}")
    factors, position = list[Group](), 0
    while True:
        match = _FACTOR_NAME.match(name, position)
        if not match or match["prefix"] not in _FACTORS:
            raise _unknown(name)
        factors.append(_factor(match, name))
        position = match.end()
        if position == len(name):
            return reduce(lambda left, right: left * right, factors)
        if name[position] != "-":
            raise _unknown(name)
        position += 1


def _factor(match: re.Match[str], name: str) -> Factor:
    arguments: dict[str, object] = {}
    for argument in filter(None, (match["arguments"] or "").split(",")):
        key, _, value = argument.partition("=")
        if match["prefix"] == "hue" or key not in ("step", "action", "space"):
            raise _unknown(name)
        try:
            arguments[key] = float(value) if key == "step" else value
        except ValueError:
            raise ValueError(f"the step in group name {name!r} is no number: {value!r}") from None
    return _FACTORS[match["prefix"]](int(match["n"]), **arguments)  # type: ignore[call-arg]


def _unknown(name: str) -> ValueError:
    return ValueError(
        f"unknown group {name!r}. A name is one or more of hueN, satN and lumN joined by '-', with N elements each, "
        "such as 'hue4', 'sat3', 'lum3', 'hue4-sat3'; sat and lum take arguments: "
        "'sat3(step=0.05,action=clamp,space=hsv)'."
    )


def _is_integer(value: object) -> bool:
    return hasattr(value, "__index__") and not isinstance(value, bool)


def _checked(images: Tensor) -> Tensor:
    """``images`` as floats in range. Values are read where that is free and possible: on the CPU."""
    images = color.as_images(images)
    if images.device.type == "cpu" and is_readable(images):
        color.check_range(images)
    return images
