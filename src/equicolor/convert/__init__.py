"""An existing CNN made equivariant: it is run to find out what it does, and its layers are replaced one by one.

What is true of any network of any author belongs here; the layers that are put in place of others are those of a kit of
``models``. How networks of other libraries are made, by name and with their weights, is for ``sources``.
``equicolor.convert`` is the function; whatever else lives here is imported as ``from equicolor.convert import ...``.
"""

from typing import TYPE_CHECKING

from equicolor._tools.renamed import moved
from equicolor.convert._about import about, normalization
from equicolor.convert._budget import BudgetOf
from equicolor.convert._classifier import classifier_of, resized
from equicolor.convert._convert import convert
from equicolor.convert._converted import Converted

__all__ = ["BudgetOf", "Converted", "about", "classifier_of", "convert", "normalization", "resized"]

if not TYPE_CHECKING:
    __getattr__ = moved(__name__, {"normalisation": "equicolor.convert.normalization"})
