"""Images without labels: all that are below a folder, for what is learnt or looked at without them."""

import os
from pathlib import Path

import torch

from equicolor._tools.images import IMAGE_SUFFIXES, Decoding, Fit
from equicolor.data._errors import DataNotFoundError
from equicolor.data._imageset import ImageSet
from equicolor.data._sources import Files


def load_unlabeled(folder: str | os.PathLike[str], image_size: int, *, fit: Fit = "crop") -> ImageSet:
    """Loads all images below a folder, whatever its folders mean.

    Args:
        folder: the folder; what is hidden, by a name that starts with a dot, is left out.
        image_size: height and width that images are brought to.
        fit: how images of other shapes are fitted into the square, ``"crop"`` or ``"stretch"``.

    Returns:
        The images in the order of their names, streamed; all labels are 0, of one class, ``"image"``.

    Raises:
        DataNotFoundError: there is no such folder, or no image in it.
    """
    place = Path(folder).expanduser()
    if not place.is_dir():
        raise DataNotFoundError(f"there is no folder {place}")
    below = (path.relative_to(place) for path in place.rglob("*") if path.suffix.lower() in IMAGE_SUFFIXES)
    names = sorted(path.as_posix() for path in below if not any(part.startswith(".") for part in path.parts))
    if not names:
        raise DataNotFoundError(
            f"{place} holds no images: expected files that end in {', '.join(sorted(IMAGE_SUFFIXES))}"
        )
    source, rows = Files(place, names, Decoding(image_size, fit)), torch.arange(len(names))
    labels = torch.zeros(len(names), dtype=torch.int64)
    return ImageSet(
        str(place),
        "all",
        source=source,
        rows=rows,
        original_rows=rows,
        labels=labels,
        classes=("image",),
        fit=fit,
        origin=(source,),
    )
