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

Element: TypeAlias = int | tuple[int, ...]

#: The most elements of a group: features hold every one of them, so more can only be a mistake.
MOST_ELEMENTS = 1_000_000


class Group(ABC):
    """What all groups share; make one with :class:`Hue`, :class:`Temperature` and the like, or by name."""

    @property
    @abstractmethod
    def factors(self) -> tuple["Factor", ...]:
        """The simple groups this one is a product of, in the order of the group axis."""

    @property
    def stages(self) -> tuple[tuple["Factor", ...], ...]:
        """The factors that act at once, since they commute, and these in the order in which they act."""
        return (self.factors,)

    @property
    def channels(self) -> int | None:
        """How many channels an image must have; None for any number."""
        known = [factor.channels for factor in self.factors if factor.channels is not None]
        return known[0] if known else None  # PyTorch 2.8 does not compile next() with a default

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

    def amounts(self, element: Element) -> tuple[float, ...]:
        """How far an element moves each factor's quantity, in its unit.

        >>> from equicolor.groups import group
        >>> group("hue4-sat3").amounts((1, -1))
        (90.0, -0.4)
        """
        return tuple(factor.amount(part) for factor, part in zip(self.factors, self._parts(element), strict=True))

    def act_on_images(self, element: Element, images: Tensor) -> Tensor:
        """The paper's φ: the colours of ``images`` moved by ``element``.

        Args:
            element: any element, inside a truncated group's window or not.
            images: in [0, 1], ``(*, C, H, W)``, or uint8 in [0, 255]; RGB, unless the group is for other channels.

        >>> from equicolor.groups import Hue
        >>> red = torch.tensor([1.0, 0.0, 0.0]).view(3, 1, 1)
        >>> Hue(3).act_on_images(1, red).flatten().tolist()
        [0.0, 1.0, 0.0]
        """
        amounts, images = self.amounts(element), self._checked(images)
        return self._orbit([(amount,) for amount in amounts], images).reshape(images.shape)

    def move_by(self, images: Tensor, amounts: Sequence[float] | Tensor) -> Tensor:
        """``images`` moved by any amounts, not only the elements' own: each image by its own, differentiably.

        The opposite amounts undo it, as far as the actions are exact and the factors of one family.

        Args:
            images: as for :meth:`act_on_images`.
            amounts: one number for each factor, in its unit, for all images ``(factors,)`` or each, ``(*, factors)``.

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
        """Every move of the group applied to ``images``: ``(B, C, H, W)`` to ``(G·B, C, H, W)``, group-major.

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
        """Images on which the moves are exact, from noise in [0, 1], ``(*, C, H, W)``: see :meth:`Factor.domain`."""
        stage = self.stages[0]
        return stage[0].family.domain(stage, noise)

    def _checked(self, images: Tensor) -> Tensor:
        """``images`` as floats in range. Values are read where that is free and possible: on the CPU."""
        images = color.as_images(images, self.channels)
        if images.device.type == "cpu" and is_readable(images):
            color.check_range(images)
        return images

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
        from equicolor.groups._product import direct_product  # which is a group itself

        return direct_product(self, other)

    def then(self, other: "Group") -> "Group":
        """This group's moves, and after them those of another: for groups that do not commute.

        A product of one family is a group, and what ``*`` makes. Of several families it is not: what is done first
        matters. The layers take it all the same; :func:`equicolor.equivariance_error` says how far it is from a group.

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
