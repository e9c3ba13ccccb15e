"""The NIH malaria cells: red blood cells from 200 slides that were stained differently, some pink, some blue.

The original release (Rajaraman et al., 2018) is ``cell_images/Parasitized/*.png`` and ``cell_images/Uninfected/*.png``;
the slide is the first part of a file's name. The other form is one table, ``cells.parquet``.

The *domain* of a slide is its stain: the hue of the median colour of its uninfected cells, the black around them left
out; blue from 200° to 290°, pink from 325° over 0° to 40°, between otherwise. The table has it as a column, for the
folders it is computed here. Cells of one slide look alike, so splits never cut one: a fifth of the slides, by a hash of
their names, is held out for testing. Classes are unbalanced, and otherwise in each domain: look at the balanced error.
"""

import re
import zlib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch

from equicolor._tools.images import IMAGE_SUFFIXES
from equicolor._tools.optional import require
from equicolor._tools.pixels import opened, rgb
from equicolor.color import rgb_to_hsv
from equicolor.data._column import Column
from equicolor.data._description import Description, Raw, Request, Split
from equicolor.data._errors import DataNotFoundError, reading
from equicolor.data._registry import register_data_set
from equicolor.data._sources import Files, Parquet, Source
from equicolor.data.sets._arrays import labels

CLASSES = ("uninfected", "parasitized")
DOMAINS = ("blue", "pink", "between")
_TABLE, _FOLDER = "cells.parquet", "cell_images"
#: Of 255: what is darker in every channel is not cell, but the black around it.
_BLACK = 10


def read(request: Request) -> Raw:
    """All cells, with the columns ``domain`` (0 blue, 1 pink, 2 between) and ``held_out`` (0 or 1)."""
    if (request.folder / _TABLE).is_file():
        return _table(request.folder / _TABLE, request)
    folder = next((place for place in (request.folder / _FOLDER, request.folder) if _is_release(place)), None)
    if folder is None:
        raise DataNotFoundError(f"no {_TABLE}, nor folders Parasitized and Uninfected in {request.folder / _FOLDER}")
    names, classes = list[str](), list[int]()
    for label, name in enumerate(CLASSES):
        files = sorted(path for path in (folder / name.title()).iterdir() if path.suffix.lower() in IMAGE_SUFFIXES)
        names += [path.relative_to(folder).as_posix() for path in files]
        classes += [label] * len(files)
    slides = [slide_of(name) for name in names]
    healthy = tuple(name for name, label in zip(names, classes, strict=True) if label == 0)
    domains = _domains(folder, healthy)
    if unknown := sorted(set(slides) - set(domains)):
        raise ValueError(f"{folder} has no uninfected cells of {unknown[0]}, by which its stain is told")
    found = [domains[slide] for slide in slides]
    return _raw(Files(folder, names, request.how), np.array(classes), slides, found, folder)


def slide_of(name: str) -> str:
    """The slide of a cell by the name of its file.

    >>> slide_of("Parasitized/C100P61ThinF_IMG_20150918_144104_cell_162.png")
    'C100P61'
    >>> slide_of("C47P8thinOriginalOlympusCX21_1_cell_1.png")  # the smear is written in four ways
    'C47P8'
    """
    return re.split("thin", Path(name).name.partition("_")[0], flags=re.IGNORECASE)[0]


def domain_of(hue: float) -> str:
    """The stain by its hue in degrees.

    >>> domain_of(250), domain_of(350), domain_of(310)
    ('blue', 'pink', 'between')
    """
    if 200 <= hue <= 290:
        return "blue"
    return "pink" if hue >= 325 or hue <= 40 else "between"


def is_held_out(slide: str) -> bool:
    """Whether a slide is one of the fifth for testing: the same on every machine, and for any part of the release."""
    return zlib.crc32(slide.encode()) % 5 == 0


def _is_release(folder: Path) -> bool:
    return all((folder / name.title()).is_dir() for name in CLASSES)


def _table(path: Path, request: Request) -> Raw:
    parquet = require("pyarrow.parquet", "reading Parquet files")
    wanted = ("image", "label", "slide", "stain_domain")
    with reading(path):
        if missing := [name for name in wanted if name not in parquet.read_schema(path).names]:
            raise ValueError(f"{path} lacks the columns {', '.join(missing)}: expected {', '.join(wanted)}")
        about = parquet.read_table(path, columns=list(wanted[1:])).to_pydict()
        source = Parquet(path, "image", len(about["label"]), request.how)
        return _raw(source, np.array(about["label"]), about["slide"], about["stain_domain"], path)


def _raw(source: Source, found: np.ndarray, slides: Sequence[str], domains: Sequence[str], path: Path) -> Raw:
    if unknown := sorted(set(domains) - set(DOMAINS)):
        raise ValueError(f"{path} has the stain domain {unknown[0]!r}: expected one of {', '.join(DOMAINS)}")
    stains = Column.of(domains, DOMAINS)
    columns = {
        "domain": stains.codes,
        "held_out": torch.tensor([int(is_held_out(slide)) for slide in slides]),
    }
    return Raw(source, labels(found, len(CLASSES), path), CLASSES, columns, domains=stains, clusters=Column.of(slides))


@lru_cache
def _domains(folder: Path, healthy: tuple[str, ...]) -> dict[str, str]:
    """The domain of each slide by its uninfected cells. They are some ten thousand: read once in a process."""
    by_slide: dict[str, list[str]] = {}
    for name in healthy:
        by_slide.setdefault(slide_of(name), []).append(name)
    domains = {}
    for slide, names in by_slide.items():
        parts = []
        for name in names:
            with opened(folder / name) as image:
                parts.append(np.asarray(rgb(image)).reshape(-1, 3))
        pixels = np.concatenate(parts)
        median = np.median(pixels[pixels.max(1) > _BLACK], axis=0) / 255
        domains[slide] = domain_of(float(rgb_to_hsv(torch.from_numpy(median).view(3, 1, 1))[0]))
    return domains


def _split(size: int, domain: str, held_out: int | None = None) -> Split:
    only = {"domain": (DOMAINS.index(domain),)} | ({} if held_out is None else {"held_out": (held_out,)})
    return Split("all", size, only)


register_data_set(
    Description(
        "malaria",
        "NIH malaria cells, parasitized or not; splits by the stain of the slides, a fifth of which is held out",
        read,
        {
            "train": Split("all", 21_666, {"held_out": (0,)}),
            "test": Split("all", 5_892, {"held_out": (1,)}),
            "blue_train": _split(7_221, "blue", 0),
            "blue_test": _split(1_738, "blue", 1),
            "pink_train": _split(13_336, "pink", 0),
            "pink_test": _split(4_086, "pink", 1),
            # Whole domains, for testing what was trained on another.
            "blue": _split(8_959, "blue"),
            "pink": _split(17_422, "pink"),
            "between": _split(1_177, "between"),
        },
        image_size=64,
        folder="malaria",
        signs=(_TABLE, f"{_FOLDER}/Parasitized", "Parasitized"),
        layout=f"the folder {_FOLDER} of the original release, with Parasitized and Uninfected, or {_TABLE}",
        classes=CLASSES,
    )
)
