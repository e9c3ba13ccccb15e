"""The malaria cells, from their original folders and from a table."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from equicolor.data import DataNotFoundError, ImageSet, load
from equicolor.data.sets.malaria import is_held_out

#: Colours of slides as they are stained; what lies around a cell is black.
STAINS = {"blue": (120, 115, 150), "pink": (200, 150, 155), "between": (150, 115, 150)}
#: Of each stain a slide for training and one that is held out.
SLIDES = {
    stain: [next(n for n in (f"C{i}{stain}" for i in range(99)) if is_held_out(n) == held) for held in (False, True)]
    for stain in STAINS
}


def small(root: Path, split: str, **arguments: Any) -> ImageSet:
    return load("malaria", root, split, check_size=False, **arguments)


def cell(stain: str, infected: bool) -> Image.Image:
    pixels = np.zeros((20, 16, 3), np.uint8)
    pixels[6:14, 4:12] = STAINS[stain]  # 64 of 320 pixels
    if infected:
        pixels[6:14, 4:12] = (0, 255, 0)  # which says nothing of the stain
    return Image.fromarray(pixels)


def cells() -> list[tuple[str, str, bool]]:
    """Stain, slide and infection of each: of every slide three uninfected and a parasitized one."""
    return [(stain, slide, n == 3) for stain, slides in SLIDES.items() for slide in slides for n in range(4)]


def write_folders(folder: Path) -> None:
    for number, (stain, slide, infected) in enumerate(cells()):
        place = folder / ("Parasitized" if infected else "Uninfected")
        place.mkdir(parents=True, exist_ok=True)
        cell(stain, infected).save(place / f"{slide}ThinF_IMG_2015_cell_{number}.png")
    (folder / "Uninfected" / "Thumbs.db").write_bytes(b"as in the release")


def write_table(path: Path) -> None:
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    images = []
    for stain, _, infected in cells():
        data = io.BytesIO()
        cell(stain, infected).save(data, "PNG")
        images.append(data.getvalue())
    stains, slides, infected_ones = zip(*cells(), strict=True)
    columns = {"image": images, "label": [int(i) for i in infected_ones], "slide": slides, "stain_domain": stains}
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(pa.table(columns), path)


@pytest.fixture(params=["folders", "table"])
def root(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    if request.param == "folders":
        write_folders(tmp_path / "malaria" / "cell_images")
    else:
        write_table(tmp_path / "malaria" / "cells.parquet")
    return tmp_path


def test_a_split_is_of_one_stain_and_cuts_no_slide(root: Path) -> None:
    for stain in ("blue", "pink"):
        train, test, both = (small(root, split) for split in (f"{stain}_train", f"{stain}_test", stain))
        assert train.labels.tolist() == test.labels.tolist() == [0, 0, 0, 1]
        assert sorted(both.original_rows.tolist()) == sorted([*train.original_rows, *test.original_rows])
        centre = train.images[train.labels == 0, :, 32, 32]
        assert (centre.float() - centre.new_tensor(STAINS[stain]).float()).abs().max() <= 1
    assert len(small(root, "between")) == 8
    assert len(small(root, "train")) == len(small(root, "test")) == 12
    assert small(root, "train").classes == ("uninfected", "parasitized")


def test_cells_know_their_stain_and_their_slide_also_in_a_sample(root: Path) -> None:
    for images in (small(root, "pink"), small(root, "pink").sample(5), small(root, "train").subset([3, 1])):
        assert images.domains is not None
        assert images.clusters is not None
        for stain, slide in zip(images.domains.values, images.clusters.values, strict=True):
            assert slide in SLIDES[stain]
        assert len(images.domains) == len(images.clusters) == len(images)


def test_folders_and_table_give_the_same_cells(tmp_path: Path) -> None:
    write_folders(tmp_path / "cell_images")
    from_folders = small(tmp_path, "pink")
    write_table(tmp_path / "cells.parquet")
    from_table = small(tmp_path, "pink")
    assert sorted(map(bytes, from_folders.images.numpy())) == sorted(map(bytes, from_table.images.numpy()))


def test_a_slide_without_uninfected_cells_has_no_stain(tmp_path: Path) -> None:
    write_folders(tmp_path / "cell_images")
    cell("pink", True).save(tmp_path / "cell_images" / "Parasitized" / "C9ThinF_IMG_1_cell_1.png")
    with pytest.raises(ValueError, match="no uninfected cells of C9, by which its stain is told"):
        small(tmp_path, "pink")


def test_a_table_of_other_columns_is_refused(tmp_path: Path) -> None:
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pa.table({"image": [b""], "label": [0]}), tmp_path / "cells.parquet")
    with pytest.raises(ValueError, match="lacks the columns slide, stain_domain"):
        small(tmp_path, "pink")


def test_half_a_release_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "cell_images" / "Parasitized").mkdir(parents=True)
    with pytest.raises(DataNotFoundError, match="folders Parasitized and Uninfected"):
        small(tmp_path, "pink")
