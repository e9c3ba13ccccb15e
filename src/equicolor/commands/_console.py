"""What the commands say beside their results: notes and progress bars, on stderr."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from equicolor._tools.optional import require


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
