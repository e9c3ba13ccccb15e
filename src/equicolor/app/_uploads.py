"""What is uploaded, taken with care: images and zips of images, within limits, and nothing is written but images."""

import io
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

import torch
from torch import Tensor

from equicolor._tools.images import IMAGE_SUFFIXES, Decoding, decode
from equicolor.data import CorruptImageError

#: The most that is taken: images of one set, bytes of one image, bytes of all images of a zip when unpacked.
MOST_IMAGES, MOST_BYTES, MOST_UNPACKED = 512, 20 << 20, 200 << 20
#: Entries of a zip that are looked at at all.
_MOST_ENTRIES = 20_000


@dataclass
class Uploaded:
    """Images that could be read.

    Attributes:
        names: of their files.
        images: uint8 ``(3, side, side)`` each.
        problems: what could not be used, and why.
    """

    names: list[str] = field(default_factory=list)
    images: list[Tensor] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def batch(self) -> Tensor:
        """All images, ``(N, 3, side, side)``."""
        return torch.stack(self.images) if self.images else torch.empty(0, 3, 1, 1, dtype=torch.uint8)


def read_uploads(paths: Iterable[str | Path], side: int, limit: int = MOST_IMAGES) -> Uploaded:
    """The images among uploaded files, and in those that are zips.

    Nothing of a zip is written to the disk, and the names in it are only read. What is no image, too large, encrypted
    or beyond the limits is left out and named in :attr:`Uploaded.problems`.

    Args:
        paths: of the files.
        side: height and width to which images are brought.
        limit: how many images are taken at the most.
    """
    found = Uploaded()
    for path in map(Path, paths):
        if path.suffix.lower() == ".zip":
            _read_zip(path, side, limit, found)
        elif path.suffix.lower() in IMAGE_SUFFIXES or not path.suffix:
            _keep(found, path.name, path, side, limit)
        else:
            found.problems.append(f"{path.name}: neither an image nor a zip of images")
    if len(found.images) >= limit:
        found.problems.append(f"the first {limit:,} images were taken")
    return found


def _read_zip(path: Path, side: int, limit: int, found: Uploaded) -> None:
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            if len(entries) > _MOST_ENTRIES:
                found.problems.append(f"{path.name}: has {len(entries):,} entries, more than {_MOST_ENTRIES:,}")
                return
            left = MOST_UNPACKED
            for entry in sorted(entries, key=lambda entry: entry.filename):
                if len(found.images) >= limit:
                    return
                name = PurePosixPath(entry.filename).name
                if entry.is_dir() or PurePosixPath(name).suffix.lower() not in IMAGE_SUFFIXES or name.startswith("."):
                    continue
                data = _unpacked(archive, entry, min(MOST_BYTES, left))
                if data is None:
                    found.problems.append(f"{name}: too large when unpacked")
                    continue
                left -= len(data)
                _keep(found, name, data, side, limit)
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, OSError, EOFError, ValueError) as error:
        found.problems.append(f"{path.name}: cannot be unpacked ({error or type(error).__name__})")


def _unpacked(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, most: int) -> bytes | None:
    """The bytes of an entry; None where there are more than ``most``, whatever its header says."""
    buffer = io.BytesIO()
    with archive.open(entry) as stream:
        while chunk := stream.read(1 << 16):
            if buffer.tell() + len(chunk) > most:
                return None
            buffer.write(chunk)
    return buffer.getvalue()


def _keep(found: Uploaded, name: str, data: bytes | Path, side: int, limit: int) -> None:
    if len(found.images) >= limit:
        return
    try:
        pixels = decode(data, Decoding(side), lambda: name)
    except CorruptImageError as error:
        found.problems.append(f"{name}: no image ({error.__cause__ or 'damaged'})")
        return
    found.names.append(name)
    found.images.append(torch.from_numpy(pixels.copy()).permute(2, 0, 1))
