"""Rows by name, ``canonical:temp-tint+light-jitter``: what each changes in a recipe, and what it is in words."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from equicolor._tools.spelling import american, did_you_mean
from equicolor.color import COLOR_NORMALIZATIONS, ColorNormalization
from equicolor.comparison._row import Row
from equicolor.data.augment import list_jitters, steps_of
from equicolor.groups import group, registered_factors
from equicolor.train import Recipe

#: The groups that :func:`compare` tries unless told otherwise.
GROUPS = ("hue4", "sat3", "temp3-tint3")
BASELINES = ("plain", "gray", "gray-world", "hue-jitter", "color-jitter", "light-jitter", "hed-jitter", "ceconv3")
CANONICAL = ("canonical:temp-tint", "canonical:temp-tint+light-jitter", "gains:temp-tint")
#: The names of all rows that :func:`compare` trains unless told otherwise.
ROWS = (*BASELINES, *GROUPS, *CANONICAL)
PLAIN = "plain"

_NORMALIZED: Mapping[ColorNormalization, str] = {
    "gray-world": "the grey world",
    "reinhard": "Reinhard's means and deviations",
    "macenko": "Macenko's stains",
}
_CANONICAL, _ANCHORED, _CECONV = "canonical:", ("anchored:", "gains:"), "ceconv"
_FIELD = re.compile(r"[a-z_]+(\.[a-z_]+)?=")
#: What rows decide: the recipe they are made from says nothing of it.
_ROWS_OWN: Mapping[str, Any] = {
    "group": None,
    "canonicalize": None,
    "around": None,
    "canonicalizer_training": "first",
}


def named_rows(recipe: Recipe, names: Sequence[str] = ROWS) -> list[Row]:
    """Makes rows from their names, all trained by one recipe but for what tells them apart.

    Args:
        recipe: data, network and training; its group and canonicaliser are left out.
        names: parts joined by ``+``: ``plain``; ``gray``; colours normalised, ``gray-world``, ``reinhard`` or
            ``macenko``; a jitter, ``hue-jitter`` or any other of :func:`equicolor.data.augment.list_jitters`; a
            group, ``hue4``; the baseline ``ceconv3``; moves that are undone first, ``canonical:temp-tint``, by a
            measure instead of a network ``anchored:temp-tint`` or ``gains:temp-tint``; a field of the recipe,
            ``plain+lr=0.01``.

    Returns:
        The rows.

    Raises:
        ValueError: there is no row of a name, or it is there twice.

    Example:
        >>> rows = named_rows(Recipe("digits", "z2cnn", epochs=5), ["plain", "hue4", "canonical:hue4+hue-jitter"])
        >>> rows[1].recipe.group
        'hue4'
    """
    rows = [_row(recipe, name) for name in names]
    labels = [row.label for row in rows]
    for label in labels:
        if labels.count(label) > 1:
            raise ValueError(f"the row {label!r} is there twice: name each once")
    if not rows:
        raise ValueError(f"there are no rows to compare: name some, such as {', '.join(ROWS)}")
    return rows


def _row(recipe: Recipe, name: str) -> Row:
    parts = [part if _FIELD.match(part) else american(part) for part in name.strip().split("+")]
    name = "+".join(parts)
    fields: dict[str, Any] = dict(_ROWS_OWN)
    colours: list[str] = []
    for part in parts:
        if part == PLAIN:
            continue
        if part.startswith(_CANONICAL):
            fields["canonicalize"] = part.removeprefix(_CANONICAL)
        elif part.startswith(_ANCHORED):
            fields["canonicalize"] = part  # as a canonicaliser names it
        elif _FIELD.match(part):
            field, _, value = part.partition("=")
            fields[field] = value
        elif part == "gray" or part in (*COLOR_NORMALIZATIONS, *list_jitters()):
            colours.append(part)
        else:
            _check_group(part, name)
            fields["group"] = part if fields["group"] is None else f"{fields['group']}+{part}"
    steps = [] if recipe.augment == "none" else [recipe.augment]
    augment = "+".join([*steps, *colours]) or "none"
    try:
        return Row(name, recipe.replace(**{"augment": augment, **fields}))
    except (ValueError, TypeError) as error:
        raise ValueError(f"the row {name!r} cannot be trained: {error}") from error


def _check_group(part: str, name: str) -> None:
    try:
        if not re.fullmatch(f"{_CECONV}[0-9]+", part):
            group(part)
    except ValueError as error:
        known = (
            *ROWS,
            *COLOR_NORMALIZATIONS,
            *list_jitters(),
            "canonical:hue4",
            "hue3",
            "lum3",
            "hue4-sat3",
            "ceconv4",
        )
        hint = did_you_mean(part, known)
        if not hint and re.match("|".join(registered_factors()), part):
            raise ValueError(f"there is no row {name!r}: {error}") from None
        raise ValueError(
            f"there is no row {name!r}.{hint} A row is plain, gray, a normalisation of colours "
            f"({', '.join(COLOR_NORMALIZATIONS)}), a jitter ({', '.join(list_jitters())}), a group (hue4, sat3, "
            "temp3-tint3, …), ceconv3, canonical:MOVES (canonical:temp-tint), anchored:MOVES or gains:MOVES; several "
            "are joined by '+'"
        ) from None


# ------------------------------------------------------------------------------------------------ in words


def blind_to(recipe: Recipe) -> str:
    """Which moves of colour a network cannot see, by how it is made, in words; empty where it sees all.

    >>> blind_to(Recipe("digits", "z2cnn", "hue4", epochs=1)), blind_to(Recipe("digits", "z2cnn", epochs=1))
    ('4 turns of hue', '')
    """
    if "gray" in steps_of(recipe.augment):
        return "colour"
    moves = dict.fromkeys(move for name in (recipe.group, recipe.canonicalize) if name for move in _factors(name))
    known = registered_factors()
    # Of a circle, the elements count; of a window of light or saturation, it is the direction.
    return " and ".join(f"{n} turns of {q}" if known[p].period else q for p, n, q in moves)


def described(recipe: Recipe) -> str:
    """What a row is, in words."""
    said = []
    if recipe.canonicalize:
        gains = recipe.canonicalize.startswith("gains:")
        measured = recipe.canonicalize.startswith(_ANCHORED) or recipe.canonicalize_options.get("anchored")
        what = f"{'gains' if gains else 'a shift'} of {_quantities(recipe.canonicalize)}"
        said.append(f"{'measures' if measured else 'finds'} {what}, undoes {'them' if gains else 'it'}, then looks")
    if recipe.group and recipe.group.startswith(_CECONV):
        said.append("CEConv: filters rotated in RGB, a baseline")
    elif recipe.group:
        said.append(f"equivariant to {_quantities(recipe.group)}")
    steps = steps_of(recipe.augment)
    if "gray" in steps:
        said.append("sees no colour")
    said += [f"colours of each image normalised by {words}" for how, words in _NORMALIZED.items() if how in steps]
    jitters = [step.removesuffix("-jitter") for step in steps if step.endswith("-jitter")]
    if jitters:
        said.append(f"training images jittered in {', '.join(_jittered(jitter) for jitter in jitters)}")
    return "; ".join(said) or "the network as it is"


def _quantities(name: str) -> str:
    return " and ".join(quantity for _, _, quantity in _factors(name))


def _factors(name: str) -> list[tuple[str, str, str]]:
    """Prefix, number of elements and quantity of each factor of a group; CEConv's are turns of hue."""
    known = registered_factors()
    bare = re.sub(rf"\(.*?\)|^({'|'.join(_ANCHORED)})", "", name).replace(_CECONV, "hue")
    return [(prefix, n, known[prefix].quantity) for prefix, n in re.findall("([a-z]+)([0-9]*)", bare)]


def _jittered(name: str) -> str:
    known = registered_factors()
    if name == "color":
        return "brightness, contrast, saturation and hue"
    return known[name].quantity if name in known else name
