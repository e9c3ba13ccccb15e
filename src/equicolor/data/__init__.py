"""The data: embedded sets, the paper's sets, colour shifts as protocols, and augmentation.

>>> from equicolor.data import list_datasets
>>> "hue_shift_mnist" in list_datasets()
True
"""

from equicolor.data._errors import CorruptImageError, DataNotFoundError
from equicolor.data._fingerprint import Fingerprint
from equicolor.data._imageset import Batch, ImageSet, collate
from equicolor.data._load import list_datasets, load
from equicolor.data.augment import Augment
from equicolor.data.shift import Shift, hue_coverage

__all__ = [
    "Augment",
    "Batch",
    "CorruptImageError",
    "DataNotFoundError",
    "Fingerprint",
    "ImageSet",
    "Shift",
    "collate",
    "hue_coverage",
    "list_datasets",
    "load",
]
