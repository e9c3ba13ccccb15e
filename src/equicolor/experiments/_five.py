"""The paper's five small networks, which it compares on Hue-shift MNIST and on 3D Shapes, and three trained better."""

from collections.abc import Mapping, Sequence
from typing import Any

from equicolor.comparison import Row
from equicolor.experiments._rows import chosen_rows, rows_of
from equicolor.experiments._setting import Setting

#: What the paper calls them → the variant of its recipe.
FIVE = {"Z2CNN": "z2cnn", "Hue-3": "hue3", "Hue-4": "hue4", "CEConv-3": "ceconv3", "CEConv-4": "ceconv4"}
TUNED = {f"{label}, tuned": f"{FIVE[label]}-tuned" for label in ("Z2CNN", "Hue-3", "Hue-4")}
_BATCH = 128  # the paper's
_TUNED_NOTE = (
    "“Tuned” is not the paper's: the same networks and as many epochs, all by Adam at a rate of 0.004 that first rises "
    "and then falls as a cosine, where the paper trains its hue networks at 0.0001."
)

#: What the reports say of the paper's rows of CEConv.
CECONV_DIFFERS = (
    "CEConv: the paper trains it by the recipe of its authors, which it does not repeat; here it is trained by that of "
    "Z2CNN, at ten times the rate of the hue networks, and where its row says so on fewer images or with one seed."
)


def five_rows(
    setting: Setting,
    recipe: str,
    quick: Mapping[str, Any],
    quick_labels: Sequence[str] = (),
    more: Mapping[str, str] | None = None,
) -> list[Row]:
    """Those that are wanted, and ``more`` of an experiment's own.

    The quick version has neither these nor tuned ones, being none of the paper's protocol itself, and where
    ``quick_labels`` name them it has those alone, unless others are asked for.
    """
    variants = FIVE if setting.quick else {**FIVE, **TUNED, **(more or {})}
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
