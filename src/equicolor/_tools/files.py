"""Files that are complete or not there: texts, JSON, tables as CSV, and pictures as PNG."""

import hashlib
import io
import json
import math
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Literal

from equicolor._tools.cells import csv_line

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
        partial.chmod(0o644)
        put_in_place(partial, path, durable)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


@contextmanager
def complete_files(folder: Path, last: str, durable: bool = False) -> Iterator[Path]:
    """A folder to write files into, which take their places in ``folder`` only when the block ends well.

    Args:
        folder: where they belong; made where it does not exist.
        last: the name of the one that speaks of the others, and so is moved last.
        durable: wait until the disk has all of them before the first is moved.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{last}.", suffix=PARTIAL, dir=folder) as scratch:
        yield Path(scratch)
        written = sorted(Path(scratch).iterdir(), key=lambda file: file.name == last)
        for file in written if durable else ():
            _synchronise(file)
        for file in written:
            put_in_place(file, folder / file.name)


def put_in_place(partial: Path, path: Path, durable: bool = False) -> None:
    """Gives a finished file its name; ``durable``: so that both are still there should the machine fail."""
    if durable:
        _synchronise(partial)
    partial.replace(path)
    if durable and os.name == "posix":  # Windows cannot synchronise folders
        _synchronise(path.parent)


def _synchronise(path: Path) -> None:
    """Waits until the disk has a file, or what a folder lists."""
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)  # Windows synchronises what could be written
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def digest(path: Path, kind: Literal["sha256", "md5"] = "sha256") -> str:
    """The checksum of a file, read piece by piece."""
    found = hashlib.new(kind, usedforsecurity=False)
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            found.update(block)
    return found.hexdigest()


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


def json_text(content: Any, indent: int | None = None) -> str:
    """A value as JSON. JSON has no NaN and no infinity, which most readers refuse: they become null.

    >>> json_text({"auc": float("nan"), "counts": (1, 2)})
    '{"auc": null, "counts": [1, 2]}'
    """
    return json.dumps(_without_nan(content), indent=indent, ensure_ascii=False, allow_nan=False)


def _without_nan(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: _without_nan(each) for name, each in value.items()}
    return [_without_nan(each) for each in value] if isinstance(value, list | tuple) else value


def write_json(path: Path, content: Any, durable: bool = False) -> Path:
    """A value as a JSON file, see :func:`json_text`."""
    return write_text(path, json_text(content, indent=2) + "\n", durable)


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
