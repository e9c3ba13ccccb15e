"""MNIST: the four IDX files, plain or gzipped.

IDX is a header of big-endian integers, the magic number 0x0000 08 0d (unsigned bytes in d dimensions) and d sizes,
then the bytes.
"""

import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from equicolor.data._description import Description, Hub, Raw, Request, Split
from equicolor.data._download import Remote
from equicolor.data._registry import register_data_set
from equicolor.data._sources import Held
from equicolor.data.sets._arrays import existing, labels, read_bytes, tensor

CLASSES = tuple("0123456789")
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
    return Raw(Held(tensor(images[:, None])), labels(digits, len(CLASSES), label_file), CLASSES)


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


_URL = "https://ossci-datasets.s3.amazonaws.com/mnist/"

_MNIST = register_data_set(
    Description(
        "mnist",
        "handwritten digits",
        read,
        {"train": Split("train", 60_000), "test": Split("test", 10_000)},
        image_size=28,
        folder="mnist",
        signs=("train-images*", "t10k-images*"),
        layout="the four IDX files train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte and "
        "t10k-labels-idx1-ubyte, plain or with .gz",
        classes=CLASSES,
        gray=True,
        hub=Hub("ylecun/mnist"),
        remotes=(
            Remote(_URL + "train-images-idx3-ubyte.gz", "f68b3c2dcbeaaa9fbdd348bbdeb94873"),
            Remote(_URL + "train-labels-idx1-ubyte.gz", "d53e105ee54ea40749a09fcbcd1e9432"),
            Remote(_URL + "t10k-images-idx3-ubyte.gz", "9fb629c4189551a2d022fa330f9573f3"),
            Remote(_URL + "t10k-labels-idx1-ubyte.gz", "ec29112dd5afa0611ce80d1b7f02629c"),
        ),
    )
)

register_data_set(
    replace(
        _MNIST,
        name="hue_shift_mnist",
        title="the paper's Hue-shift MNIST: training and A with hues in [0°, 240°), B in [240°, 360°)",
        splits={
            "train": Split("train", 60_000, shift="hue:0..240"),
            "test_a": Split("test", 10_000, shift="hue:0..240"),
            "test_b": Split("test", 10_000, shift="hue:240..360"),
        },
        hub=Hub("ylecun/mnist", splits={"train": "train", "test_a": "test", "test_b": "test"}),
    )
)
