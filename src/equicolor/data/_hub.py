"""Tables of encoded images through Hugging Face ``datasets``: from the hub, or Parquet files in the hub's layout."""

from pathlib import Path
from typing import Any

import torch

from equicolor._tools.images import Decoding
from equicolor._tools.optional import require
from equicolor.data._description import Description, Hub, Raw
from equicolor.data._errors import DataNotFoundError, reading
from equicolor.data._sources import Table


def parquet_files(folder: Path, hub_split: str) -> list[Path]:
    """The Parquet files of a split, as the hub names them: ``train-00000-of-00001.parquet``."""
    return sorted(path for place in (folder, folder / "data") for path in place.glob(f"{hub_split}-*.parquet"))


def from_parquet(description: Description, split: str, files: list[Path], how: Decoding, cache: Path | None) -> Raw:
    """A split from files on disk."""
    names = [str(path) for path in files]
    with reading(files[0] if len(files) == 1 else files[0].parent):
        table = _load("parquet", data_files={"data": names}, split="data", cache_dir=cache)
        return _raw(description, split, table, how, names[0])


def from_hub(description: Description, split: str, how: Decoding, cache: Path | None) -> Raw:
    """A split from the hub: downloaded once, with a progress bar, resumable and locked, then memory-mapped.

    Raises:
        DataNotFoundError: where the hub cannot be reached, or asks for terms to be accepted first.
    """
    hub = _hub(description)
    require("datasets", "reading the hub")
    try:
        table = _load(hub.path, split=hub.splits[split], cache_dir=cache)
    except Exception as error:  # the hub's client has a dozen ways to say that it got nothing
        raise DataNotFoundError(f"the hub's {hub.path} cannot be read: {type(error).__name__}: {error}") from error
    return _raw(description, split, table, how, hub.path)


def _hub(description: Description) -> Hub:
    if description.hub is None:
        raise DataNotFoundError(f"the hub has no {description.name}")
    return description.hub


def _load(path: str, cache_dir: Path | None, **arguments: Any) -> Any:
    datasets = require("datasets", "reading Parquet files and the hub")
    return datasets.load_dataset(path, cache_dir=None if cache_dir is None else str(cache_dir), **arguments)


def _raw(description: Description, split: str, table: Any, how: Decoding, title: str) -> Raw:
    hub = _hub(description)
    columns = () if hub.selects else tuple(description.splits[split].only)
    if missing := [name for name in (hub.image, hub.label, *columns) if name not in table.column_names]:
        raise ValueError(f"{title} lacks the columns {', '.join(missing)}; it has {', '.join(table.column_names)}")
    datasets = require("datasets", "reading Parquet files and the hub")
    table = table.cast_column(hub.image, datasets.Image(decode=False))
    numbers = table.with_format("numpy")
    labels = torch.as_tensor(numbers[hub.label][:]).long()
    known = getattr(table.features[hub.label], "names", None) or description.classes
    classes = tuple(known) or tuple(map(str, range(int(labels.max()) + 1)))
    if len(labels) and not 0 <= int(labels.min()) <= int(labels.max()) < len(classes):
        raise ValueError(
            f"{title} has labels from {int(labels.min())} to {int(labels.max())} for {len(classes)} classes"
        )
    return Raw(
        Table(table, hub.image, how, title),
        labels,
        classes,
        columns={name: torch.as_tensor(numbers[name][:]).long() for name in columns},
    )
