"""Tables that a person reads: what is in one, and how it is printed."""

from collections.abc import Sequence
from dataclasses import dataclass

from equicolor._tools.optional import require

#: Of a table that goes to a file or a pipe, in characters.
_WIDTH = 120
#: Words that take more than so many characters may be folded.
_FOLDED = 24


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
    """Prints a table. Numbers are never cut: those that do not fit into a narrow terminal follow in a second part."""
    console = require("rich.console", "printing tables").Console(markup=False)  # a cell may say [reduced]
    if not console.is_terminal:
        console.width = _WIDTH
    console.print(table.title, style="bold", highlight=False, markup=False)
    box = require("rich.box", "printing tables").SIMPLE_HEAD
    left = table.columns[:1] if table.left is None else table.left
    for places in _parts(table, left, console.width):
        made = require("rich.table", "printing tables").Table(box=box, pad_edge=False)
        for place in places:
            words = table.columns[place] in left
            header = table.columns[place]
            made.add_column(header, justify="left" if words else "right", no_wrap=not words, overflow="fold")
        for row in table.rows:
            made.add_row(*(str(row[place]) for place in places))
        console.print(made)


def _parts(table: Table, left: Sequence[str], width: int) -> list[list[int]]:
    """The columns of each part: words are in all of them, and numbers in the first where there is room."""
    cells = [[name, *(str(row[place]) for row in table.rows)] for place, name in enumerate(table.columns)]
    widths = [3 + max(len(line) for cell in column for line in cell.split("\n")) for column in cells]
    words = [place for place, name in enumerate(table.columns) if name in left]
    room = width - sum(min(widths[place], _FOLDED) for place in words)
    parts: list[list[int]] = []
    free = 0
    for place in range(len(widths)):
        if place in words:
            continue
        if not parts or widths[place] > free:
            parts.append([])
            free = room
        parts[-1].append(place)
        free -= widths[place]
    return [sorted([*words, *part]) for part in parts] or [words]
