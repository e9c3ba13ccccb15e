"""How the colours of two sets differ, in units of every registered move, and what to do about it."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from equicolor.groups import Factor, factor_kind, rgb_factors
from equicolor.trained._evaluate import Advance
from equicolor.trained.diagnosis._colors import LIMIT, Colors, Images, colors_of
from equicolor.trained.diagnosis._distance import Chance, by_chance, clusters_of, profile
from equicolor.trained.diagnosis._fit import Carrier, Fit, Move, apply, families
from equicolor.trained.diagnosis._recommend import USUAL, Needed, Recommendation, circle_order, recommend

#: Sets differ if chance does this no more often than so.
_UNLIKELY = 0.02
#: Moves that explain less than this, less what is far-fetched about them, are no explanation.
_AN_EXPLANATION = 0.3
#: Other families that come so near are named beside the best, and such that come so near are as good.
_NEAR, _AS_GOOD = 0.15, 0.06
#: So many images of each set are compared pixel by pixel. A pixel has a near one in another set if that is no farther,
#: by a step of 8 bits, than most of a set's own are from each other; and enough of them must.
_COMPARED, _MOST, _STEP, _ENOUGH = 250, 0.95, 0.004, 0.8
#: Fewer images than these are few; a p-value below this may be a difference; distances below these are next to none,
#: or small.
_FEW, _PERHAPS, _LITTLE, _SMALL = 50, 0.2, 1.25, 1.6


@dataclass(frozen=True, eq=False)
class ColorDiagnosis:
    """How the colours of two sets differ.

    Attributes:
        source: the name of the first set.
        target: the name of the second set.
        images: how many images of each were looked at.
        distance: the distance of their colours, in units of chance: 1 is the distance of two such samples of one set.
        p_value: how often sets dealt at random from both are as far apart.
        differ: whether they differ in colour, by more than chance.
        moves: for each registered factor, the move of it alone that carries the source nearest to the target.
        families: the same for each family, all its factors at once; the best first.
        best: the simplest of all of these that explains about as much as any; None where nothing does.
        covered: whether the target's colours are among the source's, which has more of them.
        recommendation: what to do.
        notes: what must be known to read this.
        seen: the colours of both sets.
    """

    source: str
    target: str
    images: tuple[int, int]
    distance: float
    p_value: float
    differ: bool
    moves: tuple[Fit, ...]
    families: tuple[Fit, ...]
    best: Fit | None
    covered: bool
    recommendation: Recommendation
    notes: tuple[str, ...] = ()
    seen: tuple[Colors, Colors] = field(repr=False, default=())  # type: ignore[assignment]

    def carried(self, images: Tensor) -> Tensor:
        """Moves images of the source as :attr:`best` says.

        Args:
            images: RGB in [0, 1], ``(N, 3, H, W)``.

        Returns:
            The moved images; as they are where ``best`` is None.
        """
        return images if self.best is None else apply(self.best, rgb_factors(), images)

    def summary(self) -> dict[str, Any]:
        """All that was found, fit for JSON."""
        return {
            "source": self.source,
            "target": self.target,
            "images": list(self.images),
            "distance": self.distance,
            "p_value": self.p_value,
            "differ": self.differ,
            "moves": [asdict(fit) for fit in self.moves],
            "families": [asdict(fit) for fit in self.families],
            "best": None if self.best is None else asdict(self.best),
            "covered": self.covered,
            "recommendation": {**asdict(self.recommendation), "option": self.recommendation.option},
            "notes": list(self.notes),
        }


def diagnose_sets(
    source: Images,
    target: Images,
    *,
    limit: int = LIMIT,
    seed: int = 0,
    root: Path | None = None,
    advance: Advance | None = None,
) -> ColorDiagnosis:
    """Says how the colours of two sets differ: which move carries the one onto the other, and how much that explains.

    Args:
        source: what a network was or will be trained on: a set that was loaded, a tensor ``(N, 3, H, W)``, the path of
            a folder with images, labelled or not, or of a table, or the name of a data set, ``"malaria:blue"``.
        target: what it will meet.
        limit: how many images of each are looked at; more tell smaller differences from chance.
        seed: which, and how they are dealt to see what chance does.
        root: the folder that holds data sets; by default that of the environment.
        advance: is told of each step that is done, of :func:`steps_of_sets`, for a progress bar.

    Returns:
        What was found; :attr:`ColorDiagnosis.recommendation` says what to do about it.

    Raises:
        ValueError: a set is not there, or has fewer than five images.

    Example:
        >>> import torch
        >>> images = torch.rand(64, 3, 16, 16) * torch.tensor([0.9, 0.6, 0.5])[:, None, None]
        >>> diagnose_sets(images[:32], images[32:]).differ
        False
    """
    done = advance or (lambda count: None)
    seen = []
    for images in (source, target):
        seen.append(colors_of(images, limit, seed, root))
        done(1)
    colors = seen[0], seen[1]
    chance = by_chance(*colors, seed)
    done(1)
    factors = rgb_factors()
    there, back = (Carrier(one.pixels, profile(other.pixels), chance) for one, other in (colors, colors[::-1]))
    differ = chance.p_value <= _UNLIKELY
    singles, together, best = _fits(there, factors, done) if differ else ([], [], None)
    gray, little = (colors[0].gray, colors[1].gray), there.before < _LITTLE
    if gray[0] != gray[1] or little:  # no move gives colours to greys; and of almost nothing, any explains all
        best = None
    covered = (
        differ and best is None and gray[0] == gray[1] and _contains(*colors) and _fits(back, factors)[2] is not None
    )
    advice = _advice(differ, best, together, covered, gray, little)
    notes = _notes(colors, chance, differ, there.before)
    names = _names(*colors)
    return ColorDiagnosis(
        *names, (len(colors[0]), len(colors[1])), there.before, chance.p_value, differ,
        tuple(singles), tuple(together), best, covered, advice, tuple(notes), colors,
    )  # fmt: skip


def steps_of_sets() -> int:
    """How many steps :func:`diagnose_sets` has: both sets, chance, every registered factor, every family."""
    factors = rgb_factors()
    return 3 + len(factors) + len(families(factors))


def _fits(
    carrier: Carrier, factors: dict[str, Factor], done: Advance = lambda count: None
) -> tuple[list[Fit], list[Fit], Fit | None]:
    """Every factor by itself, every family, and the best of all."""
    alone = {}
    for prefix, factor in factors.items():
        alone[prefix] = carrier.one(factor)
        done(1)
    together = []
    for family in families(factors):
        own = [alone[factor.prefix] for factor in family]
        together.append(own[0] if len(family) == 1 else carrier.several(family, _starts(own)))
        done(1)
    together.sort(key=lambda fit: -fit.explained)
    candidates = [*together, *alone.values()]
    best = max(candidates, key=carrier.worth)
    usual = max((fit for fit in candidates if fit.family == USUAL), key=carrier.worth, default=best)
    best = usual if carrier.worth(usual) > carrier.worth(best) - _AS_GOOD else best
    while len(best.moves) > 1:  # what does nothing is left out
        fewer = [_without(carrier, best, place, factors) for place in range(len(best.moves))]
        simpler = max(fewer, key=carrier.worth)
        if carrier.worth(simpler) < carrier.worth(best):
            break
        best = simpler
    enough = best.explained - best.far_fetched >= _AN_EXPLANATION
    return list(alone.values()), together, best if enough else None


def _starts(alone: Sequence[Fit]) -> list[list[Move]]:
    """Where to look for the moves of a family: all at their best alone, and the best one alone."""
    moves = [fit.moves[0] for fit in alone]
    first = max(range(len(alone)), key=lambda place: alone[place].explained)
    still = [replace(move, amount=0.0, spread=0.0) for move in moves]
    return [
        [replace(move, spread=0.0) if place != first else move for place, move in enumerate(moves)],
        [*still[:first], moves[first], *still[first + 1 :]],
    ]


def _without(carrier: Carrier, fit: Fit, place: int, factors: dict[str, Factor]) -> Fit:
    rest = [move for number, move in enumerate(fit.moves) if number != place]
    return carrier.several([factors[move.factor] for move in rest], [rest])


def _contains(source: Colors, target: Colors) -> bool:
    """Whether pixels of the target have as near ones among those of the source as pixels of the source itself have."""
    known, asked = (each.pixels[:_COMPARED].permute(0, 2, 3, 1).flatten(0, 2) for each in (source, target))
    half = len(known) // 2  # of other images
    usual = torch.cdist(known[:half], known[half:]).amin(1).quantile(_MOST)
    there = torch.cdist(asked, known).amin(1) <= usual + _STEP
    return bool(there.float().mean() >= _ENOUGH)


def _advice(
    differ: bool, best: Fit | None, together: Sequence[Fit], covered: bool, gray: tuple[bool, bool], little: bool
) -> Recommendation:
    if not differ:
        return Recommendation("Your sets do not differ in colour; look elsewhere.")
    if gray[0] != gray[1]:
        which = ("source", "target") if gray[0] else ("target", "source")
        return Recommendation(
            f"The {which[0]} has no colour and the {which[1]} has: no move carries the one onto the other. Take the "
            "colour from both, so that the network never sees any.",
            "augment",
            augment="gray",
        )
    if little:
        return Recommendation(
            "Your sets differ in colour, by so little that these images do not tell which move carries the one onto "
            "the other. Look at more of them, or elsewhere."
        )
    if best is None and covered:
        return Recommendation(
            "The colours of the target are among those of the source, which has more of them: a network that was "
            "trained on the source has seen them, if not in the same places. Look elsewhere, at contrast or content."
        )
    if best is None:
        near = f": the best, {together[0]}, explains {together[0].explained:.0%}" if together else ""
        return Recommendation(
            f"Your sets differ in colour, and no move that is registered carries the one onto the other{near}. What is "
            "in the images may differ, or colours move otherwise. Grey, or jitter of colour, ask for no model of it.",
            "augment",
            augment="gray",
        )
    needed, order = [], None
    for move in best.moves:
        period = factor_kind(move.factor).period
        far = abs(move.amount) + move.spread
        if period is not None:
            order = circle_order(move.amount, period, wide=move.spread > period / 12)
        needed.append(Needed(move.factor, far, abs(move.amount) if move.spread <= abs(move.amount) / 2 else far / 2))
    advice = recommend(needed, order)
    rivals = [fit for fit in together if fit.family != best.family and fit.explained > best.explained - _NEAR]
    beside = "".join(f" Nearly as good an explanation: {fit} ({fit.explained:.0%})." for fit in rivals)
    return Recommendation(
        f"{best} explains {best.explained:.0%} of the difference. {advice.text}{beside}",
        advice.how, advice.group, advice.canonicalize, advice.augment, advice.reach,
    )  # fmt: skip


def _notes(colors: tuple[Colors, Colors], chance: Chance, differ: bool, distance: float) -> list[str]:
    """What must be known to read the rest."""
    notes = [
        f"{each.name}: {each.unread} of the files that were looked at cannot be read." for each in colors if each.unread
    ]
    few = [each.name for each in colors if each.clusters is not None and clusters_of(each) is None]
    unknown = [each.name for each in colors if each.clusters is None]
    if few:
        notes.append(
            f"{' and '.join(few)}: of too few slides or patients to tell a difference between sets from one between "
            "those. Images were taken for independent."
        )
    elif unknown and differ:
        notes.append(
            f"{' and '.join(dict.fromkeys(unknown))}: nothing says which images belong together. Where they come from "
            "a few slides or patients, those alone may differ; a table with a column group says so."
        )
    if not differ and min(map(len, colors)) < _FEW:
        notes.append("Of so few images only a large difference can be told from chance.")
    elif not differ and chance.p_value < _PERHAPS:
        more = any(len(each) < each.count for each in colors)
        notes.append(
            "Chance is seldom so far off: there may be a small difference."
            + (" --limit looks at more images." if more else "")
        )
    if differ and distance < _SMALL:
        notes.append("They are hardly farther apart than by chance: how much each family explains is not well known.")
    return notes


def _names(source: Colors, target: Colors) -> tuple[str, str]:
    return (
        (source.name, target.name)
        if source.name != target.name
        else (f"{source.name} (source)", f"{target.name} (target)")
    )
