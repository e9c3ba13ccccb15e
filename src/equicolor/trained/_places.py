"""Images that are no files of this machine: at an address of an object store, or a row of a Parquet file."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TypeAlias

from equicolor.data import IMAGE_SUFFIXES, GroupCache, find_files, image_column, is_address, read_bytes, read_footer

#: Is told of each file that cannot be used: its name, and why.
OnBad: TypeAlias = Callable[[str, str], None]
#: Of the Parquet files that threads read at the moment; rows are asked for in their order.
_CACHE = GroupCache(most=4)


@dataclass(frozen=True)
class Elsewhere:
    """A file at an address, ``s3://bucket/cat.png``."""

    address: str

    def __str__(self) -> str:
        return self.address

    def data(self) -> bytes:
        """The encoded image."""
        return read_bytes(self.address)


@dataclass(frozen=True)
class TableRow:
    """A row of a Parquet file, on disk or at an address; called by its number, from 0 on: ``cells.parquet#17``."""

    table: str
    column: str
    number: int
    group: int
    row: int

    def __str__(self) -> str:
        return f"{self.table}#{self.number}"

    def data(self) -> bytes | Path:
        """The encoded image."""
        return _CACHE.image(self.table, self.column, self.group, self.row)


#: Where an image is.
Place: TypeAlias = Path | Elsewhere | TableRow


def places_at(address: str, on_bad: OnBad) -> list[Place]:
    """What an address stands for: a file, a folder with all below it, or a glob. Parquet files stand for their rows."""
    try:
        files = find_files(address)
    except (ValueError, OSError) as error:
        on_bad(address, str(error) or type(error).__name__)
        return []
    is_folder = files != [address] and not any(mark in address for mark in "*?[")
    known = {*IMAGE_SUFFIXES, ".parquet"}
    chosen = [file for file in files if not is_folder or PurePosixPath(file).suffix.lower() in known]
    if not chosen:
        on_bad(address, "the folder holds no images")
    return [place for file in chosen for place in rows_or_itself(file, on_bad)]


def rows_or_itself(file: str, on_bad: OnBad) -> list[Place]:
    """The rows of a Parquet file; any other file as it is."""
    if not file.lower().endswith(".parquet"):
        return [Elsewhere(file) if is_address(file) else Path(file)]
    try:
        column, groups = image_column(file), read_footer(file).groups
    except (ValueError, OSError) as error:
        on_bad(file, str(error))
        return []
    numbers = iter(range(sum(groups)))
    return [
        TableRow(file, column, next(numbers), group, row) for group, count in enumerate(groups) for row in range(count)
    ]
