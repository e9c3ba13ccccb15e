"""The contract of a factor: a group of moves of one quantity, cyclic or a window of a translation group."""

import math
import operator
from abc import abstractmethod
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import torch
from torch import Tensor

from equicolor._tools.words import in_unit
from equicolor.color import Shift
from equicolor.groups._family import Family
from equicolor.groups._group import MOST_ELEMENTS, Element, Group
from equicolor.groups._write import write_factor


@dataclass(frozen=True)
class Factor(Group):
    """A group of ``n`` moves of one quantity; the base class for groups of your own.

    Its elements are integers; element i moves by ``amount(i)``.

    To make a group of your own, derive from it, say what is moved, and write :meth:`move`. All else (the lift, names,
    cards, data shifts, jitter, curves) follows. :func:`equicolor.register_group` makes its name known. Arguments of
    your own are fields of a frozen dataclass, and become part of the name.

    Attributes:
        prefix: the name of the group, in lower-case letters, before the number of elements.
        quantity: what is moved, in words, ``"hue"``.
        unit: its unit, ``"°"``.
        period: for moves that close to a circle, the amount that moves nothing again. None for a window of the integers
            around 0, i ↦ i·``step``; a window has a ``step``, as a field or an attribute of the class.
        channels: how many channels an image must have; None for any number.
        family: the factors that it commutes with; a factor that writes its own ``move`` and names no family has one for
            itself.
        shift_options: arguments that data shifts and curves take instead of the defaults.
        n: how many elements.

    Example:
        >>> class Swap(Factor):
        ...     prefix, quantity, period = "swap", "channels", 3.0
        ...
        ...     def move(self, images, amount):
        ...         return images.roll(round(float(amount)), dims=-3)
        >>> Swap(3).lift(torch.rand(2, 3, 8, 8)).shape
        torch.Size([6, 3, 8, 8])
    """

    prefix: ClassVar[str]
    quantity: ClassVar[str]
    unit: ClassVar[str] = ""
    period: ClassVar[float | None] = None
    channels: ClassVar[int | None] = 3
    family: ClassVar[Family]
    shift_options: ClassVar[dict[str, Any]] = {}
    n: int

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "closes" in cls.__dict__:
            raise TypeError(f"{cls.__name__} closes where it has a period, such as 360.0: set period instead of closes")
        for method in ("act_on_images", "lift"):  # products would not ask them
            if method in cls.__dict__:
                raise TypeError(f"{cls.__name__} says what its moves do in move(images, amount), not in {method}")
        if "move" in cls.__dict__ and "family" not in cls.__dict__:
            cls.family = Family(getattr(cls, "quantity", cls.__name__))

    def __post_init__(self) -> None:
        if not is_integer(self.n) or self.n < 1:
            raise ValueError(f"{type(self).__name__} takes a positive whole number of elements, got {self.n!r}")
        object.__setattr__(self, "n", operator.index(self.n))
        if self.n > MOST_ELEMENTS:
            raise ValueError(f"{type(self).__name__} takes at most {MOST_ELEMENTS} elements, got {_written(self.n)}")
        if self.closes:
            return
        if not hasattr(self, "step"):
            raise TypeError(
                f"{type(self).__name__} has no period, so it is a window, and needs a step: give the class one, "
                "such as step = 0.5"
            )
        step: Any = self.step
        if isinstance(step, bool) or not isinstance(step, Real) or not 0 < float(step) < math.inf:
            raise ValueError(f"{type(self).__name__} takes a positive finite step, got {step!r}")
        if "step" in vars(self):
            object.__setattr__(self, "step", float(step))

    @abstractmethod
    def move(self, images: Tensor, amount: Shift) -> Tensor:
        """Moves images by any amount: what a factor of your own has to say.

        Args:
            images: float32 or float64 in [0, 1].
            amount: how far, in the factor's unit: any real number, or a tensor of one for each image, ``(*, 1, 1, 1)``,
                ready to broadcast.

        Returns:
            The moved images, in [0, 1].

        Shape:
            ``(*, C, H, W)`` to ``(*, C, H, W)``.
        """

    def level(self, images: Tensor) -> Tensor | None:
        """Measures where images stand, by a number for each that moves along exactly.

        That is, the level of images moved by a is their level plus a. None by default. A window that has such a measure
        can be canonicalised exactly, see :class:`equicolor.nn.Canonicalizer`. In a product, moves of the other factors
        must not change it.

        Args:
            images: float32 or float64 in [0, 1].

        Returns:
            A number for each image in the factor's unit, or None.

        Shape:
            ``(*, C, H, W)`` to ``(*)``.
        """
        return None

    def domain(self, noise: Tensor) -> Tensor:
        """Makes images on which the moves are a true action, for tests to try it on.

        All images by default. A factor whose moves clip says here on which colours they do not.

        Args:
            noise: random numbers in [0, 1].

        Returns:
            The images, in [0, 1].

        Shape:
            ``(*, C, H, W)`` to ``(*, C, H, W)``.
        """
        return noise

    @property
    def closes(self) -> bool:
        """Whether the moves close to a circle: after ``n`` steps the first comes again."""
        return self.period is not None

    def amount(self, part: int) -> float:
        """How far an element moves.

        Args:
            part: an element.

        Returns:
            The amount in the factor's unit; of a circle in [0, period), exact where it is whole.
        """
        if self.period is not None:
            return self.period * (part % self.n) / self.n
        return float(self.step) * part  # type: ignore[attr-defined]

    @property
    def reach(self) -> float:
        """The largest move where nothing else is said: jitter draws from ±reach, and curves of a window go so far."""
        return 3 * self.amount(1) if self.period is None else self.period / 4

    def moved(self, images: Tensor, amount: Shift) -> Tensor:
        """Calls :meth:`move`, and checks what it returns.

        Args:
            images: floats; they are clamped to [0, 1] first.
            amount: how far, as for :meth:`move`.

        Returns:
            The moved images.

        Raises:
            ValueError: ``move`` returned no tensor, or one of another shape.

        Shape:
            ``(*, C, H, W)`` to ``(*, C, H, W)``.
        """
        moved = self.move(images.clamp(0, 1), amount)
        if not isinstance(moved, Tensor) or moved.shape != images.shape:
            got = tuple(moved.shape) if isinstance(moved, Tensor) else type(moved).__name__
            raise ValueError(f"{type(self).__name__}.move was given images {tuple(images.shape)} and returned {got}")
        return moved

    @property
    def factors(self) -> tuple["Factor", ...]:
        return (self,)

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.n,)

    @property
    def offsets(self) -> tuple[int, ...]:
        """The elements as integers, in the order of the group axis."""
        return tuple(range(self.n)) if self.closes else tuple(range(-((self.n - 1) // 2), self.n // 2 + 1))

    @property
    def name(self) -> str:
        """The name of the group; arguments that are not the default stand in parentheses."""
        return write_factor(self)

    def reduce(self, part: int) -> int:
        """Brings an integer to the element that it stands for.

        Args:
            part: any integer.

        Returns:
            The element: of a circle in 0 … n-1, of a window the integer itself.
        """
        return part % self.n if self.closes else part

    def shift(self, features: Tensor, part: int, axis: int) -> Tensor:
        """Acts on the group axis of a feature: by a roll, or by a shift that fills with zeros.

        Args:
            features: a feature with an axis of ``n`` elements.
            part: the element that acts.
            axis: the group axis.

        Returns:
            The feature with its elements moved.

        Shape:
            ``(*, n, *)`` to ``(*, n, *)``.
        """
        if self.closes:
            return features.roll(-part, dims=axis)
        keep = max(self.n - abs(part), 0)
        zeros = torch.zeros_like(features.narrow(axis, 0, self.n - keep))
        if part >= 0:
            return torch.cat([features.narrow(axis, self.n - keep, keep), zeros], dim=axis)
        return torch.cat([zeros, features.narrow(axis, 0, keep)], dim=axis)

    def describe_part(self, part: int) -> str:
        """Says what an element does.

        Args:
            part: an element.

        Returns:
            A few words, ``"hue +90°"``.
        """
        return f"{self.quantity} {in_unit(f'{self.amount(part):+g}', self.unit)}"

    @property
    def elements(self) -> tuple[int, ...]:
        return self.offsets

    @property
    def identity(self) -> int:
        return 0

    def _parts(self, element: Element) -> tuple[int, ...]:
        if not is_integer(element):
            raise TypeError(f"an element of {self} is an integer, got {element!r}")
        return (operator.index(element),)  # type: ignore[arg-type]

    def _element(self, parts: tuple[int, ...]) -> int:
        return parts[0]


def _written(n: int) -> str:
    """A number in a message; Python writes none of more than some thousand digits."""
    return str(n) if abs(n) < 10**40 else "a number of more than 40 digits"


def is_integer(value: object) -> bool:
    """Whether something counts as a whole number."""
    return hasattr(value, "__index__") and not isinstance(value, bool)
