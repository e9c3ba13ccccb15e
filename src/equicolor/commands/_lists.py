"""``equicolor models`` and ``equicolor data``: what there is."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from equicolor._tools.tables import Table, show_table
from equicolor.commands._registry import register_command

if TYPE_CHECKING:
    from equicolor.data import Whereabouts


@register_command(place=80)
def models(
    *,
    groups: Sequence[str] = ("none", "hue3", "hue4", "sat3", "lum3", "hue4-sat3", "ceconv3"),
    num_classes: int = 10,
) -> dict[str, dict[str, int]]:
    """Lists the networks and how many parameters they have on each group.

    Args:
        groups: which; none is the conventional network, ceconv3 that baseline.
        num_classes: the number of logits of a classifier; the segmenter has one.

    Example:
        equicolor models --groups none hue4 hue12
    """
    import torch

    from equicolor import create_model, list_models

    sizes: dict[str, dict[str, int]] = {}
    for name in list_models():
        classes = num_classes if name in list_models(task="classification") else None
        with torch.device("meta"):  # shapes without memory: only the count is wanted
            made = {each: create_model(name, None if each == "none" else each, classes) for each in groups}
        sizes[name] = {each: network.num_parameters for each, network in made.items()}
    rows = [(name, *(f"{count:,}" for count in counts.values())) for name, counts in sizes.items()]
    show_table(Table("Parameters of each network, by group", ("network", *groups), rows))
    return sizes


@register_command(place=90)
def data(*, root: Path | None = None) -> "list[Whereabouts]":
    """Lists the data sets, how large they are, and where they are or belong.

    Args:
        root: the folder that holds the data; by default the environment variable EQUICOLOR_DATA.

    Example:
        equicolor data
    """
    from equicolor.data import list_datasets, whereabouts

    found = [whereabouts(name, root) for name in list_datasets()]
    rows = []
    for each in found:
        splits = ", ".join(f"{name} {'…' if size is None else f'{size:,}'}" for name, size in each.sizes.items())
        place = "" if each.state == "embedded" else _short(each.folder) if each.folder else each.source
        rows.append((each.name, splits, f"{each.image_size}×{each.image_size}", each.state, place))
    columns = ("data set", "images", "size", "state", "where")
    show_table(Table("Data sets", columns, rows, left=columns))
    return found


def _short(path: Path) -> str:
    """A path below the home directory with a tilde."""
    return f"~/{path.relative_to(Path.home())}" if path.is_relative_to(Path.home()) else str(path)
