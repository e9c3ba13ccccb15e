"""Images in: data sets by name, embedded or on disk or on the hub, colour shifts as protocols, and augmentation.

What reads, cuts, moves or draws images for training and tests lives here; nothing here knows a network. A data set is a
file in ``sets``, or a :class:`Description` of your own given to :func:`register_data_set`.

>>> from equicolor.data import list_datasets
>>> "hue_shift_mnist" in list_datasets()
True
"""

from equicolor._tools.images import IMAGE_SUFFIXES, CorruptImageError, Decoding, decode
from equicolor.data._column import Column
from equicolor.data._describe import Contents, describe
from equicolor.data._description import Description, Found, Hub, Layout, Raw, Request, Split
from equicolor.data._download import Remote
from equicolor.data._errors import AmbiguousLayoutError, DataNotFoundError
from equicolor.data._fingerprint import Fingerprint
from equicolor.data._imageset import Batch, ImageSet, WholeBatches, collate
from equicolor.data._load import MEMORY_LIMIT, list_datasets, load
from equicolor.data._names import is_own, resolve, splits_of, title, usual_test_splits
from equicolor.data._parquet import GroupCache, image_column, read_footer
from equicolor.data._random import key, permutation
from equicolor.data._registry import register_data_set
from equicolor.data._remote import find_files, is_address, read_bytes
from equicolor.data._shards import Shards
from equicolor.data._sources import Files, Held, Source
from equicolor.data._stream import stream_order
from equicolor.data._unlabeled import load_unlabeled
from equicolor.data._whereabouts import Whereabouts, is_data_root, original_file, whereabouts
from equicolor.data.augment import Augment
from equicolor.data.shapes import Shapes
from equicolor.data.shift import Shift, hue_coverage

__all__ = [
    "IMAGE_SUFFIXES",
    "MEMORY_LIMIT",
    "AmbiguousLayoutError",
    "Augment",
    "Batch",
    "Column",
    "Contents",
    "CorruptImageError",
    "DataNotFoundError",
    "Decoding",
    "Description",
    "Files",
    "Fingerprint",
    "Found",
    "GroupCache",
    "Held",
    "Hub",
    "ImageSet",
    "Layout",
    "Raw",
    "Remote",
    "Request",
    "Shapes",
    "Shards",
    "Shift",
    "Source",
    "Split",
    "Whereabouts",
    "WholeBatches",
    "collate",
    "decode",
    "describe",
    "find_files",
    "hue_coverage",
    "image_column",
    "is_address",
    "is_data_root",
    "is_own",
    "key",
    "list_datasets",
    "load",
    "load_unlabeled",
    "original_file",
    "permutation",
    "read_bytes",
    "read_footer",
    "register_data_set",
    "resolve",
    "splits_of",
    "stream_order",
    "title",
    "usual_test_splits",
    "whereabouts",
]
