"""Small NORB: the original .mat files, which are not MATLAB's but a binary format of their own.

A little-endian header, the magic number of the type, the number of dimensions and at least three sizes, then the
values. Each of the two releases has three files: the images ``(N, 2, 96, 96)``, of a left and a right camera, the
categories ``(N,)`` and the information ``(N, 4)``: instance, elevation, azimuth and lighting. We read the left camera,
as the paper counts 48,600 images in 48,600 pairs.
"""

import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from equicolor.data._description import Description, Hub, Raw, Request, Split
from equicolor.data._registry import register_data_set
from equicolor.data._sources import Held
from equicolor.data.sets._arrays import existing, labels, read_bytes, tensor

CLASSES = ("animal", "human", "airplane", "truck", "car")
_STEM = {
    "train": "smallnorb-5x46789x9x18x6x2x96x96-training",
    "test": "smallnorb-5x01235x9x18x6x2x96x96-testing",
}
_TYPES = {0x1E3D4C54: "<i4", 0x1E3D4C55: "u1"}


def read(request: Request) -> Raw:
    """The part ``"train"`` or ``"test"``, with the column ``lighting`` of values 0 … 5."""
    image_file, category_file, info_file = (
        existing(request.folder, *(f"{_STEM[request.part]}-{kind}.mat{end}" for end in ("", ".gz")))
        for kind in ("dat", "cat", "info")
    )
    images, category, info = map(read_matrix, (image_file, category_file, info_file))
    if images.ndim != 4 or info.ndim != 2 or info.shape[1] != 4 or not len(images) == len(category) == len(info):
        raise ValueError(
            f"the files {_STEM[request.part]}-*.mat in {request.folder} do not belong together: "
            f"arrays of {images.shape}, {category.shape} and {info.shape}"
        )
    return Raw(
        Held(tensor(images[:, :1])),
        labels(category, len(CLASSES), category_file),
        CLASSES,
        columns={"lighting": labels(info[:, 3], 6, info_file)},
    )


def read_matrix(path: Path) -> NDArray[Any]:
    """The array of one of the files."""
    data = read_bytes(path)
    magic, rank = struct.unpack("<II", data[:8]) if len(data) >= 20 else (0, 0)
    if magic not in _TYPES or not 1 <= rank <= 8:
        raise ValueError(f"{path} is no binary matrix of small NORB: it starts with {data[:8].hex(' ') or 'nothing'}")
    stored = max(rank, 3)  # fewer dimensions are padded to three sizes
    start = 8 + 4 * stored
    shape = struct.unpack(f"<{stored}I", data[8:start])[:rank] if len(data) >= start else ()
    kind = np.dtype(_TYPES[magic])
    if len(shape) != rank or len(data) - start != int(np.prod(shape)) * kind.itemsize:
        raise ValueError(
            f"{path} announces an array of {shape}, but {max(len(data) - start, 0):,} bytes follow: download it again"
        )
    return np.frombuffer(data, dtype=kind, offset=start).reshape(shape)


register_data_set(
    Description(
        "small_norb",
        "small NORB, left camera: training and A with lighting 2-3, B with 0-1, C with 4-5",
        read,
        {
            "train": Split("train", 8_100, only={"lighting": (2, 3)}),
            "test_a": Split("test", 8_100, only={"lighting": (2, 3)}),
            "test_b": Split("test", 8_100, only={"lighting": (0, 1)}),
            "test_c": Split("test", 8_100, only={"lighting": (4, 5)}),
        },
        image_size=96,
        folder="small_norb",
        signs=("smallnorb-*",),
        layout="the six files smallnorb-5x46789x9x18x6x2x96x96-training-{dat,cat,info}.mat and "
        "smallnorb-5x01235x9x18x6x2x96x96-testing-{dat,cat,info}.mat, plain or with .gz",
        classes=CLASSES,
        gray=True,
        hub=Hub(
            "Ramos-Ramos/smallnorb",
            "image_lt",
            "category",
            {"train": "train", "test_a": "test", "test_b": "test", "test_c": "test"},
        ),
    )
)
