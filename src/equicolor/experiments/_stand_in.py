"""What quick versions are trained on where the real images may be missing: embedded shapes, small networks."""

from collections.abc import Mapping
from typing import Any

from equicolor.data import list_datasets

#: Training of seconds, for recipes that are small already.
SHORT = {"train_size": 640, "test_size": 250, "epochs": 1, "batch_size": 16}
#: The recipe's data, network and optimiser are replaced; group and augmentation, which tell the rows apart, stay.
_SMALL = {
    "data_options": None,
    "workers": 0,
    "train_split": "train",
    "input_size": None,
    "model": "z2cnn",
    "model_options": None,
    "optimizer": "adam",
    "optimizer_options": None,
    "lr": 0.003,
    "schedule": "cosine",
    **SHORT,
}


def stand_in(data: str, **changes: Any) -> Mapping[str, Any]:
    """The fields of a recipe that :func:`new_row` is to change for a quick version on embedded images.

    Args:
        data: an embedded data set; all of its test splits are tested on.
        changes: further fields.
    """
    return {"data": data, "test_splits": list(shift_columns(data)), **_SMALL, **changes}


def shift_columns(data: str) -> dict[str, str]:
    """The test splits of a set that is trained on A, and what the paper's tables call such columns.

    >>> shift_columns("hue_shift_digits")
    {'test_a': 'A/A', 'test_b': 'A/B'}
    """
    splits = [split for split in list_datasets()[data] if split.startswith("test_")]
    return {split: f"A/{split.removeprefix('test_').upper()}" for split in splits}
