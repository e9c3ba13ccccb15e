"""Files that are complete or not there: texts, tables as CSV, and pictures as PNG."""

import csv
import io
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Literal

#: How the names of unfinished files end.
PARTIAL = ".partial"


@contextmanager
def complete_file(path: Path, mode: Literal["w", "wb"] = "wb", durable: bool = False) -> Iterator[IO[Any]]:
    """A file to write, which takes its place under ``path`` only when the block ends well.

    What stood there before is kept until then. Links, devices and pipes stay what they are and are written through.

    Args:
        path: its name.
        mode: ``"w"`` for text, in UTF-8, or ``"wb"``.
        durable: wait until the disk has it, so that it also survives the machine.
    """
    text: dict[str, Any] = {"encoding": "utf-8", "newline": ""} if mode == "w" else {}
    if path.is_symlink() or (path.exists() and not path.is_file()):
        with path.open(mode, **text) as file:
            yield file
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=PARTIAL, dir=path.parent)
    partial = Path(name)
    try:
        with os.fdopen(handle, mode, **text) as file:
            yield file
            if durable:
                file.flush()
                os.fsync(file.fileno())
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


def write_text(path: Path, text: str, durable: bool = False) -> Path:
    """A text file."""
    with complete_file(path, "w", durable) as file:
        file.write(text)
    return path


def png(picture: Any) -> bytes:
    """A figure of matplotlib's, or an image of PIL's, as the contents of a PNG file."""
    data = io.BytesIO()
    if hasattr(picture, "savefig"):
        picture.savefig(data, format="png", dpi=130)
    else:
        picture.save(data, format="PNG", optimize=True)
    return data.getvalue()


def write_picture(path: Path, picture: Any) -> Path:
    """A figure of matplotlib's, or an image of PIL's, as a PNG file."""
    with complete_file(path) as file:
        file.write(png(picture))
    return path
