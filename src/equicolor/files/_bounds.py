"""What a card may ask for before its weights are looked at: no more than can be built, or said to be wrong, at once.

A file may come from anywhere. How large a network is, the weights beside the card decide, see ``_pretrained``; here is
what costs time or memory whatever the weights are.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from equicolor.models import make_kit

#: The elements of the largest group that is built because a file says so. A network of your own may have more.
MOST_ELEMENTS = 128
#: How often a canonicaliser looks at an image, at the most, because a file says so.
MOST_ITERATIONS = 64
#: The channels of images, at the most, because a file says so, and the values of a list.
MOST_CHANNELS = 4096
#: The letters of a name, at the most.
MOST_LETTERS = 1000


def check_bounds(architecture: Mapping[str, Any]) -> None:
    """ValueError, naming the argument, where a card asks for what would take long or compute no numbers."""
    for name, value in _values(architecture, "architecture"):
        if isinstance(value, str) and len(value) > MOST_LETTERS:
            raise ValueError(f"{name} has {len(value):,} letters, expected a name of {MOST_LETTERS:,} at most")
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"{name} is {value}, expected finite numbers")
    if architecture.get("weights") is not None or architecture.get("pretrained"):
        raise ValueError("it asks for other weights than those beside it, weights or pretrained")
    channels = architecture.get("in_channels")
    if isinstance(channels, int) and channels > MOST_CHANNELS:
        raise ValueError(f"architecture.in_channels is {channels:,}, expected {MOST_CHANNELS:,} at most")
    _check_order(architecture.get("group"))
    canonicalize = architecture.get("canonicalize")
    if isinstance(canonicalize, Mapping):
        iterations = canonicalize.get("iterations")
        if isinstance(iterations, int) and iterations > MOST_ITERATIONS:
            raise ValueError(
                f"architecture.canonicalize.iterations is {iterations:,}, expected {MOST_ITERATIONS} at most"
            )
        canonicalize = canonicalize.get("group")
    _check_order(canonicalize)


def _values(value: object, name: str) -> Iterator[tuple[str, object]]:
    """All values below a value of JSON's, each with what to call it. No recursion: a file may nest deeply."""
    left = [(name, value)]
    while left:
        name, value = left.pop()
        if isinstance(value, Mapping):
            left += [(f"{name}.{key}"[:MOST_LETTERS], each) for key, each in value.items()]
        elif isinstance(value, list) and len(value) > MOST_CHANNELS:
            raise ValueError(f"{name} has {len(value):,} values, expected {MOST_CHANNELS:,} at most")
        elif isinstance(value, list):
            left += [(name, each) for each in value]
        else:
            yield name, value


def _check_order(group: object) -> None:
    lives_on = make_kit(group).group if isinstance(group, str) else None
    if lives_on is not None and lives_on.order > MOST_ELEMENTS:
        raise ValueError(
            f"the group {group!r} has more than {MOST_ELEMENTS} elements, the most that are built because a file says "
            "so. If you trust it, build the network yourself and give it: from_pretrained(folder, model=...)"
        )
