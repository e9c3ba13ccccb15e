"""The renderer of the embedded 3D shapes: their numbering, solids, ray caster, the cache of what it cast, and colours.

It draws, and knows nothing of splits and labels: those are in ``sets/shapes3d.py``.
"""

from equicolor.data.shapes._factors import FACTORS, SHAPES, SIZE, to_factors, to_indices
from equicolor.data.shapes._render import Shapes
from equicolor.data.shapes._source import Rendered, RenderedMasks

__all__ = ["FACTORS", "SHAPES", "SIZE", "Rendered", "RenderedMasks", "Shapes", "to_factors", "to_indices"]
