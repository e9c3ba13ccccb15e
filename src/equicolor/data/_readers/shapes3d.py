"""3D Shapes: our own renderer, or the original file ``3dshapes.h5`` where there is one.

Both have the same 480,000 images in the same order: row-major over floor hue (10), wall hue (10), object hue (10),
scale (8), shape (4) and orientation (15), the last fastest. The label is the shape.
"""

from pathlib import Path

import torch
from torch import Tensor

from equicolor._tools.optional import require
from equicolor.data._readers import Raw, Request
from equicolor.data._sources import Hdf5, Rendered, RenderedMasks

FACTORS = {"floor_hue": 10, "wall_hue": 10, "object_hue": 10, "scale": 8, "shape": 4, "orientation": 15}
CLASSES = ("cube", "cylinder", "sphere", "capsule")
_HUES = ("floor_hue", "wall_hue", "object_hue")


def read(request: Request) -> Raw:
    """All images, with the three hues as columns, 0 … 9. Saturation, lighting and masks are our renderer's alone."""
    original = request.folder / "3dshapes.h5"
    if original.is_file() and not request.drawn and not request.masks:
        factors = _original_factors(original)
        return Raw(Hdf5(original, "images"), factors["shape"], CLASSES, {name: factors[name] for name in _HUES})
    source = Rendered(request.how.size, request.drawn, request.seed)
    indices = torch.unravel_index(torch.arange(len(source)), tuple(FACTORS.values()))
    factors = dict(zip(FACTORS, indices, strict=True))
    masks = RenderedMasks(request.how.size) if request.masks else None
    return Raw(source, factors["shape"], CLASSES, {name: factors[name] for name in _HUES}, masks)


def _original_factors(path: Path) -> dict[str, Tensor]:
    """Hues and shape of each row; the file stores hues as tenths of the circle, 0.0 … 0.9, and shapes as 0.0 … 3.0."""
    with require("h5py", "reading HDF5 files").File(path, "r") as file:
        labels = torch.from_numpy(file["labels"][()])
    columns = dict(zip(FACTORS, labels.T, strict=True))
    return {name: (columns[name] * 10).round().long() for name in _HUES} | {"shape": columns["shape"].long()}
