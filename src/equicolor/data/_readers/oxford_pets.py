"""Oxford-IIIT Pets: photographs in one folder, listed in ``annotations/trainval.txt`` and ``annotations/test.txt``."""

import numpy as np

from equicolor.data._readers import Raw, Request
from equicolor.data._readers._arrays import existing, labels
from equicolor.data._sources import Files


def read(request: Request) -> Raw:
    """The part ``"trainval"`` or ``"test"``. A line is a name, its class from 1 on, its species and its breed."""
    table = existing(request.folder / "annotations", f"{request.part}.txt")
    lines = [line.split() for line in table.read_text().splitlines() if line.strip() and not line.startswith("#")]
    numbers = np.array([int(line[1]) - 1 for line in lines])
    # A breed's name is that of its images without their number: yorkshire_terrier_17.
    breeds = {int(line[1]) - 1: line[0].rpartition("_")[0] for line in lines}
    classes = tuple(breeds.get(label, f"class {label + 1}") for label in range(max(breeds, default=-1) + 1))
    source = Files(request.folder / "images", [f"{line[0]}.jpg" for line in lines], request.how)
    return Raw(source, labels(numbers, len(classes), table), classes)
