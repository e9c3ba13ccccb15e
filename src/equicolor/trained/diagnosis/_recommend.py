"""What to do about moves of colour: which group and step, what to undo, or what to jitter, by what was measured.

The evidence is in ``results``: networks that undo light erred least on stains that they had not seen; groups of hue are
exact, also where parts of an image turn by themselves; jitter of luminance left fewer errors than any window of it, and
on photographs jitter of saturation did, too.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import mul
from typing import Literal, TypeAlias

from equicolor.groups import Factor, argument_names, factor_kind
from equicolor.nn import Canonicalizer

How: TypeAlias = Literal["canonicalize", "group", "augment"]

#: Of two explanations that are as good, this family's is taken: lamps, cameras and dyes move light, and to undo it
#: costs nothing.
USUAL = "light"
#: Orders of circles that are offered.
_ORDERS = (3, 4, 6, 8, 12)
#: Elements of a group of which the number is said, and of the largest that is offered: features take as much more room.
_MANY, _MOST = 12, 36


@dataclass(frozen=True)
class Needed:
    """Moves of one quantity that a network should not mind: up to ``far`` to either side.

    Attributes:
        factor: by its prefix.
        far: how far, of a circle half of it at the most.
        step: elements of a group should be no farther apart.
    """

    factor: str
    far: float
    step: float


@dataclass(frozen=True)
class Recommendation:
    """What to do.

    Attributes:
        text: in words, with the reason.
        how: what to try first: one of the three below; None where there is nothing to do.
        group: for ``equicolor train --group``; None where one that covers the moves would be too large.
        canonicalize: for ``equicolor train --canonicalize``; None where it is not for these moves.
        augment: for ``equicolor train --set augment=…``, on top of any of them.
        reach: how far the canonicaliser must look, where its default is not enough.
    """

    text: str
    how: How | None = None
    group: str | None = None
    canonicalize: str | None = None
    augment: str | None = None
    reach: float | None = None

    @property
    def option(self) -> str:
        """What to add to ``equicolor train``; empty where there is nothing to do."""
        options = {
            None: "",
            "group": f"--group '{self.group}'",
            "canonicalize": f"--canonicalize {self.canonicalize}",
            "augment": f"--set augment={self.augment}",
        }
        looks = self.how == "canonicalize" and self.reach is not None
        return options[self.how] + (f" --set canonicalize_options.reach={self.reach:g}" if looks else "")


def circle_order(turn: float, period: float, wide: bool) -> int:
    """How many elements a circle should have for moves by ``turn``: 4, or the fewest of which one is near to it.

    >>> circle_order(180, 360, wide=False), circle_order(120, 360, wide=False), circle_order(45, 360, wide=False)
    (4, 3, 8)
    """
    if wide:
        return 4
    near = [order for order in (4, *_ORDERS) if abs(math.remainder(turn, period / order)) <= period / 30]
    return near[0] if near else _ORDERS[-1]


def recommend(needed: Sequence[Needed], order: int | None = None) -> Recommendation:
    """What makes a network mind these moves, of factors of one family, no longer.

    Args:
        needed: which, and how far.
        order: of a circle among them; by default the smallest whose elements are no farther apart than the step.
    """
    factors = [_factor(each, order) for each in needed]
    group: str | None = str(reduce(mul, factors))
    name = "-".join(f"{factor.prefix}{factor.n}" if factor.closes else factor.prefix for factor in factors)
    canonicalizer = Canonicalizer(name)
    far = max((each.far for each, factor in zip(needed, factors, strict=True) if not factor.closes), default=0.0)
    reach = float(f"{1.2 * far:.1g}") if canonicalizer.reach and far > min(canonicalizer.reach) else None
    augment = "+".join(f"{factor.prefix}-jitter" for factor in factors)
    how, why = _first(factors)
    size = math.prod(factor.n for factor in factors)
    counted = f", of {size} elements" if size > _MANY else ""
    if size > _MOST:
        circles = [factor for factor in factors if factor.closes]
        group = str(reduce(mul, circles)) if how == "group" else None
        counted = f"; a group for all of it would have {size} elements, too many"
    beside = f"; as a group, {group}{counted}" if group else counted
    way = {
        "canonicalize": f"find and undo it, canonicalize='{name}'{beside}"
        + (", with window='replicate'" if group else ""),
        "group": f"a group, {group}{counted}",
        "augment": f"jitter in training, {augment}{beside}",
    }[how]
    more = (
        f" Its canonicaliser must look as far as {reach:g}: ec.canonicalize(network, '{name}', reach={reach:g})."
        if reach
        else ""
    )
    return Recommendation(f"{way[0].upper()}{way[1:]}. {why}{more}", how, group, name, augment, reach)


def _factor(needed: Needed, order: int | None) -> Factor:
    kind = factor_kind(needed.factor)
    if kind.period is not None:
        enough = [n for n in _ORDERS if kind.period / n <= needed.step]
        return kind(order or (enough[0] if enough else _ORDERS[-1]))
    step = float(f"{needed.step:.2g}")
    n = 2 * max(1, math.ceil(needed.far / step - 0.25)) + 1
    return kind(n, **({"step": step} if "step" in argument_names(kind) else {}))


def _first(factors: Sequence[Factor]) -> tuple[How, str]:
    """What to try first for such moves, and why."""
    names = {factor.prefix for factor in factors}
    family = factors[0].family.name
    if all(factor.closes for factor in factors):
        return "group", "It is exact, and holds for parts of an image too (results/canonical)."
    if family == USUAL:
        return "canonicalize", (
            "On cells of another stain undoing light erred least, best by gains, which take no network: "
            "canonicalize='gains:temp-tint' (results/stain). On photographs under other lamps white balance did: "
            "augment=gray-world (results/light)."
        )
    if family == "stain":
        return "canonicalize", "It was not measured for moves of stain; for those of light it was (results/stain)."
    if names == {"lum"}:
        return "augment", "On darker and brighter shapes jitter erred less than any group (results/luminance)."
    if any(factor.closes for factor in factors):
        windows = "+".join(f"{factor.prefix}-jitter" for factor in factors if not factor.closes)
        return (
            "group",
            f"Turns are exact, windows are not: jitter what those are for, augment={windows} (results/luminance).",
        )
    return "augment", (
        "On photographs jitter erred less than a group, which on rendered shapes erred less (results/saturation)."
    )
