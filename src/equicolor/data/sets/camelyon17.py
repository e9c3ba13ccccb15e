"""Camelyon17: the WILDS release, a folder of PNG patches and a table ``metadata.csv``.

Hospitals are numbered twice. The paper counts as the WILDS paper does: hospitals 1, 2 and 3 for training, 5 for
testing. The release's column ``center`` counts from 0 in another order: its centers 0, 3 and 4 are those training
hospitals, 1 is the validation hospital and 2 the test hospital. Only this reading has the paper's sizes: center 2 has
all of the 85,054 test patches, and centers 0, 3 and 4 have 335,996, of which the column ``split`` holds 33,560 back for
validation within the same hospitals and leaves 302,436.
"""

import numpy as np
import torch

from equicolor.data._column import Column
from equicolor.data._description import Description, Hub, Raw, Request, Split
from equicolor.data._errors import reading
from equicolor.data._registry import register_data_set
from equicolor.data._sources import Files
from equicolor.data.sets._arrays import existing, holding, labels

CLASSES = ("normal", "tumor")
_COLUMNS = ("patient", "node", "x_coord", "y_coord", "tumor", "center", "split")


def read(request: Request) -> Raw:
    """All patches, with the columns ``center`` (0 … 4) and ``split`` (0, or 1 where held back for validation)."""
    releases = sorted(request.folder.glob("camelyon17_v*"), reverse=True)
    table = existing(holding("metadata.csv", *releases, request.folder), "metadata.csv")
    with reading(table), table.open() as lines:
        header = lines.readline().strip().split(",")
        if missing := [name for name in _COLUMNS if name not in header]:
            raise ValueError(
                f"{table} lacks the columns {', '.join(missing)}: expected the metadata of the WILDS release"
            )
        wanted = [header.index(name) for name in _COLUMNS]
        numbers = np.loadtxt(lines, dtype=np.int64, delimiter=",", usecols=wanted, ndmin=2)
    names = [_name(*place) for place in numbers[:, :4].tolist()]
    tumor, center, split = (numbers[:, column].copy() for column in (4, 5, 6))
    return Raw(
        Files(table.parent, names, request.how),
        labels(tumor, len(CLASSES), table),
        CLASSES,
        columns={"center": torch.from_numpy(center), "split": torch.from_numpy(split)},
        domains=Column.of([f"hospital {number + 1}" for number in center.tolist()]),
        clusters=Column.of([f"patient {number}" for number in numbers[:, 0].tolist()]),
    )


def _name(patient: int, node: int, x: int, y: int) -> str:
    stem = f"patient_{patient:03d}_node_{node}"
    return f"patches/{stem}/patch_{stem}_x_{x}_y_{y}.png"


register_data_set(
    Description(
        "camelyon17",
        "tumour in tissue patches, from hospitals 1, 2, 3 (training) and 5 (test); WILDS release",
        read,
        {
            "train": Split("all", 302_436, only={"center": (0, 3, 4), "split": (0,)}),
            "val": Split("all", 34_904, only={"center": (1,)}),
            "id_val": Split("all", 33_560, only={"center": (0, 3, 4), "split": (1,)}),
            "test": Split("all", 85_054, only={"center": (2,)}),
            # One for each hospital, as the paper numbers them, for statistics. The hub's tables do not tell them apart.
            "hospital_1": Split("all", 59_436, only={"center": (0,)}),
            "hospital_2": Split("all", 129_838, only={"center": (3,)}),
            "hospital_3": Split("all", 146_722, only={"center": (4,)}),
            "hospital_4": Split("all", 34_904, only={"center": (1,)}),
            "hospital_5": Split("all", 85_054, only={"center": (2,)}),
        },
        image_size=96,
        folder="camelyon17",
        signs=("metadata.csv", "camelyon17_v*/metadata.csv"),
        layout="metadata.csv and the folder patches of the WILDS release (camelyon17_v1.0)",
        classes=CLASSES,
        hub=Hub(
            "jxie/camelyon17",
            splits={"train": "id_train", "id_val": "id_val", "val": "ood_val", "test": "ood_test"},
            selects=True,
        ),
    )
)
