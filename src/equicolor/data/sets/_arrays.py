"""Helpers that the readers share: files that must exist and have the length that their header promises."""

import gzip
import zlib
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from equicolor.data._errors import DataNotFoundError


def existing(folder: Path, *names: str) -> Path:
    """The first of these files that exists."""
    for name in names:
        if (folder / name).is_file():
            return folder / name
    raise DataNotFoundError(f"no {' or '.join(names)} in {folder}")


def holding(sign: str, *folders: Path) -> Path:
    """The first of these folders that holds a file or folder of this name; the last, where none does."""
    return next((folder for folder in folders if (folder / sign).exists()), folders[-1])


def read_bytes(path: Path) -> bytes:
    """The content of a file, unpacked if its name ends in .gz."""
    if path.suffix != ".gz":
        return path.read_bytes()
    try:
        return gzip.decompress(path.read_bytes())
    except (EOFError, OSError, zlib.error) as error:
        raise ValueError(f"{path} is not a complete gzip file ({error}): download it again") from error


def records(path: Path, data: bytes, shape: tuple[int, ...]) -> NDArray[np.uint8]:
    """Bytes as records of this shape, ``(N, *shape)``."""
    size = int(np.prod(shape))
    if not data or len(data) % size:
        raise ValueError(
            f"{path} has {len(data):,} bytes, not a whole number of records of {size:,}: download it again"
        )
    return np.frombuffer(data, dtype=np.uint8).reshape(-1, *shape)


def tensor(array: NDArray[np.uint8]) -> Tensor:
    """A uint8 array as a tensor of its own."""
    return torch.from_numpy(np.array(array))


def labels(array: NDArray[np.generic], classes: int, path: Path) -> Tensor:
    """Labels as int64, each of them checked against the number of classes."""
    found = torch.from_numpy(np.asarray(array).astype(np.int64))
    if len(found) and not (int(found.min()) >= 0 and int(found.max()) < classes):
        raise ValueError(
            f"{path} has labels from {int(found.min())} to {int(found.max())}, expected them in 0 … {classes - 1}"
        )
    return found
