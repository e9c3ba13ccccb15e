"""What the numbers of a comparison say, in plain words, by rules that are the same for everybody's data."""

from collections.abc import Mapping, Sequence

from equicolor._tools.words import named
from equicolor.comparison._columns import Column
from equicolor.comparison._grid import Grid
from equicolor.comparison._measured import Measured

#: Of the way from the reference's error to that of guessing: a network that is blind to a move of colour and loses so
#: much was shown classes that the move makes the same.
_MUCH = 1 / 4
#: Networks whose errors are all above so much of guessing's have learnt nothing.
_NOTHING = 0.9
#: So many names, or sets, are said one by one.
_FEW = 4


def conclude(grid: Grid, blind: Mapping[str, str], chance: float | None = None) -> list[str]:
    """Says in words what errors say, a sentence or two for each finding, the most important first.

    Args:
        grid: errors, as fractions.
        blind: which moves of colour a network cannot see, by label.
        chance: the error of guessing, where there is one.

    Returns:
        The sentences.
    """
    if grid.reference not in grid.labels or len(grid.labels) < 2:
        return []
    columns = [column for column in grid.columns if grid.reference in grid.there(column)]
    if chance is not None and _nothing_learnt(grid, columns, chance):
        return [
            f"No network has learnt to tell the classes apart: guessing errs on {_percent(chance)} %, and no row does "
            "much better. Train for longer (--epochs), or look at the images and classes first."
        ]
    others = [label for label in grid.labels if label != grid.reference]
    found = []
    if not any(grid.better(o, c) or grid.worse(o, c) for c in columns for o in others if o in grid.there(c)):
        found.append(f"No network differs from {grid.reference} by more than chance on any set.")
    else:
        found += [_on(grid, column) for column in columns[:_FEW]]
        if len(columns) > _FEW:
            found.append(f"The other {len(columns) - _FEW} sets are in the table.")
        found += _colour_counts(grid, columns, blind, chance)
        found += _advice(grid, columns, others) if len(columns) > 1 else []
    if max(len(value.values) for value in grid.values.values()) < 2:
        found.append(
            "This is one seed: what differs by a little may be chance, and nobody can tell. More seeds (--seeds 1 2 3) "
            "use what is trained already."
        )
    return found


def has_learnt(error: float, chance: float | None) -> bool:
    """Whether a network does much better than guessing.

    Args:
        error: the error of the network.
        chance: the error of guessing; None where nobody can guess.

    Returns:
        True where it does, and where nobody knows.
    """
    return chance is None or error <= _NOTHING * chance


def _nothing_learnt(grid: Grid, columns: Sequence[Column], chance: float) -> bool:
    errors = [grid.mean(label, column) for column in columns for label in grid.there(column)]
    return bool(errors) and not has_learnt(min(errors), chance)


def _on(grid: Grid, column: Column) -> str:
    """Who is best on a set, and whether that counts."""
    best, reference = grid.best(column), grid.reference
    least, own = grid.at(best, column), grid.at(reference, column)
    where = f"On {column.spoken}"
    if best == reference:
        return f"{where}, {reference} errs least: {_written(own)} %.{_level(grid, column)}"
    if not grid.better(best, column):
        return (
            f"{where}, no network is better than {reference} ({_written(own)} %) by more than chance; the least is "
            f"{best}, {_written(least)}."
        )
    return f"{where}, {best} errs least: {_written(least)} %, {reference} {_written(own)}.{_level(grid, column)}"


def _level(grid: Grid, column: Column) -> str:
    level = grid.level(column)
    return f" No worse by more than chance: {named(level)}." if level else ""


def _colour_counts(grid: Grid, columns: Sequence[Column], blind: Mapping[str, str], chance: float | None) -> list[str]:
    """Whether what networks are blind to is what tells the classes apart: they lose where colours are as in training.

    And gain nowhere. Where another network is blind to the same moves and does not lose, it is not the colours that are
    missed.
    """
    losers: dict[str, str] = {}
    for label in grid.labels:
        there = [column for column in columns if label in grid.there(column)]
        if not blind.get(label) or not there or any(grid.better(label, column) for column in there):
            continue
        column = _as_trained(grid, there)
        own, loss = grid.mean(grid.reference, column), -grid.gain(label, column)
        much = chance is None or loss > _MUCH * (chance - own) or blind[label] == "colour"
        if grid.worse(label, column) and much and sum(grid.gain(label, each) for each in there) < 0:
            losers[label] = f"{label} (blind to {blind[label]}) errs {_percent(loss)} points more on {column.name}"
    found, sure = [], {}
    for label, told in losers.items():
        alike = [each for each in grid.labels if each not in losers and blind.get(each) == blind[label]]
        if alike:
            found.append(
                f"{told} than {grid.reference}, and {alike[0]}, blind to the same, does not: is it trained enough?"
            )
        else:
            sure[label] = told
    if sure:
        told = "; ".join(list(sure.values())[:_FEW])
        more = f"; {len(sure) - _FEW} others likewise" if len(sure) > _FEW else ""
        found.insert(
            0,
            f"Colour itself tells your classes apart. Against {grid.reference}, {told}{more}; less nowhere. Do not use "
            f"{named(list(sure))} here.",
        )
    return found


def _as_trained(grid: Grid, columns: Sequence[Column]) -> Column:
    """The set whose colours are those of training: seen, where that is known, and else what the reference does best."""
    likely = [column for column in columns if column.seen] or columns
    return min(likely, key=lambda column: grid.mean(grid.reference, column))


def _advice(grid: Grid, columns: Sequence[Column], others: Sequence[str]) -> list[str]:
    """Which networks are safe to take, over all sets."""
    safe, mixed, worse = [], [], []
    for label in others:
        there = [column for column in columns if label in grid.there(column)]
        gains = [column for column in there if grid.better(label, column)]
        losses = [column for column in there if grid.worse(label, column)]
        if gains and not losses:
            safe.append(label)
        elif gains:
            changes = ", ".join(f"{c.name} {-100 * grid.gain(label, c):+.1f}" for c in (*gains, *losses))
            mixed.append(f"{label} ({changes})")
        elif losses:
            worse.append(label)
    found = []
    if safe:
        mean = {label: _over(grid, columns, label) for label in safe}
        first = min(mean, key=lambda label: mean[label])
        all_of = f"{first} alone" if len(safe) == 1 else named(safe)
        found.append(f"Better than {grid.reference} on a set and worse on none: {all_of}.")
        if len(safe) > 1:
            own = _percent(_over(grid, columns, grid.reference))
            found[-1] += (
                f" Of these, {first} errs least in the mean over the sets: {_percent(mean[first])} %, "
                f"{grid.reference} {own}."
            )
    else:
        found.append(f"No network is better than {grid.reference} on a set without being worse on another.")
    if mixed:
        found.append(f"Better on one and worse on another, in points: {named(mixed)}.")
    if worse:
        found.append(f"Worse on a set and better on none: {named(worse)}.")
    return found


def _over(grid: Grid, columns: Sequence[Column], label: str) -> float:
    """The mean over whole sets, of which domains are parts."""
    whole = [c for c in columns if c.domain is None and label in grid.there(c)]
    return sum(grid.mean(label, column) for column in whole) / len(whole)


# ------------------------------------------------------------------------------------------------ words


def _written(value: Measured | None) -> str:
    assert value is not None
    return value.written()


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.1f}"
