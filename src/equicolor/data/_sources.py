"""Where pixels come from: a tensor, files, rows of a table or an HDF5 file, all read by row numbers.

Every source answers ``read(rows)`` with uint8 images ``(B, C, S, S)``, C = 1 for grey sets and 3 otherwise, and with
the positions in ``rows`` that could be read: all of them, unless unreadable images are to be skipped.
"""

import os
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from equicolor._tools.images import CorruptImageError, Decoding, decode, resized
from equicolor._tools.optional import require
from equicolor._tools.progress import progress
from equicolor.data._errors import reading

#: Of the name of a file, with its folders: no system takes longer ones.
_MOST_LETTERS = 4096
#: Rows that a thread reads before the next takes over.
_ROWS_AT_ONCE = 256
#: Parquet files of more bytes than this are not held in memory.
_LARGE = 2 << 30
#: Threads that ask for the first images of a file wait for one to open it.
_OPENING = threading.Lock()


class Source(Protocol):
    """The protocol of what images are read from, by row number."""

    channels: int
    image_size: int

    def __len__(self) -> int:
        """How many rows there are."""
        ...

    def read(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Reads images.

        Args:
            rows: which images.

        Returns:
            The images, uint8 ``(B, C, S, S)``, and their positions among ``rows``.
        """
        ...


class Held:
    """Images held in memory as one uint8 tensor ``(N, C, S, S)``.

    Args:
        images: the images.
    """

    def __init__(self, images: Tensor) -> None:
        if images.dtype != torch.uint8 or images.dim() != 4 or images.shape[1] not in (1, 3):
            raise ValueError(
                f"expected uint8 images (N, 1 or 3, H, W), got {images.dtype} of shape {tuple(images.shape)}"
            )
        self.images = images
        self.channels, self.image_size = images.shape[1], images.shape[-1]

    def __len__(self) -> int:
        return len(self.images)

    def read(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        """Takes images out of memory.

        Args:
            rows: which images.

        Returns:
            The images, and their positions among ``rows``.
        """
        return self.images[rows], torch.arange(len(rows))


class Encoded:
    """Encoded images, decoded as they are asked for. What could not be read is remembered, also across workers."""

    channels = 3

    def __init__(self, count: int, how: Decoding) -> None:
        self.how = how
        self.image_size = how.size
        # One flag for each row, in shared memory: a worker that sets one twice counts it once, and needs no lock.
        self.unreadable = torch.zeros(count, dtype=torch.bool)
        if how.on_error == "skip":
            self.unreadable.share_memory_()  # type: ignore[no-untyped-call]

    def __len__(self) -> int:
        return len(self.unreadable)

    def name(self, row: int) -> str:
        """What to call an image in an error."""
        raise NotImplementedError

    def names(self, rows: Tensor) -> bytes:
        """What the images of ``rows`` are called in their release, one after another."""
        return numbers(rows)

    def contents(self, rows: Tensor) -> bytes:
        """What tells the images of ``rows`` from others, cheaply: none is decoded."""
        raise NotImplementedError

    def _data(self, rows: list[int]) -> Sequence[bytes | Path]:
        raise NotImplementedError

    def read(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        wanted = rows.tolist()
        decoded = self._decoded(self._data(wanted), wanted)
        kept = [position for position, image in enumerate(decoded) if image is not None]
        if not kept:
            size = self.image_size
            return torch.empty(0, self.channels, size, size, dtype=torch.uint8), torch.empty(0, dtype=torch.long)
        stacked = torch.from_numpy(np.stack([image for image in decoded if image is not None]))
        return stacked.permute(0, 3, 1, 2).contiguous(), torch.tensor(kept)

    def _decoded(self, data: Sequence[bytes | Path], rows: list[int]) -> list[NDArray[np.uint8] | None]:
        """The images of ``rows``, None for those that cannot be read and are to be left out."""
        return [self._attempt(each, row) for each, row in zip(data, rows, strict=True)]

    def _attempt(self, data: bytes | Path, row: int) -> NDArray[np.uint8] | None:
        try:
            return self._decode(data, row)
        except CorruptImageError:
            if self.how.on_error == "raise":
                raise
            self.unreadable[row] = True
            return None

    def _decode(self, data: bytes | Path, row: int) -> NDArray[np.uint8]:
        """One image ``(S, S, C)``."""
        return decode(data, self.how, lambda: self.name(row))  # a name can cost more than an image


class Files(Encoded):
    """Image files below a folder.

    Args:
        folder: the folder.
        names: the paths of the files below it.
        how: how they are decoded.
    """

    def __init__(self, folder: Path, names: Sequence[str], how: Decoding) -> None:
        super().__init__(len(names), how)
        self.folder = folder
        if (longest := max(map(len, names), default=0)) > _MOST_LETTERS:  # the room for one is that for all
            raise ValueError(f"a file in {folder} is listed by a name of {longest:,} letters: the list is damaged")
        # One block of bytes instead of a million Python strings, whose reference counts workers would copy.
        self._names = np.array([os.fsencode(name) for name in names], dtype=np.bytes_)

    def path(self, row: int) -> Path:
        """The path of an image.

        Args:
            row: its row.

        Returns:
            The path.
        """
        return self.folder / os.fsdecode(bytes(self._names[row]))

    def name(self, row: int) -> str:
        return str(self.path(row))

    def names(self, rows: Tensor) -> bytes:
        return b"\0".join(self._names[rows.numpy()].tolist())

    def contents(self, rows: Tensor) -> bytes:
        """The sizes of the files, for the fingerprint.

        It is one question to the file system each, several at once, as a network answers late.

        Args:
            rows: which files.

        Returns:
            The sizes as bytes.
        """
        with ThreadPoolExecutor(16) as pool:
            return b"".join(pool.map(self._sizes, torch.split(rows, 4096)))

    def _sizes(self, rows: Tensor) -> bytes:
        return numbers(torch.tensor([_size(path) for path in self._files(rows)], dtype=torch.long))

    def _files(self, rows: Tensor) -> Iterable[bytes | Path]:
        """What ``rows`` are read from; in bytes, as a million paths would take seconds to make."""
        folder = os.fsencode(self.folder)
        return (os.path.join(folder, name) for name in self._names[rows.numpy()].tolist())

    def _data(self, rows: list[int]) -> Sequence[bytes | Path]:
        return [self.path(row) for row in rows]


class Drawn(Files):
    """Masks drawn from annotation files: ``draw(image, how)`` gives one ``(S, S, 1)``, from ``annotation(image)``."""

    channels = 1

    def __init__(
        self,
        folder: Path,
        names: Sequence[str],
        how: Decoding,
        draw: Callable[[Path, Decoding], NDArray[np.uint8]],
        annotation: Callable[[Path], Path],
    ):
        super().__init__(folder, names, how)
        self._draw, self._annotation = draw, annotation

    def _files(self, rows: Tensor) -> Iterable[bytes | Path]:
        return (self._annotation(self.path(row)) for row in rows.tolist())

    def _decode(self, data: bytes | Path, row: int) -> NDArray[np.uint8]:
        return self._draw(self.path(row), self.how)


class _Cells(Encoded):
    """An image column of a table, its images still encoded."""

    def contents(self, rows: Tensor) -> bytes:
        """A few of the images, still encoded."""
        cells = self._data(spread(rows).tolist())
        return b"\0".join(cell if isinstance(cell, bytes) else cell.read_bytes() for cell in cells)


class Table(_Cells):
    """An image column of a Hugging Face data set, memory-mapped."""

    def __init__(self, table: Any, column: str, how: Decoding, title: str) -> None:
        super().__init__(len(table), how)
        self._table, self._column, self._title = table.select_columns([column]), column, title

    def name(self, row: int) -> str:
        path = self._table[row][self._column].get("path")
        return f"row {row} of {self._title}" + (f" ({path})" if path else "")

    def _data(self, rows: list[int]) -> Sequence[bytes | Path]:
        return [encoded(cell, Path()) for cell in self._table[rows][self._column]]


class Parquet(_Cells):
    """An image column of a Parquet file: encoded images as bytes, or as ``{bytes, path}``.

    Nothing is read before the first image is asked for, then all of the column, still encoded; of a large file, a copy
    that is memory-mapped is made in the cache of Hugging Face ``datasets``.
    """

    def __init__(self, path: Path, column: str, count: int, how: Decoding) -> None:
        super().__init__(count, how)
        self.path, self._column = path, column
        self._opened: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_opened": None}

    def name(self, row: int) -> str:
        return f"row {row} of {self.path}"

    def _data(self, rows: list[int]) -> Sequence[bytes | Path]:
        with _OPENING:
            if self._opened is None:
                with reading(self.path):
                    self._opened = self._open()
        return [encoded(cell, self.path.parent) for cell in self._opened[rows][self._column].to_pylist()]

    def _open(self) -> Any:
        datasets = require("datasets", "reading Parquet files")
        if self.path.stat().st_size > _LARGE:
            return datasets.load_dataset("parquet", data_files={"data": str(self.path)}, split="data").with_format(
                "arrow"
            )
        parquet = require("pyarrow.parquet", "reading Parquet files")
        table = parquet.read_table(self.path, columns=[self._column])
        return datasets.Dataset(datasets.table.InMemoryTable(table)).with_format("arrow")  # or images are decoded


def encoded(cell: Any, folder: Path) -> bytes | Path:
    """What a cell of a table has for an image: bytes, or a path below ``folder``; none is told when it is decoded."""
    if not isinstance(cell, dict):
        return cell if isinstance(cell, bytes) else b""
    if cell.get("bytes") is not None:
        return bytes(cell["bytes"])
    return folder / cell["path"] if cell.get("path") else b""


class Hdf5:
    """Images of an HDF5 file, ``(N, H, W, 3)`` uint8, read row by row; opened anew in every process that reads it."""

    channels = 3

    def __init__(self, path: Path, dataset: str) -> None:
        self.path, self._dataset = path, dataset
        self._opened: tuple[int, Any] | None = None
        with reading(path):
            images = self._images()
            if (
                images.dtype != np.uint8
                or images.ndim != 4
                or images.shape[1:] != (images.shape[1], images.shape[1], 3)
            ):
                raise ValueError(f"{dataset} is {images.dtype} of {images.shape}, expected uint8 (N, S, S, 3)")
        self._count, self.image_size = images.shape[0], images.shape[1]

    def __len__(self) -> int:
        return int(self._count)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_opened": None}

    def _images(self) -> Any:
        if self._opened is None or self._opened[0] != os.getpid():
            h5py = require("h5py", "reading HDF5 files")
            self._opened = (os.getpid(), h5py.File(self.path, "r")[self._dataset])
        return self._opened[1]

    def read(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        ordered, back = torch.unique(rows, return_inverse=True)  # h5py reads increasing rows only
        first, last = (int(ordered[0]), int(ordered[-1])) if len(ordered) else (0, -1)
        with reading(self.path):
            if last - first < 8 * len(ordered):  # rows that lie close are read in one go and then picked
                images = self._images()[first : last + 1][(ordered - first).numpy()]
            else:
                images = self._images()[ordered.numpy()]
        return torch.from_numpy(images).permute(0, 3, 1, 2)[back], torch.arange(len(rows))


class Resized:
    """Another source, its images brought to another size."""

    def __init__(self, source: Source, image_size: int) -> None:
        self._source = source
        self.channels, self.image_size = source.channels, image_size

    def __len__(self) -> int:
        return len(self._source)

    def read(self, rows: Tensor) -> tuple[Tensor, Tensor]:
        images, kept = self._source.read(rows)
        return resized(images, self.image_size), kept


def spread(rows: Tensor, most: int = 16) -> Tensor:
    """A few of the rows, from the first to the last.

    >>> spread(torch.arange(100), most=4).tolist()
    [0, 33, 66, 99]
    """
    return rows if len(rows) <= most else rows[torch.arange(most) * (len(rows) - 1) // (most - 1)]


def numbers(values: Tensor) -> bytes:
    """Whole numbers as the same bytes on every machine."""
    return values.numpy().astype("<i8").tobytes()


def _size(path: bytes | Path) -> int:
    """The size of a file in bytes; -1 of one that the set lists and that is not there."""
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return -1


def hold(source: Source, rows: Tensor) -> tuple[Held, Tensor]:
    """The images of ``rows`` read into memory, and which positions of ``rows`` could be read."""
    everything = torch.arange(len(rows))
    if isinstance(source, Held) and len(rows) == len(source) and torch.equal(rows, everything):
        return source, everything
    size = source.image_size
    images = torch.empty(len(rows), source.channels, size, size, dtype=torch.uint8)
    chunks = torch.split(rows, _ROWS_AT_ONCE)
    kept: list[Tensor] = []
    filled = 0
    threads = (os.cpu_count() or 1) if isinstance(source, Encoded) else 1  # decoding frees the interpreter's lock
    with ThreadPoolExecutor(threads) as pool, progress("reading images", len(rows)) as advance:
        for number, (some, positions) in enumerate(pool.map(source.read, chunks)):
            images[filled : filled + len(some)] = some
            filled += len(some)
            kept.append(positions + number * _ROWS_AT_ONCE)
            advance(len(some))
    return Held(images[:filled]), torch.cat(kept) if kept else everything
