"""The cast geometry of Shapes, kept on disk: seconds of ray casting once for a machine, not once for a process."""

import contextlib
import os
from pathlib import Path

import numpy as np

from equicolor._tools.files import complete_file
from equicolor.data.shapes._factors import GEOMETRIES
from equicolor.data.shapes._geometry import VERSION, Geometry, cast


def geometry(image_size: int, directory: Path | None) -> Geometry:
    """The geometry at this size: read from ``directory``, or cast and written there; ``None`` reads and writes nothing.

    A cache is a convenience: a file that is missing, damaged or of another version is cast anew, and a directory that
    cannot be written is left alone.
    """
    if directory is None:
        return cast(image_size)
    path = directory / f"shapes-v{VERSION}-{image_size}.npz"
    found = _read(path, image_size)
    if found is None:
        found = cast(image_size)
        with contextlib.suppress(OSError):
            _write(path, found)
    return found


def default_directory() -> Path | None:
    """The user's cache directory, if there is one."""
    root = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(root) if root else Path.home() / ".cache") / "equicolor"
    except RuntimeError:  # a user without a home
        return None


def _read(path: Path, image_size: int) -> Geometry | None:
    try:
        with np.load(path, allow_pickle=False) as file:
            found = Geometry(file["coverage"], file["luminance"])
    except Exception:  # the archive's checksums find damage, and it comes as errors of zip, zlib and NumPy alike
        return None
    side = (image_size, image_size)
    expected = [((GEOMETRIES, 3, *side), np.dtype(np.uint8)), ((GEOMETRIES, *side), np.dtype(np.int16))]
    return found if [(layer.shape, layer.dtype) for layer in found] == expected else None


def _write(path: Path, geometry: Geometry) -> None:
    with complete_file(path) as file:  # so that a reader beside another writer sees all of it or none
        np.savez_compressed(file, coverage=geometry.coverage, luminance=geometry.luminance)
