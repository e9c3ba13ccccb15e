"""Images in: data sets by name, embedded or on disk or on the hub, colour shifts as protocols, and augmentation.

What reads, cuts, moves or draws images for training and tests lives here; nothing here knows a network. A data set is a
file in ``sets``, or a :class:`Description` of your own given to :func:`register_data_set`.

>>> from equicolor.data import list_datasets
>>> "hue_shift_mnist" in list_datasets()
True
"""

from equicolor._tools.images import IMAGE_SUFFIXES, CorruptImageError, Decoding, decode
from equicolor.data._description import Description, Hub, Raw, Request, Split
from equicolor.data._download import Remote
from equicolor.data._errors import DataNotFoundError
from equicolor.data._fingerprint import Fingerprint
from equicolor.data._imageset import Batch, ImageSet, WholeBatches, collate
from equicolor.data._load import MEMORY_LIMIT, list_datasets, load
from equicolor.data._random import key, permutation
from equicolor.data._registry import register_data_set
from equicolor.data._sources import Files, Held, Source
from equicolor.data._whereabouts import Whereabouts, original_file, whereabouts
from equicolor.data.augment import Augment
from equicolor.data.shapes import Shapes
from equicolor.data.shift import Shift, hue_coverage

__all__ = [
    "IMAGE_SUFFIXES",
    "MEMORY_LIMIT",
    "Augment",
    "Batch",
    "CorruptImageError",
    "DataNotFoundError",
    "Decoding",
    "Description",
    "Files",
    "Fingerprint",
    "Held",
    "Hub",
    "ImageSet",
    "Raw",
    "Remote",
    "Request",
    "Shapes",
    "Shift",
    "Source",
    "Split",
    "Whereabouts",
    "WholeBatches",
    "collate",
    "decode",
    "hue_coverage",
    "key",
    "list_datasets",
    "load",
    "original_file",
    "permutation",
    "register_data_set",
    "whereabouts",
]
