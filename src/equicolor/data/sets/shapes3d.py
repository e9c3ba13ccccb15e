"""3D Shapes: our own renderer, or the original file ``3dshapes.h5`` where there is one.

Both have the same 480,000 images in the same order. The label is the shape.
"""

from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor

from equicolor._tools.optional import require
from equicolor.data._description import Description, Raw, Request, Split
from equicolor.data._errors import reading
from equicolor.data._registry import register_data_set
from equicolor.data._sources import Hdf5
from equicolor.data.sets._arrays import labels
from equicolor.data.shapes import FACTORS, SHAPES, SIZE, Rendered, RenderedMasks, to_factors

_HUES = ("floor_hue", "wall_hue", "object_hue")


def read(request: Request) -> Raw:
    """All images, with the three hues as columns, 0 … 9. Saturation, lighting and masks are our renderer's alone."""
    original = request.folder / "3dshapes.h5"
    if original.is_file() and not request.drawn and not request.masks:
        factors = _original_factors(original)
        return Raw(Hdf5(original, "images"), factors["shape"], SHAPES, {name: factors[name] for name in _HUES})
    source = Rendered(request.how.size, request.drawn, request.seed)
    factors = dict(zip(FACTORS, to_factors(torch.arange(SIZE)).unbind(1), strict=True))
    masks = RenderedMasks(request.how.size) if request.masks else None
    return Raw(source, factors["shape"], SHAPES, {name: factors[name] for name in _HUES}, masks)


def read_colors(request: Request) -> Raw:
    """The same, where the label is the colour of the object: of the hues 0 and 5, red and cyan."""
    raw = read(request)
    return replace(raw, labels=raw.columns["object_hue"] // 5, classes=("red", "cyan"))


def _original_factors(path: Path) -> dict[str, Tensor]:
    """Hues and shape of each row; the file stores hues as tenths of the circle, 0.0 … 0.9, and shapes as 0.0 … 3.0."""
    h5py = require("h5py", "reading HDF5 files")
    with reading(path), h5py.File(path, "r") as file:
        columns = dict(zip(FACTORS, torch.from_numpy(file["labels"][()]).double().T, strict=True))
        factors = {name: (columns[name] * 10).round().long() for name in _HUES} | {"shape": columns["shape"].long()}
    return {
        name: labels(values.numpy(), 10 if name in _HUES else len(SHAPES), path) for name, values in factors.items()
    }


_SHAPES = register_data_set(
    Description(
        "shapes3d",
        "3D Shapes, embedded: our renderer, or the original 3dshapes.h5 where there is one",
        read,
        {
            "all": Split("all", 480_000),
            "train": Split("all", 384_000, share=(0, 8, 10)),
            "test": Split("all", 96_000, share=(8, 10, 10)),
        },
        image_size=64,
        folder="shapes3d",
        segmentation_size=64,
        original="3dshapes.h5",
    )
)

_SMALL = replace(_SHAPES, image_size=32, segmentation_size=32)  # the paper downsamples by 2

# Colours as the paper numbers them: A has 0-4 throughout, B 5-9, C 0-4 for floor and wall and 5-9 for the object.
_FIRST, _SECOND = tuple(range(5)), tuple(range(5, 10))
_BLOCK_A = {"floor_hue": _FIRST, "wall_hue": _FIRST, "object_hue": _FIRST}
_BLOCK_B = {"floor_hue": _SECOND, "wall_hue": _SECOND, "object_hue": _SECOND}
_BLOCK_C = {"floor_hue": _FIRST, "wall_hue": _FIRST, "object_hue": _SECOND}


def _varied_shapes(
    factor: str, low: tuple[float, float], middle: tuple[float, float], high: tuple[float, float]
) -> dict[str, Split]:
    """Training and test A in the middle of a factor's range, B below it and C above it, on different shapes each."""
    return {
        "train": Split("all", 48_000, share=(0, 4, 40), drawn={factor: middle}),
        "test_a": Split("all", 12_000, share=(4, 5, 40), drawn={factor: middle}),
        "test_b": Split("all", 12_000, share=(5, 6, 40), drawn={factor: low}),
        "test_c": Split("all", 12_000, share=(6, 7, 40), drawn={factor: high}),
    }


register_data_set(
    replace(
        _SMALL,
        name="hue_shift_shapes3d",
        title="the paper's Hue-shift 3D Shapes: training and A with colours 0-4, B with 5-9, C with 5-9 on the object",
        splits={
            "train": Split("all", 48_000, only=_BLOCK_A, share=(0, 4, 5)),
            "test_a": Split("all", 12_000, only=_BLOCK_A, share=(4, 5, 5)),
            "test_b": Split("all", 12_000, only=_BLOCK_B, share=(4, 5, 5)),
            "test_c": Split("all", 12_000, only=_BLOCK_C, share=(4, 5, 5)),
        },
    )
)

register_data_set(
    replace(
        _SMALL,
        name="saturation_shift_shapes3d",
        title="embedded shapes: training and A of middle saturation, B below, C above",
        splits=_varied_shapes("saturation", (0.1, 0.4), (0.4, 0.7), (0.7, 1.0)),
        original="",
    )
)

register_data_set(
    replace(
        _SMALL,
        name="luminance_shift_shapes3d",
        title="embedded shapes: training and A in middle light, B darker, C brighter",
        splits=_varied_shapes("luminance", (-1.5, -0.5), (-0.5, 0.5), (0.5, 1.5)),
        original="",
    )
)

register_data_set(
    replace(
        _SMALL,
        name="color_of_shapes3d",
        title="embedded shapes, red or cyan: the class is the colour of the object, on floors and walls of all colours",
        reader=read_colors,
        splits={
            "train": Split("all", 76_800, only={"object_hue": (0, 5)}, share=(0, 4, 5)),
            "test": Split("all", 19_200, only={"object_hue": (0, 5)}, share=(4, 5, 5)),
        },
    )
)
