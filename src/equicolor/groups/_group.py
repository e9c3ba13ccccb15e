"""What all groups of colour moves share: elements, their composition, and their actions on images and features."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import torch
from torch import Tensor

from equicolor import color
from equicolor._tools.tensors import is_readable

if TYPE_CHECKING:
    from equicolor.groups._factor import Factor

Element: TypeAlias = int | tuple[int, ...]


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
        return not all(factor.closes for factor in self.factors)

    @abstractmethod
    def _parts(self, element: Element) -> tuple[int, ...]:
        """``element`` as one integer for each factor; TypeError or ValueError where it is none."""

    @abstractmethod
    def _element(self, parts: tuple[int, ...]) -> Element: ...

    def compose(self, first: Element, second: Element) -> Element:
        """The product of two elements; in a truncated group it may lie outside the window."""
        pairs = zip(self.factors, self._parts(first), self._parts(second), strict=True)
        return self._element(tuple(factor.reduce(a + b) for factor, a, b in pairs))

    def inverse(self, element: Element) -> Element:
        """The element that undoes ``element``."""
        pairs = zip(self.factors, self._parts(element), strict=True)
        return self._element(tuple(factor.reduce(-a) for factor, a in pairs))

    def index(self, element: Element) -> int:
        """Where ``element`` stands on the group axis; ValueError where it lies outside a truncated group's window."""
        index = 0
        for factor, part in zip(self.factors, self._parts(element), strict=True):
            place = factor.reduce(part) - factor.offsets[0]
            if not 0 <= place < factor.order:
                raise ValueError(f"element {element} lies outside the window of {self}: {list(self.elements)}")
            index = index * factor.order + place
        return index

    def describe(self, element: Element) -> str:
        """What an element does, in words.

        >>> from equicolor.groups import group
        >>> group("hue4-sat3").describe((1, -1))
        'hue +90°, saturation -0.4'
        """
        return ", ".join(f.describe_part(part) for f, part in zip(self.factors, self._parts(element), strict=True))

    def act_on_images(self, element: Element, images: Tensor) -> Tensor:
        """The paper's φ: the colours of ``images`` moved by ``element``.

        Args:
            element: any element, inside a truncated group's window or not.
            images: RGB in [0, 1], ``(*, 3, H, W)``, or uint8 in [0, 255].

        >>> from equicolor.groups import Hue
        >>> red = torch.tensor([1.0, 0.0, 0.0]).view(3, 1, 1)
        >>> Hue(3).act_on_images(1, red).flatten().tolist()
        [0.0, 1.0, 0.0]
        """
        images = _checked(images)
        return self._orbit([(part,) for part in self._parts(element)], images).reshape(images.shape)

    def act_on_features(self, element: Element, features: Tensor) -> Tensor:
        """The paper's ϕ: element j of the result is element j·``element`` of ``features``, ``(G·B, *)``.

        A roll for hue; for truncated groups a shift that fills with zeros what comes from outside the window.

        >>> from equicolor.groups import Hue, Saturation
        >>> Hue(3).act_on_features(1, torch.tensor([0, 1, 2])).tolist()
        [1, 2, 0]
        >>> Saturation(3).act_on_features(1, torch.tensor([1, 2, 3])).tolist()
        [2, 3, 0]
        """
        moved = self.split(features)
        for axis, (factor, part) in enumerate(zip(self.factors, self._parts(element), strict=True)):
            moved = factor.shift(moved, part, axis)
        return moved.reshape(features.shape)

    def overlap(self, element: Element) -> Tensor:
        """Which positions j of the group axis have j·``element`` inside the window too: a boolean mask ``(G,)``."""
        return self.act_on_features(element, torch.ones(self.order)) == 1

    def lift(self, images: Tensor) -> Tensor:
        """Every move of the group applied to ``images``: ``(B, 3, H, W)`` to ``(G·B, 3, H, W)``, group-major.

        >>> from equicolor.groups import Hue
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
            moves |= factor.moves(own)
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
        if not isinstance(other, Group):
            return NotImplemented
        from equicolor.groups._product import Product  # which is a group itself

        return Product(self.factors + other.factors)

    def __len__(self) -> int:
        return self.order

    def __iter__(self) -> Iterator[Element]:
        return iter(self.elements)

    def __contains__(self, element: object) -> bool:
        return element in self.elements

    def __str__(self) -> str:
        return "-".join(factor.name for factor in self.factors)


def _checked(images: Tensor) -> Tensor:
    """``images`` as floats in range. Values are read where that is free and possible: on the CPU."""
    images = color.as_images(images)
    if images.device.type == "cpu" and is_readable(images):
        color.check_range(images)
    return images
