"""Predictions as rows of text, CSV or JSON, and as Parquet."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal, TypeAlias

from equicolor._tools.cells import csv_line, printable, read_csv_line, six_digits
from equicolor._tools.files import complete_file
from equicolor._tools.optional import require

Format: TypeAlias = Literal["csv", "jsonl", "parquet"]

#: Rows of a Parquet file that are in memory together.
_ROWS_AT_ONCE = 4096


@dataclass(frozen=True)
class Layout:
    """How rows are written: one line each. Parquet, which takes no lines, is made of those of JSON in the end."""

    format: Format
    classes: tuple[str, ...]

    @classmethod
    def of(cls, format_: Format | None, out: Path | None, classes: Sequence[str]) -> "Layout":
        """That of ``format_``, which the end of a file's name says where nobody else does.

        Raises:
            ValueError: the format cannot hold these classes.
        """
        suffix = "" if out is None else out.suffix.lower()
        found = format_ or {".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}.get(suffix, "csv")
        names = tuple(map(printable, classes))
        if twice := sorted({name for name in names if found != "csv" and names.count(name) > 1}):
            raise ValueError(f"several classes are called {twice[0]!r}, which only --format csv can hold")
        return cls(found, names)  # type: ignore[arg-type]

    @property
    def columns(self) -> list[str]:
        """Of a table."""
        return ["path", "class", "probability", *(f"p({name})" for name in self.classes)]

    @property
    def header(self) -> str:
        """What comes before the first row."""
        return csv_line(self.columns) if self.format == "csv" else ""

    def line(self, path: str, label: str, probability: float, probabilities: Iterable[float]) -> str:
        """One row."""
        cells = [printable(path), printable(label), six_digits(probability), *map(six_digits, probabilities)]
        if self.format == "csv":
            return csv_line(cells)
        row = dict(zip(self.columns[:3], cells[:3], strict=True))
        row["probabilities"] = dict(zip(self.classes, cells[3:], strict=True))
        return json.dumps(row, ensure_ascii=False) + "\n"

    def name(self, line: str) -> str:
        """The printable path in a row.

        Raises:
            ValueError: it is no row, or none of this layout.
        """
        if self.format == "csv":
            cells = read_csv_line(line)
            for number in cells[2:]:
                float(number)
            if len(cells) != len(self.columns):
                raise ValueError(f"expected {len(self.columns)} cells, got {len(cells)}")
            return cells[0]
        row = json.loads(line)
        if not isinstance(row, dict) or tuple(row.get("probabilities", ())) != self.classes:
            raise ValueError("expected an object with path, class, probability and probabilities")
        return str(row["path"])


def write_parquet(lines: Path, out: Path, layout: Layout, advance: Callable[[int], None] = lambda _: None) -> None:
    """Makes a table with the columns of the CSV file out of lines of JSON, some thousand rows at a time."""
    arrow = require("pyarrow", "writing Parquet files")
    parquet = require("pyarrow.parquet", "writing Parquet files")
    kinds = [arrow.string(), arrow.string(), *([arrow.float64()] * (len(layout.classes) + 1))]
    schema = arrow.schema(list(zip(layout.columns, kinds, strict=True)))
    with (
        lines.open(encoding="utf-8") as given,
        complete_file(out) as file,
        parquet.ParquetWriter(file, schema) as writer,
    ):
        while some := [_cells(json.loads(line)) for line in islice(given, _ROWS_AT_ONCE)]:
            arrays = [arrow.array(column, kind) for column, kind in zip(zip(*some, strict=True), kinds, strict=True)]
            writer.write_table(arrow.Table.from_arrays(arrays, schema=schema))
            advance(len(some))


def _cells(row: dict[str, Any]) -> list[Any]:
    return [row["path"], row["class"], row["probability"], *row["probabilities"].values()]
