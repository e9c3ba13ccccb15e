"""The one progress bar: what is done, images per second and the time left. It is shown on a terminal alone."""

import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sized
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any, TypeAlias, TypeVar

from equicolor._tools.optional import require
from equicolor._tools.words import spoken_time

Each = TypeVar("Each")
#: Takes a title and how many there are, and gives what is told how many more have been done.
Watch: TypeAlias = Callable[[str, int], AbstractContextManager[Callable[[int], None]]]

#: What is over sooner has no bar, in seconds.
_AFTER = 0.5
#: Where nobody watches, a line is written no more often than this, in seconds: a log says that it goes on.
_LINE_EVERY = 60.0


def bar_columns(rich: Any, *between: Any) -> tuple[Any, ...]:
    """What a bar consists of: what is done, how much of it, what stands ``between``, and both times."""
    return (
        rich.TextColumn("{task.description}"),
        rich.BarColumn(),
        rich.MofNCompleteColumn(),
        *between,
        rich.TimeElapsedColumn(),
        rich.TextColumn("left"),
        rich.TimeRemainingColumn(),
    )


@contextmanager
def progress(
    title: str, total: int | None, shown: bool = True, unit: str = "images", *, still: bool = False
) -> Iterator[Callable[[int], None]]:
    """A bar on stderr while the block runs; where stderr is no terminal, a line a minute.

    Args:
        title: what is being done.
        total: how many there are; None where that is not known.
        shown: nothing at all if not.
        unit: what is counted; of images it is also said how many each second.
        still: nothing is drawn but when told of more, so that what is timed in between is alone on the machine.

    Yields:
        What is told how many more have been done.
    """
    if not shown:
        yield lambda count: None
        return
    console = require("rich.console", "showing progress").Console(stderr=True)
    drawn = (_still_bar if still else _bar) if console.is_terminal else _lines
    with drawn(title, total, unit, console) as advance:
        yield advance


#: No bar: where nobody asked for one.
unwatched: Watch = partial(progress, shown=False)


@contextmanager
def _bar(title: str, total: int | None, unit: str, console: Any) -> Iterator[Callable[[int], None]]:
    rich = require("rich.progress", "showing progress")
    bar = rich.Progress(*bar_columns(rich, rich.TextColumn("{task.fields[speed]}")), console=console, transient=True)
    task, start, done = bar.add_task(title, total=total, speed=""), time.monotonic(), 0
    later = threading.Timer(_AFTER, bar.start)  # whether or not the first of them is done by then
    later.daemon = True
    later.start()

    def advance(count: int) -> None:
        nonlocal done
        done += count
        seconds = time.monotonic() - start
        bar.update(task, advance=count, speed=per_second(done, seconds) if unit == "images" else "")

    try:
        yield advance
    finally:
        later.cancel()
        later.join()  # it may just be starting
        bar.stop()


@contextmanager
def _still_bar(title: str, total: int | None, unit: str, console: Any) -> Iterator[Callable[[int], None]]:
    rich = require("rich.progress", "showing progress")
    with rich.Progress(*bar_columns(rich), console=console, transient=True, auto_refresh=False) as bar:
        task = bar.add_task(title, total=total)
        bar.refresh()
        yield lambda count: bar.update(task, advance=count, refresh=True)


@contextmanager
def _lines(title: str, total: int | None, unit: str, console: Any) -> Iterator[Callable[[int], None]]:
    start = said = time.monotonic()
    done = 0

    def advance(count: int) -> None:
        nonlocal done, said
        done += count
        now = time.monotonic()
        if now - said < _LINE_EVERY:
            return
        said = now
        of = "" if total is None else f" of {total:,}"
        left = "" if not total or not done else f", about {spoken_time((now - start) * (total - done) / done)} left"
        speed = f", {per_second(done, now - start)}" if unit == "images" else f" {unit}"
        print(f"{title}: {done:,}{of}{speed}{left}", file=sys.stderr, flush=True)

    yield advance


def counted(batches: Iterable[tuple[Each, Sized]], advance: Callable[[int], None]) -> Iterator[tuple[Each, Any]]:
    """Names and batches of images as they come; when the next is asked for, the one before is done."""
    for names, batch in batches:
        yield names, batch
        advance(len(batch))


def per_second(images: int, seconds: float) -> str:
    """How fast it was.

    >>> per_second(1200, 0.5), per_second(1, 8)
    ('2,400 images/s', '0.12 images/s')
    """
    rate = images / max(seconds, 1e-9)
    return f"{rate:,.0f} images/s" if rate >= 10 else f"{rate:.2g} images/s"
