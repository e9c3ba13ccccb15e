"""Stanford Cars: two folders of photographs, annotated by the MATLAB files of its development kit."""

from pathlib import Path

import numpy as np

from equicolor.data._description import Description, Hub, Raw, Request, Split
from equicolor.data._errors import reading
from equicolor.data._registry import register_data_set
from equicolor.data._sources import Files
from equicolor.data.sets._arrays import existing, holding, labels
from equicolor.data.sets._matlab import read_matlab

_TABLE = {"train": "cars_train_annos.mat", "test": "cars_test_annos_withlabels.mat"}


def read(request: Request) -> Raw:
    """The part ``"train"`` or ``"test"``. (The kit's own list of the test images has no labels; this one has.)"""
    folder = holding("devkit", request.folder / "stanford_cars", request.folder)
    table, meta = (existing(folder, f"devkit/{name}", name) for name in (_TABLE[request.part], "cars_meta.mat"))
    with reading(table):
        entries = read_matlab(table)["annotations"]
        numbers = np.array([int(entry["class"].item()) - 1 for entry in entries])
        names = [str(entry["fname"]) for entry in entries]
    with reading(meta):
        classes = tuple(str(name) for name in read_matlab(meta)["class_names"])
    source = Files(_images(folder, request.part), names, request.how)
    return Raw(source, labels(numbers, len(classes), table), classes)


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
