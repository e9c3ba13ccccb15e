"""The columns of a table that lists images, from CSV or Parquet, as text; of images in a table none is read."""

import csv
import difflib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from equicolor._tools.optional import require
from equicolor.data._errors import DataNotFoundError, reading

#: What is looked for, and under which names of columns; the first of them that is there is taken.
ROLES = {
    "file": ("file", "file_name", "path"),
    "image": ("image",),
    "class": ("class", "label_name", "label"),
    "split": ("split",),
    "domain": ("domain",),
    "group": ("group", "patient", "patient_id", "slide", "slide_id"),
}
_EXPECTED = "file (or, in Parquet, image) and class, and perhaps split, domain and group"


@dataclass(frozen=True)
class Listing:
    """What a table says of N images.

    Attributes:
        path: of the table.
        values: role → what each image has there; ``file``, ``class`` and perhaps ``split``, ``domain`` and ``group``.
        names: role → the column it was read from.
        unused: columns that say nothing to us.
        lines: of each image in a text file; empty for Parquet, which has none.
        count: N.
    """

    path: Path
    values: dict[str, list[str]]
    names: dict[str, str]
    unused: tuple[str, ...]
    lines: list[int]
    count: int

    def where(self, row: int) -> str:
        """What to call a row in an error: a line of a text file, counted as editors do; a row of Parquet, from 0 on."""
        return f"line {self.lines[row]}" if self.lines else f"row {row}"


def read_listing(path: Path) -> Listing:
    """The columns of a table that we know.

    Raises:
        DataNotFoundError: there is no such table, or nothing is listed in it.
        ValueError: a column is missing or misspelt, or a row has nothing in one.
    """
    if path.is_dir():
        raise ValueError(
            f"{path} is a folder, expected a table, .csv or .parquet; a folder of images is data set 'folder'"
        )
    if not path.is_file():
        raise DataNotFoundError(
            f"there is no table {path}: expected a CSV or Parquet file with the columns {_EXPECTED}"
        )
    listing = _from_parquet(path) if path.suffix.lower() == ".parquet" else _from_text(path)
    if not listing.count:
        raise DataNotFoundError(f"{path} lists no images")
    for role, values in listing.values.items():
        empty = next((row for row, value in enumerate(values) if not value), None)
        if empty is not None:
            raise ValueError(
                f"{listing.where(empty)} of {path} has nothing in the column {listing.names[role]!r}: every image "
                "needs an entry there, or the column must go"
            )
    return listing


# ------------------------------------------------------------------------------------------------ text


def _from_text(path: Path) -> Listing:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:  # Excel begins its files with a mark
            first = file.readline()
            file.seek(0)
            delimiter = max(",;\t", key=first.count)
            rows = list(_rows(csv.reader(file, delimiter=delimiter, skipinitialspace=True, strict=True)))
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8 ({error.reason}): save it as 'CSV UTF-8'") from None
    except csv.Error as error:
        raise ValueError(f"{path} is no readable CSV: {error}") from None
    if not rows:
        raise DataNotFoundError(f"{path} is empty: expected the columns {_EXPECTED}")
    header = [name.strip() for name in rows[0][1]]
    for line, row in rows[1:]:
        if len(row) != len(header):
            raise ValueError(
                f"line {line} of {path} has {len(row)} entries, expected {len(header)}: {', '.join(header)}"
            )
    names = _known(path, header)
    if "image" in names:
        names.setdefault("file", names["image"])
        del names["image"]
    _require(path, names, header, "file")
    places = {role: header.index(name) for role, name in names.items()}
    values = {role: [row[place].strip() for _, row in rows[1:]] for role, place in places.items()}
    lines = [line for line, _ in rows[1:]]
    return Listing(path, values, names, _rest(header, names), lines, len(lines))


def _rows(reader: Any) -> Iterator[tuple[int, list[str]]]:
    """Rows with the line that each begins on, blank ones left out."""
    line = 1
    for row in reader:
        if any(cell.strip() for cell in row):
            yield line, row
        line = reader.line_num + 1


# ------------------------------------------------------------------------------------------------ Parquet


def _from_parquet(path: Path) -> Listing:
    arrow, parquet = (require(name, "reading Parquet files") for name in ("pyarrow", "pyarrow.parquet"))
    with reading(path):
        schema, count = parquet.read_schema(path), parquet.read_metadata(path).num_rows
    names = _known(path, schema.names)
    if "image" in names:
        kind = schema.field(names["image"]).type
        held = kind.field("bytes").type if arrow.types.is_struct(kind) and kind.get_field_index("bytes") >= 0 else kind
        if arrow.types.is_string(kind) or arrow.types.is_large_string(kind):
            names.setdefault("file", names["image"])
            del names["image"]
        elif not (arrow.types.is_binary(held) or arrow.types.is_large_binary(held)):
            raise ValueError(
                f"the column {names['image']!r} of {path} holds {kind}, expected encoded images: bytes, or bytes and "
                "path"
            )
    if "image" in names:
        names.pop("file", None)
    _require(path, names, schema.names, "file" if "image" not in names else "image")
    wanted = {role: name for role, name in names.items() if role != "image"}
    with reading(path):
        columns = parquet.read_table(path, columns=sorted(set(wanted.values()))).to_pydict()
    values = {role: [_text(value) for value in columns[name]] for role, name in wanted.items()}
    return Listing(path, values, names, _rest(schema.names, names), [], count)


def _text(value: Any) -> str:
    """A cell as text; whole numbers that pandas made floats of, as whole numbers; nothing for what is missing."""
    if value is None or value != value:
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip()


# ------------------------------------------------------------------------------------------------ both


def _known(path: Path, header: list[str]) -> dict[str, str]:
    """Role → the column that has it.

    Raises:
        ValueError: a column is there twice, or has almost the name of one that is missing.
    """
    lower = {name.lower(): name for name in header}
    if len(lower) < len(header):
        twice = next(name for name in header if lower[name.lower()] != name or header.count(name) > 1)
        raise ValueError(f"{path} has the column {twice!r} twice")
    names = {}
    for role, synonyms in ROLES.items():
        there = [lower[name] for name in synonyms if name in lower]
        if there:
            names[role] = there[0]
    known = {name for synonyms in ROLES.values() for name in synonyms}
    missing = [name for role, synonyms in ROLES.items() if role not in names for name in synonyms]
    for name in header:
        close = [] if name.lower() in known else difflib.get_close_matches(name.lower(), missing, n=1, cutoff=0.8)
        if close:
            raise ValueError(
                f"{path} has a column {name!r}: did you mean {close[0]!r}? Rename it; if it is something else, to a "
                "name less alike"
            )
    return names


def _require(path: Path, names: dict[str, str], header: list[str], image: str) -> None:
    missing = [role for role in (image, "class") if role not in names]
    if missing:
        raise ValueError(
            f"{path} lacks the column{'s' * (len(missing) > 1)} {' and '.join(missing)}: expected {_EXPECTED}; it has "
            f"{', '.join(header)}"
        )


def _rest(header: list[str], names: dict[str, str]) -> tuple[str, ...]:
    return tuple(name for name in header if name not in names.values())


def whole(path: Path, name: str) -> str:
    """The path of a file that a table names, from the folder of the table on."""
    return os.path.normpath(os.path.join(path.parent, name))
