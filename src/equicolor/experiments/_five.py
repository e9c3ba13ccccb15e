"""The paper's five small networks, which it compares on Hue-shift MNIST and on 3D Shapes, and three trained better."""

from collections.abc import Mapping, Sequence
from typing import Any

from equicolor.experiments._rows import Row, chosen_rows, rows_of
from equicolor.experiments._setting import Setting

#: What the paper calls them → the variant of its recipe.
FIVE = {"Z2CNN": "z2cnn", "Hue-3": "hue3", "Hue-4": "hue4", "CEConv-3": "ceconv3", "CEConv-4": "ceconv4"}
TUNED = {f"{label}, tuned": f"{FIVE[label]}-tuned" for label in ("Z2CNN", "Hue-3", "Hue-4")}
_BATCH = 128  # the paper's
_TUNED_NOTE = (
    "“Tuned” is not the paper's: the same networks and as many epochs, all by Adam at a rate of 0.004 that first rises "
    "and then falls as a cosine, where the paper trains its hue networks at 0.0001."
)


def five_rows(setting: Setting, recipe: str, quick: Mapping[str, Any], quick_labels: Sequence[str] = ()) -> list[Row]:
    """Those that are wanted.

    The quick version has no tuned ones, being none of the paper's protocol itself, and where ``quick_labels`` name them
    it has those alone, unless others are asked for.
    """
    variants = FIVE if setting.quick else FIVE | TUNED
    rows = chosen_rows(setting, rows_of(setting, recipe, variants, quick=quick))
    if not setting.quick or setting.only or not quick_labels:
        return rows
    return [row for row in rows if row.label in quick_labels]


def tuned_note(rows: Sequence[Row]) -> list[str]:
    """What “tuned” means, where any row is."""
    sizes = {row.label: row.recipe.batch_size for row in rows if row.label in TUNED}
    if not sizes:
        return []
    smaller = [f" {label} takes batches of {size}." for label, size in sizes.items() if size != _BATCH]
    return [_TUNED_NOTE + "".join(smaller)]
