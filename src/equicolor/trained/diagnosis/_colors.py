"""The colours of a set: some pixels of some of its images. No labels are needed, so any folder of images will do."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import torch
from torch import Tensor

from equicolor._tools.images import resized
from equicolor._tools.spelling import spelled_as
from equicolor.color import as_images, check_range
from equicolor.data import ImageSet, list_datasets, load, permutation
from equicolor.trained._batches import file_batches
from equicolor.trained._find import find_images

#: A set of images: one that was loaded, a tensor ``(N, 3, H, W)``, a folder or table, or a name, ``"malaria:pink"``.
Images: TypeAlias = ImageSet | Tensor | str | os.PathLike[str]

#: Files are brought to this side; so many pixels are picked of each image; so many images are kept to be shown.
_SIDE, _PIXELS, _SHOWN = 96, 8, 8
#: Channels of a grey pixel differ by no more than this: three steps of 8 bits.
_NO_COLOR = 3 / 255
#: So many images of a set are looked at, where nobody says otherwise.
LIMIT = 1000
#: Sets with fewer images cannot be told from chance.
LEAST_IMAGES = 5


@dataclass(frozen=True, eq=False)
class Colors:
    """Pixels of a set.

    Attributes:
        name: of the set.
        count: how many images the set has.
        pixels: of some of them, RGB in [0, 1], ``(images, 3, 1, pixels)``.
        features: what each image is like as a whole, see :func:`_features`, ``(images, features)``.
        clusters: which images belong together, ``(images,)``; None where that is not known.
        shown: a few whole images, ``(K, 3, S, S)``.
        unread: how many files cannot be read.
    """

    name: str
    count: int
    pixels: Tensor
    features: Tensor
    clusters: Tensor | None
    shown: Tensor
    unread: int = 0

    def __len__(self) -> int:
        return len(self.pixels)

    @property
    def gray(self) -> bool:
        """Whether there is no colour in it, but for what JPEG leaves."""
        chroma = self.pixels.amax(1) - self.pixels.amin(1)
        return bool(chroma.flatten().quantile(0.99) <= _NO_COLOR)


def colors_of(images: Images, limit: int = LIMIT, seed: int = 0, root: Path | None = None) -> Colors:
    """The colours of a set.

    Args:
        images: a set that was loaded; a tensor ``(N, 3, H, W)``; the path of a folder, of which all image files below
            it are taken, with labels or without; or what :func:`equicolor.data.load` takes, with a split behind a
            colon: ``"malaria:pink"``.
        limit: how many images are looked at.
        seed: which.
        root: the folder that holds data sets; by default that of the environment.
    """
    if limit < LEAST_IMAGES:
        raise ValueError(f"colours are compared over {LEAST_IMAGES} images at least, got a limit of {limit}")
    unread = 0
    if isinstance(images, Tensor):
        if images.dim() != 4:
            raise ValueError(f"expected a batch of images (N, 3, H, W), got shape {tuple(images.shape)}")
        name, count, clusters = "images", len(images), None
        batch = as_images(images[permutation(count, seed, "colors")[:limit]])
        check_range(batch)
    elif isinstance(images, ImageSet):
        name, count = f"{images.name} {images.split}" + (f" under {images.shift}" if images.shift else ""), len(images)
        some = images.sample(min(limit, count), seed)
        batch, clusters = _read(some)
    elif (folder := Path(images).expanduser()).is_dir():
        name, clusters = str(images), None
        count, batch, unread = _files(folder, limit, seed)
    else:
        return colors_of(_named(os.fspath(images), root), limit, seed)
    if len(batch) < LEAST_IMAGES:
        raise ValueError(f"{name} has {len(batch)} images: colours are compared over {LEAST_IMAGES} at least")
    return Colors(name, count, _picked(batch, seed), _features(batch), clusters, batch[:_SHOWN], unread)


def named_split(text: str) -> tuple[str, str]:
    """The name or path of a set, and the split that may stand behind a colon; empty where there is none.

    Raises:
        ValueError: there is no such set, folder or file.

    >>> named_split("malaria:pink"), named_split("digits")
    (('malaria', 'pink'), ('digits', ''))
    """
    name, _, split = text.rpartition(":")
    for given, part in ((name, split), (text, "")):
        known = spelled_as(given, list_datasets())
        if known in list_datasets() or (given and Path(given).exists()):
            return known, part
    raise ValueError(
        f"there is no folder or file {text!r}, nor a data set of this name: expected a path, or one of "
        f"{', '.join(list_datasets())}, with a split behind a colon, as in 'malaria:pink'"
    )


def _named(text: str, root: Path | None) -> ImageSet:
    """A set by its name, or by the path of a table; the split stands behind a colon."""
    name, split = named_split(text)
    place = root if name in list_datasets() else None  # a path says where it is
    return load(name, place, in_memory=False, split=split) if split else load(name, place, in_memory=False)


def _read(images: ImageSet) -> tuple[Tensor, Tensor | None]:
    """All images of a small set, and which of them belong together; without those that cannot be read."""
    here = images.in_memory()
    clusters = None if here.clusters is None else here.clusters.codes
    return here.fetch(torch.arange(len(here))).images.float(), clusters


def _files(folder: Path, limit: int, seed: int) -> tuple[int, Tensor, int]:
    """How many image files are below a folder, some of them, and how many of those cannot be read."""
    problems: list[str] = []
    paths = find_images([str(folder)], lambda name, why: problems.append(f"{name}: {why}"))
    if not paths:
        raise ValueError("; ".join(problems))
    chosen = [paths[place] for place in permutation(len(paths), seed, "colors")[:limit].tolist()]
    batches = [batch for _, batch in file_batches(chosen, _SIDE, 64, lambda name, why: problems.append(name))]
    if not batches:
        raise ValueError(f"none of the images below {folder} can be read")
    images = as_images(torch.cat(batches))
    return len(paths), images, len(chosen) - len(images)


def _picked(images: Tensor, seed: int) -> Tensor:
    """Pixels as they are, at random places: averages would have colours that are not in the image."""
    size = images.shape[-1] * images.shape[-2]
    draws = torch.Generator().manual_seed(seed)
    places = torch.randint(size, (len(images), _PIXELS), generator=draws)
    return images.flatten(2).gather(2, places[:, None].expand(-1, 3, -1)).unsqueeze(2)


def _features(images: Tensor) -> Tensor:
    """What each image is like: its mean colour, how colourful it is and along which axes, and its contrast.

    A turn of hue, or paler colours, leave all pixels together much as they are: greys outweigh them. Products of the
    differences between opponent colours, red and green, yellow and blue, do not average out.
    """
    red, green, blue = images.flatten(2).unbind(1)
    across, along = red - green, (red + green) / 2 - blue
    chroma = images.amax(1).flatten(1) - images.amin(1).flatten(1)
    products = [each.mean(1) for each in (across**2, across * along, along**2, chroma)]
    means = [each.mean(1) for each in (red, green, blue)]
    return torch.stack([*means, *products, green.std(1)], dim=1)


def thumbnails(images: Tensor) -> Tensor:
    """Images in [0, 1] as small pictures, uint8."""
    return resized((255 * images).round().to(torch.uint8), 64)
