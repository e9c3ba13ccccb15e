"""Lists as people type them: with spaces, with commas, in brackets."""

import re
from collections.abc import Sequence

_COMMA = re.compile(r",(?![^()]*\))")  # not one between the arguments of a group


def listed(texts: Sequence[str]) -> list[str]:
    """The items of a list that was typed in one word or in several.

    >>> listed(["1,2,3"]), listed(["[1,", "2]"]), listed(["hue4", "sat3(step=0.05,action=clamp)"])
    (['1', '2', '3'], ['1', '2'], ['hue4', 'sat3(step=0.05,action=clamp)'])
    """
    whole = ",".join(texts)
    if whole[:1] == "[" and whole[-1:] == "]":
        whole = whole[1:-1]
    return [item.strip() for item in _COMMA.split(whole) if item.strip()]


def seeds_of(texts: Sequence[str]) -> list[int]:
    """The seeds in a list that was typed.

    Raises:
        ValueError: one is no whole number, or there twice.
    """
    items = [item for text in listed(texts) for item in text.split()]
    for item in items:
        if not (item.isascii() and item.isdecimal()) or len(item) > 18:
            raise ValueError(f"--seeds takes whole numbers of 18 digits at the most, got {item[:40]!r}")
    seeds = [int(item) for item in items]
    if len(set(seeds)) < len(seeds):
        raise ValueError(f"seeds must differ, or one run would count as several, got {', '.join(items)}")
    return seeds
