"""What all groups of colour moves share: elements, their composition, and their actions on images and features."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

import torch
from torch import Tensor

from equicolor import color
from equicolor._tools.tensors import is_readable

if TYPE_CHECKING:
    from equicolor.groups._factor import Factor

#: An element of a group: the i-th multiple of its step, for a product one for each factor.
Element: TypeAlias = int | tuple[int, ...]

#: The most elements of a group: features hold every one of them, so more can only be a mistake.
MOST_ELEMENTS = 1_000_000


class Group(ABC):
    """What all groups share; make one with :class:`Hue`, :class:`Temperature` and the like, or by name.

    Example:
        >>> from equicolor.groups import group
        >>> hues = group("hue4")
        >>> hues.order, hues.elements, hues.describe(1)
        (4, (0, 1, 2, 3), 'hue +90°')
    """

    @property
    @abstractmethod
    def factors(self) -> tuple["Factor", ...]:
        """The factors that this group is a product of, in the order of the group axis."""

    @property
    def stages(self) -> tuple[tuple["Factor", ...], ...]:
        """The factors that commute and act at once, stage by stage in the order in which they act."""
        return (self.factors,)

    @property
    def channels(self) -> int | None:
        """The number of channels that an image must have; None for any number."""
        known = [factor.channels for factor in self.factors if factor.channels is not None]
        return known[0] if known else None  # PyTorch 2.8 does not compile next() with a default

    @property
    def shape(self) -> tuple[int, ...]:
        """The order of each factor."""
        return tuple(factor.order for factor in self.factors)

    @property
    def order(self) -> int:
        """The number of elements."""
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
        """The product of two elements.

        Args:
            first: an element.
            second: an element.

        Returns:
            Their product; in a truncated group it may lie outside the window.
        """
        pairs = zip(self.factors, self._parts(first), self._parts(second), strict=True)
        return self._element(tuple(factor.reduce(a + b) for factor, a, b in pairs))

    def inverse(self, element: Element) -> Element:
        """The inverse of an element.

        Args:
            element: an element.

        Returns:
            The element that undoes it.
        """
        pairs = zip(self.factors, self._parts(element), strict=True)
        return self._element(tuple(factor.reduce(-a) for factor, a in pairs))

    def index(self, element: Element) -> int:
        """The place of an element on the group axis.

        Args:
            element: an element.

        Returns:
            Its index, from 0.

        Raises:
            ValueError: it lies outside a truncated group's window.
        """
        index = 0
        for factor, part in zip(self.factors, self._parts(element), strict=True):
            place = factor.reduce(part) - factor.offsets[0]
            if not 0 <= place < factor.order:
                raise ValueError(f"element {element} lies outside the window of {self}: {list(self.elements)}")
            index = index * factor.order + place
        return index

    def describe(self, element: Element) -> str:
        """Says what an element does.

        Args:
            element: an element.

        Returns:
            A few words.

        Example:
            >>> from equicolor.groups import group
            >>> group("hue4-sat3").describe((1, -1))
            'hue +90°, saturation -0.4'
        """
        return ", ".join(f.describe_part(part) for f, part in zip(self.factors, self._parts(element), strict=True))

    def amounts(self, element: Element) -> tuple[float, ...]:
        """How far an element moves each factor's quantity.

        Args:
            element: an element.

        Returns:
            One number for each factor, in its unit.

        Example:
            >>> from equicolor.groups import group
            >>> group("hue4-sat3").amounts((1, -1))
            (90.0, -0.4)
        """
        return tuple(factor.amount(part) for factor, part in zip(self.factors, self._parts(element), strict=True))

    def act_on_images(self, element: Element, images: Tensor) -> Tensor:
        """Moves the colours of images by an element: the paper's φ.

        Args:
            element: any element, inside a truncated group's window or not.
            images: images in [0, 1], or uint8 in [0, 255]; RGB, unless the group is for other channels.

        Returns:
            The moved images, floats in [0, 1].

        Shape:
            ``(*, C, H, W)`` to ``(*, C, H, W)``.

        Example:
            >>> from equicolor.groups import Hue
            >>> red = torch.tensor([1.0, 0.0, 0.0]).view(3, 1, 1)
            >>> Hue(3).act_on_images(1, red).flatten().tolist()
            [0.0, 1.0, 0.0]
        """
        amounts, images = self.amounts(element), self._checked(images)
        return self._orbit([(amount,) for amount in amounts], images).reshape(images.shape)

    def move_by(self, images: Tensor, amounts: Sequence[float] | Tensor) -> Tensor:
        """Moves images by any amounts, not only the elements' own; each image by its own, differentiably.

        The opposite amounts undo it, as far as the actions are exact and the factors of one family.

        Args:
            images: as for :meth:`act_on_images`.
            amounts: one number for each factor, in its unit, for all images ``(factors,)`` or each, ``(*, factors)``.

        Returns:
            The moved images, floats in [0, 1].

        Raises:
            ValueError: there is not one amount for each factor.

        Shape:
            ``(*, C, H, W)`` to ``(*, C, H, W)``.

        Example:
            >>> from equicolor.groups import group
            >>> images, light = torch.rand(2, 3, 8, 8), torch.tensor([[0.3, 0.0], [-0.1, 0.2]])
            >>> moved = group("temp3-tint3").move_by(images, light)
            >>> torch.allclose(group("temp3-tint3").move_by(moved, -light), images, atol=1e-6)
            True
        """
        images = self._checked(images)
        work, count, batch = color.working(images), len(self.factors), tuple(images.shape[:-3])
        each: list[color.Shift]
        if isinstance(amounts, Tensor):
            # The number of axes first: a batch of any size must not be held against a number, in an exported graph.
            if tuple(amounts.shape) != ((count,) if amounts.dim() == 1 else (*batch, count)):
                raise ValueError(
                    f"expected an amount for each factor of {self}, ({count},), or for each image too, "
                    f"{(*batch, count)}, got shape {tuple(amounts.shape)}"
                )
            # Numbers are computed with in the precision of the images.
            each = [own[..., None, None, None] for own in amounts.to(work).expand(*batch, count).unbind(-1)]
        elif len(amounts) != count:
            raise ValueError(f"expected an amount for each of {count} factors of {self}, got {len(amounts)}")
        else:
            each = [float(amount) for amount in amounts]
        for stage in self.stages:
            work = stage[0].family.move(stage, work, each[: len(stage)])
            each = each[len(stage) :]
        return work.to(images.dtype)

    def act_on_features(self, element: Element, features: Tensor) -> Tensor:
        """Moves the elements of a feature by an element: the paper's ϕ.

        Element j of the result is element j·``element`` of ``features``. This is a roll for hue; for truncated groups a
        shift that fills with zeros what comes from outside the window.

        Args:
            element: any element, inside a truncated group's window or not.
            features: a feature on the group, group-major.

        Returns:
            The moved feature.

        Shape:
            ``(G·B, *)`` to ``(G·B, *)``.

        Example:
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
        """Says which elements stay inside the window when multiplied by an element.

        Args:
            element: any element.

        Returns:
            A boolean mask ``(G,)``: whether j·``element`` is inside, for each position j of the group axis.
        """
        return self.act_on_features(element, torch.ones(self.order)) == 1

    def lift(self, images: Tensor) -> Tensor:
        """Applies every move of the group to images.

        Args:
            images: images in [0, 1], or uint8 in [0, 255]; RGB, unless the group is for other channels.

        Returns:
            The moved images, group-major: element g has rows g·B … g·B+B-1.

        Raises:
            ValueError: the images are no batch ``(B, C, H, W)``.

        Shape:
            ``(B, C, H, W)`` to ``(G·B, C, H, W)``.

        Example:
            >>> from equicolor.groups import Hue
            >>> Hue(4).lift(torch.rand(5, 3, 8, 8)).shape
            torch.Size([20, 3, 8, 8])
        """
        if isinstance(images, Tensor) and images.dim() != 4:
            raise ValueError(
                f"expected a batch of images (B, {self.channels or 'C'}, H, W), got shape {tuple(images.shape)}"
                + (". For one image: images[None]." if images.dim() == 3 else "")
            )
        images = self._checked(images)
        lifted = self._orbit([tuple(map(factor.amount, factor.offsets)) for factor in self.factors], images)
        return lifted.reshape(self.order * images.shape[0], *images.shape[1:])

    def _orbit(self, amounts: Sequence[Sequence[float]], images: Tensor) -> Tensor:
        """All combinations of the factors' given moves, an axis for each factor, then the axes of ``images``."""
        orbit, done = color.working(images), 0
        for stage in self.stages:
            own = amounts[done : done + len(stage)]
            orbit = stage[0].family.orbit(stage, orbit, own)  # its axes come first
            if done:
                orbit = orbit.movedim(tuple(range(len(stage))), tuple(range(done, done + len(stage))))
            done += len(stage)
        return orbit.to(images.dtype)

    def in_domain(self, noise: Tensor) -> Tensor:
        """Makes images on which the moves are exact, see :meth:`Factor.domain`.

        Args:
            noise: random numbers in [0, 1].

        Returns:
            The images, in [0, 1].

        Shape:
            ``(*, C, H, W)`` to ``(*, C, H, W)``.
        """
        stage = self.stages[0]
        return stage[0].family.domain(stage, noise)

    def _checked(self, images: Tensor) -> Tensor:
        """``images`` as floats in range. Values are read where that is free and possible: on the CPU."""
        images = color.as_images(images, self.channels)
        if images.device.type == "cpu" and is_readable(images):
            color.check_range(images)
        return images

    def split(self, features: Tensor) -> Tensor:
        """Gives a feature one axis for each factor; a view.

        Args:
            features: a feature on the group, group-major.

        Returns:
            The same values.

        Raises:
            ValueError: the first axis is no multiple of the group's order.

        Shape:
            ``(G·B, *)`` to ``(G₁, G₂, …, B, *)``.
        """
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
        from equicolor.groups._product import direct_product  # which is a group itself

        return direct_product(self, other)

    def then(self, other: "Group") -> "Group":
        """Makes the group whose moves are this group's, and after them those of another that does not commute.

        A product of one family is a group, and what ``*`` makes. Of several families it is not: what is done first
        matters. The layers take it all the same; :func:`equicolor.equivariance_error` says how far it is from a group.

        Args:
            other: a group of another family.

        Returns:
            The ordered product.

        Example:
            >>> from equicolor.groups import Hue, Temperature
            >>> str(Hue(4).then(Temperature(3)))
            'hue4+temp3'
        """
        from equicolor.groups._product import in_order

        return in_order(self, other)

    def __len__(self) -> int:
        return self.order

    def __iter__(self) -> Iterator[Element]:
        return iter(self.elements)

    def __contains__(self, element: object) -> bool:
        return element in self.elements

    def __str__(self) -> str:
        return "+".join("-".join(factor.name for factor in stage) for stage in self.stages)
