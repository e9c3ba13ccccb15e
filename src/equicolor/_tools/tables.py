"""Tables that a person reads: what is in one, and how it is printed."""

from collections.abc import Sequence
from dataclasses import dataclass

from equicolor._tools.optional import require

#: Of a table that goes to a file or a pipe, in characters.
_WIDTH = 120


@dataclass(frozen=True)
class Table:
    """A table under its title.

    Attributes:
        title: above it.
        columns: their names.
        rows: the cells, texts or what becomes text.
        left: the names of columns whose cells stand at the left, as words do; by default the first.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    left: Sequence[str] | None = None


def show_table(table: Table) -> None:
    """Prints a table."""
    box = require("rich.box", "printing tables").SIMPLE_HEAD
    made = require("rich.table", "printing tables").Table(box=box, pad_edge=False)
    left = table.columns[:1] if table.left is None else table.left
    for column in table.columns:
        words = column in left
        made.add_column(column, justify="left" if words else "right", no_wrap=not words, overflow="fold")
    for row in table.rows:
        made.add_row(*map(str, row))
    console = require("rich.console", "printing tables").Console(markup=False)  # a cell may say [reduced]
    if not console.is_terminal:
        console.width = _WIDTH
    console.print(table.title, style="bold", highlight=False, markup=False)
    console.print(made)
