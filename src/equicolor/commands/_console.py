"""How the commands show what they found: tables, notes and progress bars."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

from equicolor._tools.optional import require

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
