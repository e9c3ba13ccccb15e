"""Caltech-101: class folders of photographs, and the outline of each object in a MATLAB file.

An outline is a polygon, ``obj_contour`` ``(2, n)`` in pixels from the upper left corner of the object's box
``box_coord`` = (top, bottom, left, right), counted from 1 as MATLAB does. Masks are the inside of that polygon.
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from equicolor._tools.images import CorruptImageError, Decoding, fitted
from equicolor._tools.optional import require
from equicolor._tools.pixels import opened
from equicolor.data._description import Description, Hub, Raw, Request, Split
from equicolor.data._errors import DataNotFoundError
from equicolor.data._registry import register_data_set
from equicolor.data._sources import Drawn, Files
from equicolor.data.sets._arrays import holding
from equicolor.data.sets._class_folders import class_folders
from equicolor.data.sets._matlab import read_matlab

#: Class folders whose annotations go by another name.
_ANNOTATIONS = {
    "Faces": "Faces_2",
    "Faces_easy": "Faces_3",
    "Motorbikes": "Motorbikes_16",
    "airplanes": "Airplanes_Side_2",
}
#: Not a class, but what a search engine found for no class at all; the paper's 8,677 images leave it out.
_NO_CLASS = frozenset({"BACKGROUND_Google"})


def read(request: Request) -> Raw:
    """All images of the 101 classes."""
    folder = holding("101_ObjectCategories", request.folder / "caltech-101", request.folder)
    raw = class_folders(request, folder / "101_ObjectCategories", ignore=_NO_CLASS)
    if not request.masks:
        return raw
    if not (folder / "Annotations").is_dir():
        raise DataNotFoundError(f"no folder Annotations in {folder}: unpack Annotations.tar of Caltech-101 there")
    assert isinstance(raw.source, Files)
    names = [raw.source.path(row).relative_to(folder).as_posix() for row in range(len(raw.source))]
    return Raw(raw.source, raw.labels, raw.classes, masks=Drawn(folder, names, request.how, draw_mask, annotation))


def annotation(image: Path) -> Path:
    """The file with the outline of the object on an image."""
    folder = image.parents[2] / "Annotations" / _ANNOTATIONS.get(image.parent.name, image.parent.name)
    return folder / f"annotation_{image.stem.removeprefix('image_')}.mat"


def draw_mask(image: Path, how: Decoding) -> NDArray[np.uint8]:
    """The mask of the object on an image, ``(size, size, 1)`` of 0 and 1."""
    pil = require("PIL.Image", "drawing masks")
    drawing = require("PIL.ImageDraw", "drawing masks")
    path = annotation(image)
    try:
        content = read_matlab(path)
        contour, box = np.asarray(content["obj_contour"], dtype=float), np.asarray(content["box_coord"], dtype=float)
        with opened(image) as picture:
            canvas = pil.new("L", picture.size)
        top, _, left, _ = box.reshape(4)
        outline = [(x + left - 1, y + top - 1) for x, y in contour.reshape(2, -1).T]
        drawing.Draw(canvas).polygon(outline, fill=1, outline=1)
    except Exception as error:  # a damaged MATLAB file can fail in any way
        raise CorruptImageError(
            f"{path} gives no outline of the object on {image} ({error}). Replace it, or pass on_error='skip'."
        ) from error
    return np.asarray(fitted(canvas, how, pil.Resampling.NEAREST))[..., None]


register_data_set(
    Description(
        "caltech101",
        "Caltech-101, classes or (task='segmentation') masks of the objects",
        read,
        {
            "train": Split("all", 6_941, share=(0, 8, 10)),
            "val": Split("all", 868, share=(8, 9, 10)),
            "test": Split("all", 868, share=(9, 10, 10)),
            # The paper's classification experiment: two thirds for training, one third for testing.
            "two_thirds": Split("all", 5_784, share=(0, 2, 3)),
            "one_third": Split("all", 2_893, share=(2, 3, 3)),
        },
        image_size=256,
        folder="caltech101",
        signs=("101_ObjectCategories", "caltech-101/101_ObjectCategories"),
        layout="the folder 101_ObjectCategories and, for segmentation, the folder Annotations",
        segmentation_size=224,
        hub=Hub(
            "flwrlabs/caltech101",
            splits=dict.fromkeys(("train", "val", "test", "two_thirds", "one_third"), "train"),
        ),
    )
)
