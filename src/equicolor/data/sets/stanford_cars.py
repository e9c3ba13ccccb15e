"""Stanford Cars: two folders of photographs, annotated by the MATLAB files of its development kit."""

from pathlib import Path

import numpy as np

from equicolor._tools.optional import require
from equicolor.data._description import Description, Hub, Raw, Request, Split
from equicolor.data._errors import DataNotFoundError
from equicolor.data._registry import register_data_set
from equicolor.data._sources import Files
from equicolor.data.sets._arrays import labels

_TABLE = {"train": "cars_train_annos.mat", "test": "cars_test_annos_withlabels.mat"}


def read(request: Request) -> Raw:
    """The part ``"train"`` or ``"test"``. (The kit's own list of the test images has no labels; this one has.)"""
    folder = next(
        (place for place in (request.folder, request.folder / "stanford_cars") if (place / "devkit").is_dir()),
        request.folder,
    )
    table, meta = _find(folder, _TABLE[request.part]), _find(folder, "cars_meta.mat")
    loadmat = require("scipy.io", "reading MATLAB files").loadmat
    entries = loadmat(table, squeeze_me=True, struct_as_record=True)["annotations"].reshape(-1)
    classes = tuple(str(name) for name in loadmat(meta, squeeze_me=True)["class_names"].reshape(-1))
    images = _images(folder, request.part)
    numbers = np.array([int(entry["class"]) - 1 for entry in entries])
    source = Files(images, [str(entry["fname"]) for entry in entries], request.how)
    return Raw(source, labels(numbers, len(classes), table), classes)


def _find(folder: Path, name: str) -> Path:
    for place in (folder / "devkit" / name, folder / name):
        if place.is_file():
            return place
    raise DataNotFoundError(f"no {name} in {folder / 'devkit'} or {folder}")


def _images(folder: Path, part: str) -> Path:
    outer = folder / f"cars_{part}"
    return outer / outer.name if (outer / outer.name).is_dir() else outer  # some archives nest the folder in itself


register_data_set(
    Description(
        "stanford_cars",
        "Stanford Cars, 196 models",
        read,
        {"train": Split("train", 8_144), "test": Split("test", 8_041)},
        image_size=256,
        folder="stanford_cars",
        signs=("devkit", "cars_train", "stanford_cars/devkit"),
        layout="the folders cars_train, cars_test and devkit (with cars_meta.mat and cars_train_annos.mat), and "
        "cars_test_annos_withlabels.mat",
        hub=Hub("tanganke/stanford_cars"),
    )
)
