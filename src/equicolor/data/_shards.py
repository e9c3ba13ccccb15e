"""Images in very many Parquet files, on disk or at an address, of which a few row groups are in memory at a time."""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from equicolor._tools.images import Decoding
from equicolor._tools.machine import cores
from equicolor.data._parquet import GroupCache, image_column, read_footer
from equicolor.data._remote import size_of
from equicolor.data._sources import Encoded
from equicolor.data._stream import LANES, WINDOW

#: Questions to a storage at once: it answers late.
_ASKED_AT_ONCE = 16
#: Threads that decode, at the most.
_DECODED_AT_ONCE = 8


class Shards(Encoded):
    """The rows of several Parquet files, one after another.

    Args:
        files: their paths or addresses.
        how: how images are decoded.

    Attributes:
        starts: the first row of each row group of all files, and the end of the last.
    """

    def __init__(self, files: Sequence[str], how: Decoding) -> None:
        with ThreadPoolExecutor(_ASKED_AT_ONCE) as pool:
            footers = list(pool.map(read_footer, files))
        self.files = tuple(files)
        self._columns = tuple(map(image_column, files))
        counts = [count for footer in footers for count in footer.groups]
        self._groups = [(file, group) for file, footer in enumerate(footers) for group in range(len(footer.groups))]
        self.starts = torch.tensor([0, *counts]).cumsum(0)
        totals = [sum(footer.groups) for footer in footers]
        self._firsts = [0, *accumulate(totals)]  # row of each file
        super().__init__(int(self.starts[-1]), how)
        self._cache = GroupCache(self._needed(LANES))
        self._pool: tuple[int, ThreadPoolExecutor] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_pool": None}

    def _needed(self, lanes: int) -> int:
        """Row groups that so many lanes read from at a time: those of a window, and where it and a batch end."""
        usual = max(1, len(self) // max(1, len(self._groups)))
        return lanes * (-(-WINDOW // usual) + 2)

    def share(self, processes: int) -> None:
        """Holds no more in memory than one of several processes needs, which divide every batch.

        Args:
            processes: how many there are.
        """
        self._cache.most = self._needed(max(1, LANES // processes))

    def group_of(self, rows: Tensor) -> Tensor:
        """The number of the row group of each row, over all files.

        Args:
            rows: which rows.

        Returns:
            The numbers, of the same shape.
        """
        return torch.searchsorted(self.starts, rows, right=True) - 1

    def name(self, row: int) -> str:
        file, _ = self._groups[int(self.group_of(torch.tensor(row)))]
        return f"row {row - self._firsts[file]} of {self.files[file]}"

    def contents(self, rows: Tensor) -> bytes:
        """The names and sizes of the files, and how they are divided, for the fingerprint; nothing is read.

        Args:
            rows: which rows.

        Returns:
            Names, sizes and divisions as bytes.
        """
        with ThreadPoolExecutor(_ASKED_AT_ONCE) as pool:
            sizes = list(pool.map(size_of, self.files))
        names = [file.replace("\\", "/").rsplit("/", 1)[-1] for file in self.files]
        return repr((names, sizes, self.starts.tolist())).encode()

    def _data(self, rows: list[int]) -> Sequence[bytes | Path]:
        groups = self.group_of(torch.tensor(rows, dtype=torch.long)).tolist()
        return [self._image(row, group) for row, group in zip(rows, groups, strict=True)]

    def _decoded(self, data: Sequence[bytes | Path], rows: list[int]) -> list[NDArray[np.uint8] | None]:
        """By threads, not by more processes that read: each of those would read the row groups for itself."""
        if self._pool is None or self._pool[0] != os.getpid():  # a fork has no threads
            self._pool = (os.getpid(), ThreadPoolExecutor(cores(most=_DECODED_AT_ONCE), "decode"))
        return list(self._pool[1].map(self._attempt, data, rows))

    def _image(self, row: int, number: int) -> bytes | Path:
        file, group = self._groups[number]
        return self._cache.image(self.files[file], self._columns[file], group, row - int(self.starts[number]))
