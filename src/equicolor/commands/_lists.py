"""``equicolor models`` and ``equicolor data``: what there is."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from equicolor._tools.lists import listed
from equicolor._tools.tables import Table, show_table
from equicolor.commands._registry import register_command

if TYPE_CHECKING:
    from equicolor.data import Contents, Whereabouts


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

    groups = listed(groups)
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
def data(
    name: str | None = None,
    *,
    root: Path | None = None,
    layout: Literal["splits", "classes"] | None = None,
    seed: int = 0,
) -> "list[Whereabouts] | Contents":
    """Lists the data sets and where they are; or says what images of your own are, in a folder or a table.

    Of your own: the classes, how many images of each in each split, their sizes, and how the files were read.

    Args:
        name: the path of a folder of images, or of a CSV or Parquet file that lists them; by default, all data sets.
        root: the folder that holds the data sets; by default the environment variable EQUICOLOR_DATA. One that holds
            none is taken for images of your own.
        layout: what your folders are, where that cannot be told from their names.
        seed: of splits that are cut at random, data_options.seed of a recipe.

    Example:
        equicolor data
        equicolor data digits
    """
    from equicolor.data import describe, is_data_root, is_own, list_datasets, resolve, whereabouts

    if name is None and root is not None and (root.is_file() or (root.is_dir() and not is_data_root(root))):
        name, root = str(root), None
    if name is not None and is_own(resolve(name, root)[0]):
        contents = describe(name, root, layout=layout, seed=seed)
        _show(contents)
        return contents
    found = [whereabouts(each, root) for each in ([name] if name else list_datasets())]
    rows = []
    for each in found:
        splits = ", ".join(f"{name} {'…' if size is None else f'{size:,}'}" for name, size in each.sizes.items())
        place = "" if each.state == "embedded" else _short(each.folder) if each.folder else each.source
        rows.append((each.name, splits, f"{each.image_size}×{each.image_size}", each.state, place))
    columns = ("data set", "images", "size", "state", "where")
    show_table(Table("Data sets", columns, rows, left=columns))
    return found


def _show(contents: "Contents") -> None:
    title = f"{contents.root}: {contents.total:,} images, read as {contents.layout}"
    splits = tuple(contents.counts)
    rows = [(each, *(f"{contents.counts[split].get(each, 0):,}" for split in splits)) for each in contents.classes]
    rows.append(("all classes", *(f"{sum(contents.counts[split].values()):,}" for split in splits)))
    show_table(Table(title, ("class", *splits), rows))
    if contents.domains:
        names = dict.fromkeys(name for each in contents.domains.values() for name in each)
        rows = [(each, *(f"{contents.domains[split].get(each, 0):,}" for split in splits)) for each in names]
        show_table(Table("Domains", ("domain", *splits), rows))
    if contents.groups:
        rows = [("groups", *(f"{contents.groups[split]:,}" for split in splits))]
        show_table(Table("Groups", ("", *splits), rows))
    print("\n".join([contents.size_line(), *(f"Note: {note}" for note in contents.notes)]))


def _short(path: Path) -> str:
    """A path below the home directory with a tilde."""
    return f"~/{path.relative_to(Path.home())}" if path.is_relative_to(Path.home()) else str(path)
