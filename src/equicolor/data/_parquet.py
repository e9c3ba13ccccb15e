"""Parquet files of encoded images, on disk or at an address, read by row groups: no less of them can be read."""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from equicolor._tools.optional import require
from equicolor.data._errors import reading
from equicolor.data._remote import is_address, open_file
from equicolor.data._sources import encoded

#: What columns of images are called, the first that is there.
IMAGE_COLUMNS = ("image", "img", "jpg", "png", "bytes")


@dataclass(frozen=True)
class Footer:
    """What the end of a Parquet file says about it.

    Attributes:
        groups: how many rows each of its row groups has.
        columns: the names of its columns.
        metadata: what was written beside them.
    """

    groups: tuple[int, ...]
    columns: tuple[str, ...]
    metadata: dict[bytes, bytes]


def read_footer(place: str) -> Footer:
    """Reads the footer of a Parquet file: a few kilobytes, once.

    What is at an address is taken not to change while this process lives.

    Args:
        place: the file, by its path or address.

    Returns:
        The footer.

    Raises:
        ValueError: the file is damaged; it is named.
    """
    if is_address(place):
        return _footer(place, None)
    with reading(place):
        found = Path(place).stat()
    return _footer(place, (found.st_mtime_ns, found.st_size))


@lru_cache(maxsize=4096)
def _footer(place: str, stamp: tuple[int, int] | None) -> Footer:
    """The same, as it was at a time."""
    parquet = require("pyarrow.parquet", "reading Parquet files")
    with reading(place), open_file(place) as file:
        found = parquet.ParquetFile(file)
        groups = tuple(found.metadata.row_group(group).num_rows for group in range(found.num_row_groups))
        return Footer(groups, tuple(found.schema_arrow.names), dict(found.schema_arrow.metadata or {}))


def image_column(place: str) -> str:
    """The name of the column of images in a Parquet file.

    Args:
        place: the file, by its path or address.

    Returns:
        The name.

    Raises:
        ValueError: there is none, as for :func:`named_column`.
    """
    return named_column(place, IMAGE_COLUMNS, "images")


def named_column(place: str, names: Sequence[str], what: str) -> str:
    """The first of ``names`` that is a column of a file.

    Raises:
        ValueError: there is none; it is said which columns there are.
    """
    columns = read_footer(place).columns
    for name in names:
        if name in columns:
            return name
    expected = " or ".join((", ".join(names[:-1]), names[-1]))
    raise ValueError(f"{place} has no column of {what}: expected {expected}, got {', '.join(columns)}")


def read_column(place: str, column: str) -> list[Any]:
    """One column of a whole file; of the others nothing is read."""
    parquet = require("pyarrow.parquet", "reading Parquet files")
    with reading(place), open_file(place) as file:
        cells: list[Any] = parquet.ParquetFile(file).read(columns=[column]).column(0).to_pylist()
        return cells


def first_images(place: str, count: int) -> list[bytes | Path]:
    """The encoded images of the first rows of a file."""
    parquet = require("pyarrow.parquet", "reading Parquet files")
    with reading(place), open_file(place) as file:
        batches = parquet.ParquetFile(file).iter_batches(count, row_groups=[0], columns=[image_column(place)])
        batch = next(batches, None)
        return [encoded(cell, Path(place).parent) for cell in ([] if batch is None else batch.column(0).to_pylist())]


def read_cells(place: str, group: int, column: str) -> list[Any]:
    """One column of a row group."""
    parquet = require("pyarrow.parquet", "reading Parquet files")
    with reading(place), open_file(place) as file:
        cells: list[Any] = parquet.ParquetFile(file).read_row_group(group, columns=[column]).column(0).to_pylist()
        return cells


class GroupCache:
    """A cache of the row groups that were asked for last, as encoded images.

    Threads that want one wait for one to read it.

    Args:
        most: how many groups are held.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._held: OrderedDict[tuple[str, int], list[Any]] = OrderedDict()
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {"most": self.most}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    def image(self, place: str, column: str, group: int, row: int) -> bytes | Path:
        """The encoded image in a row of a group.

        Args:
            place: the Parquet file, by its path or address.
            column: the column of images.
            group: the number of the row group.
            row: the row in the group.

        Returns:
            The encoded image, or the path of the file that the row names.
        """
        key = (place, group)
        with self._lock:
            if key not in self._held:
                while len(self._held) >= self.most:
                    self._held.popitem(last=False)
                self._held[key] = read_cells(place, group, column)
            self._held.move_to_end(key)
            cell = self._held[key][row]
        return encoded(cell, Path(place).parent)
