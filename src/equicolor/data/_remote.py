"""Files at an address: on S3, GCS, Azure, the hub, a web server, or wherever else fsspec reaches."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from equicolor._tools.images import IMAGE_SUFFIXES
from equicolor._tools.optional import require
from equicolor.data._errors import DataNotFoundError

#: What begins like this is an address: two letters at least, as ``C:`` is a disk.
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
#: The same, after it has been a path of Python's, which takes double slashes for one.
_FOLDED = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/(?!/)")
#: What files that are asked for by name are called.
_FILES = (*sorted(IMAGE_SUFFIXES), ".parquet")
_PURPOSE = "reading files at an address"


def is_address(name: str) -> bool:
    """Whether a name is the address of a file or folder elsewhere.

    Args:
        name: the name.

    Returns:
        True for an address.

    Example:
        >>> is_address("s3://bucket/photos"), is_address("photos/cat.png"), is_address("C:/photos")
        (True, False, False)
    """
    return _SCHEME.match(name) is not None


def as_address(path: Path) -> str | None:
    """The address that was made a path, with its two slashes again; None of a path that was none.

    >>> as_address(Path("s3://bucket/photos")), as_address(Path("photos"))
    ('s3://bucket/photos', None)
    """
    found = _FOLDED.match(str(path))
    return None if found is None else f"{found[1]}://{str(path)[found.end() :]}"


def find_files(address: str) -> list[str]:
    """Finds the files at an address.

    Hidden ones, by a name that starts with a dot, are left out of folders.

    Args:
        address: a file, a folder, or a glob.

    Returns:
        The addresses of files, in the order of the alphabet.

    Raises:
        DataNotFoundError: there is nothing.
    """
    system, path = _system(address)
    try:
        if any(mark in path for mark in "*?["):
            found = [name for name in system.glob(path) if not system.isdir(name)]
        elif path.lower().endswith(_FILES) and system.isfile(path):  # web servers call folders files too
            found = [path]
        else:
            top = path.rstrip("/")
            found = [name for name in system.find(path) if not _is_hidden(name, top)]
    except FileNotFoundError:
        found = []
    if not found:
        raise DataNotFoundError(f"there is nothing at {address}")
    return [str(system.unstrip_protocol(name)) for name in sorted(found)]


def _is_hidden(name: str, top: str) -> bool:
    inside = name[len(top) :] if name.startswith(top) else name
    return any(part.startswith(".") for part in inside.split("/"))


@contextmanager
def open_file(place: str) -> Iterator[Any]:
    """A file to be read, by its path or its address."""
    if not is_address(place):
        with open(place, "rb") as file:
            yield file
        return
    system, path = _system(place)
    with system.open(path, "rb") as file:
        yield file


def read_bytes(address: str) -> bytes:
    """Reads all of a file at an address.

    Args:
        address: the address.

    Returns:
        The bytes.
    """
    system, path = _system(address)
    return bytes(system.cat_file(path))


def size_of(place: str) -> int:
    """Of a file in bytes."""
    if not is_address(place):
        return Path(place).stat().st_size
    system, path = _system(place)
    return int(system.size(path) or 0)


def _system(address: str) -> tuple[Any, str]:
    """The file system of an address, and the path in there."""
    core = require("fsspec.core", _PURPOSE)
    try:
        system, path = core.url_to_fs(address)
    except ValueError as error:  # of a protocol that it does not know
        raise ValueError(f"{address} cannot be read: {error}") from None
    return system, str(path)
