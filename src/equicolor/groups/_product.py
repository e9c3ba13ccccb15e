"""Products of factors: of one family, or of several in a given order."""

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, product

from equicolor.groups._factor import Factor, is_integer
from equicolor.groups._group import MOST_ELEMENTS, Element, Group

Stages = tuple[tuple[Factor, ...], ...]


@dataclass(frozen=True, repr=False)
class Product(Group):
    """A product of factors, whose elements are tuples of integers.

    The first factor varies slowest along the group axis. Factors of one family commute, and their product is a direct
    product. Factors of several families do not: they act in *stages*, one after the other. That is no action of a
    group, since turning a hue and then changing the light is not the same as the other way round;
    :func:`equicolor.equivariance_error` says how far it is from one.

    Example:
        >>> from equicolor.groups import Hue, Saturation, Temperature
        >>> (Hue(4) * Saturation(3)).order
        12
        >>> Hue(4).then(Temperature(3)).stages
        ((Hue(n=4),), (Temperature(n=3, step=0.75, action='exact'),))
    """

    _stages: Stages

    def __post_init__(self) -> None:
        for stage in self._stages:
            stage[0].family.check(stage)
        for earlier, later in product(self._stages, repeat=2):
            kinds = {factor.prefix for factor in earlier} & {factor.prefix for factor in later}
            if earlier is not later and kinds:
                raise ValueError(f"a product takes factors of one kind at most once, got {self}")
        needed = {factor.channels for factor in self.factors} - {None}
        if len(needed) > 1:
            raise ValueError(f"the factors of a product must be for the same number of channels, got {self}")
        if self.order > MOST_ELEMENTS:
            raise ValueError(f"a group takes at most {MOST_ELEMENTS} elements, got {self.order} in {self}")

    @property
    def stages(self) -> Stages:
        return self._stages

    @property
    def factors(self) -> tuple[Factor, ...]:
        return tuple(factor for stage in self._stages for factor in stage)

    @property
    def elements(self) -> tuple[tuple[int, ...], ...]:
        return tuple(product(*(factor.offsets for factor in self.factors)))

    @property
    def identity(self) -> tuple[int, ...]:
        return (0,) * len(self.factors)

    def _parts(self, element: Element) -> tuple[int, ...]:
        count = len(self.factors)
        if not isinstance(element, tuple) or len(element) != count or not all(map(is_integer, element)):
            raise TypeError(f"an element of {self} is a tuple of {count} integers, got {element!r}")
        return tuple(map(operator.index, element))

    def _element(self, parts: tuple[int, ...]) -> tuple[int, ...]:
        return parts

    def __repr__(self) -> str:
        first, *others = (" * ".join(map(repr, stage)) for stage in self._stages)
        first = f"({first})" if others and len(self._stages[0]) > 1 else first
        return first + "".join(f".then({other})" for other in others)


def direct_product(*groups: Group) -> Product:
    """The product of groups of one family; ValueError, with the reason and what to do, where they are of several."""
    stages = [stage for group in groups for stage in group.stages]
    for one, other in pairwise(stages):
        if one[0].family is not other[0].family:
            raise ValueError(
                f"{' * '.join(map(str, groups))} is no group: moves of {one[0].quantity} ({one[0].family.name}) and of "
                f"{other[0].quantity} ({other[0].family.name}) do not commute. Say which act first, with .then or '+': "
                f"{'+'.join('-'.join(factor.name for factor in stage) for stage in _merged(stages))}. That is no "
                "group action; equivariance_error tells how far it is from one."
            )
    return Product((tuple(factor for stage in stages for factor in stage),))


def in_order(*groups: Group) -> Group:
    """The groups one after the other, those of one family as one."""
    return Product(_merged([stage for group in groups for stage in group.stages]))


def _merged(stages: Sequence[tuple[Factor, ...]]) -> Stages:
    merged: list[tuple[Factor, ...]] = []
    for stage in stages:
        if merged and merged[-1][0].family is stage[0].family:
            merged[-1] += stage
        else:
            merged.append(stage)
    return tuple(merged)
