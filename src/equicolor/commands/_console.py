"""How the commands give what they found: tables, progress bars, and files that are complete or not there."""

import csv
import io
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Literal

from equicolor.data._lazy import require

#: Of a table that goes to a file or a pipe, in characters.
_WIDTH = 120


def show_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]], left: Sequence[str] = ()) -> None:
    """Prints a table; numbers stand at the right, the columns named in ``left`` at the left."""
    box = require("rich.box", "printing tables").SIMPLE_HEAD
    table = require("rich.table", "printing tables").Table(box=box, pad_edge=False)
    for column in columns:
        words = column in left
        table.add_column(column, justify="left" if words else "right", no_wrap=not words, overflow="fold")
    for row in rows:
        table.add_row(*map(str, row))
    console = require("rich.console", "printing tables").Console(markup=False)  # a cell may say [reduced]
    if not console.is_terminal:
        console.width = _WIDTH
    console.print(title, style="bold", highlight=False, markup=False)
    console.print(table)


def note(message: str) -> None:
    """A line for the user, beside the results and not among them."""
    print(message, file=sys.stderr)


@contextmanager
def progress(title: str, total: int) -> Iterator[Callable[[int], None]]:
    """A bar on stderr while the block runs, with the time that is left; nothing where nobody watches."""
    rich = require("rich.progress", "showing progress")
    console = require("rich.console", "showing progress").Console(stderr=True)
    columns = (*rich.Progress.get_default_columns(), rich.MofNCompleteColumn())
    with rich.Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task(title, total=total)
        yield lambda count: bar.advance(task, count)


@contextmanager
def complete_file(path: Path, mode: Literal["w", "wb"] = "wb") -> Iterator[IO[Any]]:
    """A file to write, which takes its place under ``path`` only when the block ends well.

    What stood there before is kept until then. Links, devices and pipes stay what they are and are written through.
    """
    text: dict[str, Any] = {"encoding": "utf-8", "newline": ""} if mode == "w" else {}
    if path.is_symlink() or (path.exists() and not path.is_file()):
        with path.open(mode, **text) as file:
            yield file
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".partial", dir=path.parent)
    partial = Path(name)
    try:
        with os.fdopen(handle, mode, **text) as file:
            yield file
        partial.chmod(0o644)
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def csv_line(values: Sequence[object]) -> str:
    """A row of a CSV file, quoted where it must be."""
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(values)
    return line.getvalue()


def write_csv(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> Path:
    """A table as a CSV file."""
    with complete_file(path, "w") as file:
        file.writelines(map(csv_line, (header, *rows)))
    return path


def write_figure(path: Path, figure: Any) -> Path:
    """A figure of matplotlib's as a PNG file."""
    with complete_file(path) as file:
        figure.savefig(file, format="png", dpi=130)
    return path
