"""Where rows go as they come. A file has its name only when it is complete, and one that was stopped can go on."""

import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from equicolor._tools.files import PARTIAL, put_in_place, write_text
from equicolor.commands import _console as console
from equicolor.commands._rows import Layout, write_parquet


class Output:
    """Rows on their way out, as many together as a batch has; a stopped file then has whole batches.

    Attributes:
        count: rows so far, with those from before.
    """

    def __init__(self, file: IO[str], layout: Layout, batch_size: int) -> None:
        self._file, self._layout, self._batch_size = file, layout, batch_size
        self._waiting: list[str] = []
        self._before: Counter[str] = Counter()
        self.count = 0

    def is_there(self, name: str) -> bool:
        """Whether there is a row of this printable name from before. Each speaks for one image."""
        there = self._before[name] > 0
        if there:
            self._before[name] -= 1
        return there

    def add(self, *row: Any) -> None:
        """One more row, see :meth:`Layout.line`."""
        self._waiting.append(self._layout.line(*row))
        self.count += 1
        if len(self._waiting) == self._batch_size:
            self.flush()

    def flush(self) -> None:
        """Hands what waits to the system, which keeps it even if we are killed."""
        self._file.write("".join(self._waiting))
        self._file.flush()
        self._waiting.clear()

    def go_on(self, names: list[str]) -> None:
        """Rows of these names are there."""
        self._before.update(names)
        self.count += len(names)


@contextmanager
def stream(out: Path | None, layout: Layout, batch_size: int) -> Iterator[Output]:
    """Rows to the terminal, or into a device or a pipe."""
    if layout.format == "parquet":
        raise ValueError("--format parquet needs a file: --out FILE")
    file = sys.stdout if out is None else out.open("w", encoding="utf-8", newline="")
    try:
        file.write(layout.header)
        output = Output(file, layout, batch_size)
        yield output
        output.flush()
    finally:
        if out is not None:
            file.close()


@contextmanager
def resumable(out: Path, layout: Layout, batch_size: int, about: Mapping[str, Any], resume: bool) -> Iterator[Output]:
    """Rows into a file. Until all are there it is called ``*.partial``; ``*.partial.json`` says what it has rows of.

    Args:
        out: its name in the end; what stood there before is kept until then.
        layout: of the rows.
        batch_size: how many rows are handed over together.
        about: what rows depend on: those of something else are not gone on with.
        resume: go on where it was stopped, if it was.

    Raises:
        ValueError: it was stopped and is not to go on, it has rows of something else, or somebody else writes it now.
    """
    partial = _partial(out)
    description = partial.with_name(partial.name + ".json")
    about = {"format": layout.format, "columns": layout.columns, "batch_size": batch_size, **about}
    out.parent.mkdir(parents=True, exist_ok=True)
    with partial.open("a+", encoding="utf-8", newline="") as file:
        _lock(file, partial)
        names, end = list[str](), 0
        if _lines(partial) > bool(layout.header):
            if not resume:
                raise ValueError(
                    f"{partial} has rows of a prediction that was stopped: add --resume to go on from there, or delete "
                    "it to begin anew"
                )
            _check_same(about, description, partial)
            names, end = _complete_rows(partial, layout, batch_size)
        file.truncate(end)
        write_text(description, json.dumps(about, indent=2) + "\n")
        output = Output(file, layout, batch_size)
        if not end:
            file.write(layout.header)
        output.go_on(names)
        try:
            yield output
            output.flush()
        except BaseException as error:
            with suppress(OSError):  # of a full disk, once more
                file.close()
            if partial.stat().st_size <= len(layout.header.encode()):  # nothing to go on from
                partial.unlink()
                description.unlink(missing_ok=True)
            else:
                console.note(f"What was predicted is in {partial}: the same command with --resume goes on from there.")
            if isinstance(error, OSError) and error.filename is None:
                raise OSError(error.errno, error.strerror, str(partial)) from error
            raise
    if layout.format == "parquet":
        write_parquet(partial, out, layout)
        partial.unlink()
    else:
        put_in_place(partial, out, durable=True)
    description.unlink(missing_ok=True)


def _lock(file: IO[str], partial: Path) -> None:
    """Of two commands that write one file, the second stops."""
    try:
        import fcntl
    except ImportError:  # Windows
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise ValueError(f"another command is writing {partial} at this moment") from None
    except OSError:  # this file system has no locks
        return


def _lines(partial: Path) -> int:
    with partial.open("rb") as file:
        return sum(1 for _ in file)


def _complete_rows(partial: Path, layout: Layout, batch_size: int) -> tuple[list[str], int]:
    """The names of the rows that are there in whole batches, and where the last of those ends.

    What follows was cut off, or a disk failed; it is predicted again. And so is half a batch: whole ones give the same
    numbers, to the last digit, as if nothing had stopped.
    """
    names, batch = list[str](), list[str]()
    header = layout.header.encode()
    end = position = len(header)
    with partial.open("rb") as file:
        if header and file.readline() != header:
            return [], 0
        for line in file:
            try:
                batch.append(layout.name(line.decode("utf-8")))
            except (ValueError, KeyError, TypeError):
                break
            if not line.endswith(b"\n"):
                break
            position += len(line)
            if len(batch) == batch_size:
                names += batch
                batch.clear()
                end = position
    return names, end


def _check_same(about: dict[str, Any], description: Path, partial: Path) -> None:
    try:
        before = json.loads(description.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        before = None
    if not isinstance(before, dict):
        raise ValueError(
            f"{description}, which says what {partial} has rows of, cannot be read: delete both to begin anew"
        )
    if others := [name for name in about if about[name] != before.get(name)]:
        was, now = before.get(others[0]), about[others[0]]
        raise ValueError(
            f"{partial} has rows of another prediction: its {others[0]} was {was}, now it is {now}. Give the same "
            "again, or delete it to begin anew"
        )


def write_output(
    out: Path | None, layout: Layout, batch_size: int, about: Mapping[str, Any], resume: bool
) -> AbstractContextManager[Output]:
    """Rows to ``out``, or to the terminal, as they come; see :func:`resumable`."""
    if out is not None and out.is_symlink():
        out = out.resolve()  # links stay what they are
    if out is not None and (out.is_file() or not out.exists()):
        return resumable(out, layout, batch_size, about, resume)
    if resume:
        raise ValueError("--resume needs a file to go on with: --out FILE")
    return stream(out, layout, batch_size)


def is_complete(out: Path) -> bool:
    """Whether a file has been written to its end."""
    return out.is_file() and not _partial(out.resolve() if out.is_symlink() else out).exists()


def _partial(out: Path) -> Path:
    return out.with_name(out.name + PARTIAL)
