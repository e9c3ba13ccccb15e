"""MNIST: the four IDX files, plain or gzipped.

IDX is a header of big-endian integers, the magic number 0x0000 08 0d (unsigned bytes in d dimensions) and d sizes,
then the bytes.
"""

import struct
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from equicolor.data._readers import Raw, Request
from equicolor.data._readers._arrays import existing, labels, read_bytes, tensor
from equicolor.data._sources import Held

_PREFIX = {"train": "train", "test": "t10k"}


def read(request: Request) -> Raw:
    """The part ``"train"`` or ``"test"``."""
    prefix = _PREFIX[request.part]
    image_file, label_file = (
        existing(request.folder, *(f"{prefix}-{kind}{dot}idx{rank}-ubyte{end}" for end in ("", ".gz") for dot in "-."))
        for kind, rank in (("images", 3), ("labels", 1))
    )
    images, digits = read_idx(image_file), read_idx(label_file)
    if images.ndim != 3 or digits.ndim != 1 or len(images) != len(digits):
        raise ValueError(
            f"{image_file} and {label_file} do not belong together: arrays of {images.shape} and {digits.shape}"
        )
    return Raw(Held(tensor(images[:, None])), labels(digits, 10, label_file), tuple("0123456789"))


def read_idx(path: Path) -> NDArray[np.uint8]:
    """The array of an IDX file of unsigned bytes."""
    data = read_bytes(path)
    if len(data) < 4 or data[:3] != b"\x00\x00\x08":
        raise ValueError(f"{path} is no IDX file of unsigned bytes: it starts with {data[:4].hex(' ') or 'nothing'}")
    rank = data[3]
    start = 4 + 4 * rank
    shape = struct.unpack(f">{rank}I", data[4:start]) if len(data) >= start else ()
    if len(shape) != rank or len(data) - start != int(np.prod(shape)):
        raise ValueError(
            f"{path} announces an array of {shape}, but {max(len(data) - start, 0):,} bytes follow: download it again"
        )
    return np.frombuffer(data, dtype=np.uint8, offset=start).reshape(shape)
