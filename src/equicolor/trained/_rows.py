"""Which rows of feature maps are the same: those of an image, and those of the same image in other colours."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

#: Maps that differ by no more than this share of their size are the same.
SAME = 0.02


@dataclass(frozen=True)
class Match:
    """Which row of the unmoved image a row of the moved one is like.

    Attributes:
        row: the number of the row.
        distance: how far it is from it, as a share of its size.
    """

    row: int
    distance: float

    @property
    def same(self) -> bool:
        """Whether it is that very map, but for rounding."""
        return self.distance <= SAME


def matching_rows(before: Tensor, after: Tensor) -> list[Match]:
    """Finds for each row of ``after`` the nearest of ``before``, its own place where that is as near.

    Args:
        before: the maps of an image, a row for each group element, ``(G, C, h, w)``.
        after: those of the same image moved.

    Returns:
        A match for each row of ``after``.

    Example:
        >>> rows = torch.eye(3)[:, :, None, None]
        >>> [match.row for match in matching_rows(rows, rows.roll(1, dims=0))]
        [2, 0, 1]
    """
    flat, moved = before.flatten(1).double(), after.flatten(1).double()
    distances = torch.cdist(moved, flat) / flat.norm(dim=1).clamp_min(1e-12)
    found = []
    for place, row in enumerate(distances):
        nearest = int(row.argmin())
        nearest = place if float(row[place]) <= float(row[nearest]) + 1e-9 else nearest
        found.append(Match(nearest, float(row[nearest])))
    return found


def matches_in_words(matches: Sequence[Match]) -> str:
    """Says what became of the rows.

    Args:
        matches: what :func:`matching_rows` gave.

    Returns:
        A sentence or two.
    """
    same = [match for match in matches if match.same]
    wandered = sum(match.row != place for place, match in enumerate(matches) if match.same)
    if len(same) == len(matches):
        if not wandered:
            return "Nothing has moved: every row is the same map as before."
        return "The maps are the same, in other rows: they have moved along the group. Equal frames, equal maps."
    if same:
        return f"{len(same)} of {len(matches)} rows are maps from before; the others came in at the edge."
    return "No map is quite the same: dashed frames show the nearest."
