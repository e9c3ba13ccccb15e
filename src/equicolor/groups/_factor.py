"""The contract of a factor: a group of moves of one quantity, cyclic or a window of a translation group."""

import math
import operator
from abc import abstractmethod
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import torch
from torch import Tensor

from equicolor.color import Shift
from equicolor.groups._family import Family
from equicolor.groups._group import MOST_ELEMENTS, Element, Group
from equicolor.groups._write import write_factor


@dataclass(frozen=True)
class Factor(Group):
    """A group of ``n`` moves of one quantity. Its elements are integers; element i moves by ``amount(i)``.

    Derive from it for a group of your own: say what is moved, and write :meth:`move`. All else (the lift, names, cards,
    data shifts, jitter, curves) follows. :func:`equicolor.register_group` makes its name known. Arguments of your own
    are fields of a frozen dataclass, and become part of the name.

    Attributes:
        prefix: its name: lower-case letters, which the number of elements follows.
        quantity, unit: what is moved, in words, and in which unit: ``"hue"``, ``"°"``.
        period: the amount that moves nothing again, for moves that close to a circle. None for a window of the
            integers around 0, i ↦ i·``step``; a window has a ``step``, as a field or an attribute of the class.
        channels: how many an image must have; None for any number.
        family: the factors that it commutes with; a factor that writes its own ``move`` and names no family has one
            for itself.
        shift_options: arguments that data shifts and curves take instead of the defaults.
        n: how many elements.
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
            raise ValueError(f"{type(self).__name__} takes at most {MOST_ELEMENTS} elements, got {self.n}")
        if self.closes:
            return
        if not hasattr(self, "step"):
            raise TypeError(f"{type(self).__name__} has no period, so it is a window, and needs a step")
        step: Any = self.step
        if isinstance(step, bool) or not isinstance(step, Real) or not 0 < float(step) < math.inf:
            raise ValueError(f"{type(self).__name__} takes a positive finite step, got {step!r}")
        if "step" in vars(self):
            object.__setattr__(self, "step", float(step))

    @abstractmethod
    def move(self, images: Tensor, amount: Shift) -> Tensor:
        """``images`` moved by ``amount``, in the factor's unit: what the factor is.

        Args:
            images: float32 or float64 in [0, 1], ``(*, C, H, W)``.
            amount: any real number, or a tensor of one for each image, ``(*, 1, 1, 1)``, ready to broadcast.

        Returns:
            Images in [0, 1] of the same shape.
        """

    def domain(self, noise: Tensor) -> Tensor:
        """Images on which the moves are a true action, made from noise in [0, 1]: what tests try it on.

        All images by default. A factor whose moves clip says here on which colours they do not.
        """
        return noise

    @property
    def closes(self) -> bool:
        """Whether the moves come back to the first after ``n`` steps, and are not a window of (ℤ, +) around 0."""
        return self.period is not None

    def amount(self, part: int) -> float:
        """How far an element moves, in the factor's unit; of a circle in [0, period), exact where it is whole."""
        if self.period is not None:
            return self.period * (part % self.n) / self.n
        return float(self.step) * part  # type: ignore[attr-defined]

    @property
    def reach(self) -> float:
        """How far to move where nothing is said: jitter draws from ±reach, and so far go the curves of a window."""
        return 3 * self.amount(1) if self.period is None else self.period / 4

    def moved(self, images: Tensor, amount: Shift) -> Tensor:
        """:meth:`move`, held to its word: images in, images of the same shape out."""
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
        """The name, with whatever is not the default in parentheses."""
        return write_factor(self)

    def reduce(self, part: int) -> int:
        """The canonical representative of an integer."""
        return part % self.n if self.closes else part

    def shift(self, features: Tensor, part: int, axis: int) -> Tensor:
        """The action on a feature's own group axis: a roll, or a shift that fills with zeros."""
        if self.closes:
            return features.roll(-part, dims=axis)
        keep = max(self.n - abs(part), 0)
        zeros = torch.zeros_like(features.narrow(axis, 0, self.n - keep))
        if part >= 0:
            return torch.cat([features.narrow(axis, self.n - keep, keep), zeros], dim=axis)
        return torch.cat([zeros, features.narrow(axis, 0, keep)], dim=axis)

    def describe_part(self, part: int) -> str:
        """What an element does, in words."""
        return f"{self.quantity} {self.amount(part):+g}{self.unit}"

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


def is_integer(value: object) -> bool:
    """Whether something counts as a whole number."""
    return hasattr(value, "__index__") and not isinstance(value, bool)
