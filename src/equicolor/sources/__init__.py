"""Networks of other libraries by name, with the weights they were trained to: ``create_model("timm:resnet18", ...)``.

A file for each library says what it has and how it is made; what becomes of a network then is for ``convert``. Names
are looked up in the library's own registry and nowhere else. Libraries are imported when a network of theirs is made.
"""

from equicolor.sources._library import Library
from equicolor.sources._make import SourceModel, in_order, make
from equicolor.sources._weights import read_weights

__all__ = ["Library", "SourceModel", "in_order", "make", "read_weights"]
