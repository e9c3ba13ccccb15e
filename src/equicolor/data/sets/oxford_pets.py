"""Oxford-IIIT Pets: photographs in one folder, listed in ``annotations/trainval.txt`` and ``annotations/test.txt``."""

import numpy as np

from equicolor.data._description import Description, Hub, Raw, Request, Split
from equicolor.data._errors import reading
from equicolor.data._registry import register_data_set
from equicolor.data._sources import Files
from equicolor.data.sets._arrays import existing, labels

#: Of the classes; there are 37.
_MOST = 1000


def read(request: Request) -> Raw:
    """The part ``"trainval"`` or ``"test"``. A line is a name, its class from 1 on, its species and its breed."""
    table = existing(request.folder / "annotations", f"{request.part}.txt")
    with reading(table):
        text = table.read_text(encoding="utf-8")
        lines = [line.split() for line in text.splitlines() if line.strip() and not line.startswith("#")]
        numbers = np.array([int(line[1]) - 1 for line in lines])
        if len(lines) and not 0 <= numbers.min() <= numbers.max() < _MOST:
            raise ValueError(f"classes are from {numbers.min() + 1} to {numbers.max() + 1}")
    # A breed's name is that of its images without their number: yorkshire_terrier_17.
    breeds = {int(line[1]) - 1: line[0].rpartition("_")[0] for line in lines}
    classes = tuple(breeds.get(label, f"class {label + 1}") for label in range(max(breeds, default=-1) + 1))
    source = Files(request.folder / "images", [f"{line[0]}.jpg" for line in lines], request.how)
    return Raw(source, labels(numbers, len(classes), table), classes)


register_data_set(
    Description(
        "oxford_pets",
        "Oxford-IIIT Pets, 37 breeds",
        read,
        {"train": Split("trainval", 3_680), "test": Split("test", 3_669)},
        image_size=256,
        folder="oxford_pets",
        signs=("annotations/trainval.txt",),
        layout="the folders images and annotations",
        hub=Hub("timm/oxford-iiit-pet"),
    )
)
