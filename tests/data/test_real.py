"""Real MNIST, CIFAR-10 and malaria cells, found through EQUICOLOR_DATA."""

import io
import os
from pathlib import Path

import pytest
import torch
from PIL import Image

from equicolor.color import rgb_to_hsv
from equicolor.data import describe, load
from equicolor.data.sets.malaria import slide_of

ROOT = Path(os.environ.get("EQUICOLOR_DATA", ""))


def needs(name: str) -> pytest.MarkDecorator:
    there = "EQUICOLOR_DATA" in os.environ and (ROOT / name).is_dir()
    return pytest.mark.skipif(
        not there, reason=f"needs real {name}: set EQUICOLOR_DATA to the folder that holds {name}/"
    )


@needs("mnist")
def test_real_mnist_is_complete() -> None:
    train, test = load("mnist", ROOT), load("mnist", ROOT, "test")
    assert (train.images.shape, test.images.shape) == ((60_000, 3, 28, 28), (10_000, 3, 28, 28))
    assert train.labels[:10].tolist() == [5, 0, 4, 1, 9, 2, 1, 3, 1, 4]
    assert test.labels.bincount().tolist() == [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]
    assert train.images[:, 0].float().mean() / 255 == pytest.approx(0.1307, abs=1e-4)


@needs("mnist")
def test_hue_shift_mnist_has_the_papers_hues() -> None:
    ranges = {"train": (0, 240), "test_a": (0, 240), "test_b": (240, 360)}
    for split, (low, high) in ranges.items():
        digits = load("hue_shift_mnist", ROOT, split).sample(500)
        images = digits[range(500)].images
        hue, _, value = rgb_to_hsv(images).unbind(1)
        hues = hue[value > 0.9]
        assert hues.min() >= low - 0.1
        assert hues.max() <= high + 0.1
        assert hues.max() - hues.min() > 0.95 * (high - low)
        assert (images.amin(1) == 0).all()  # pure hues on black
    assert len(load("hue_shift_mnist", ROOT)) == 60_000


@needs("cifar10")
def test_real_cifar10_is_read_from_parquet(tmp_path: Path) -> None:
    test = load("cifar10", ROOT, "test", cache=tmp_path)
    assert test.images.shape == (10_000, 3, 32, 32)
    assert test.labels.bincount().tolist() == [1000] * 10
    mean = test.images.float().mean((0, 2, 3)) / 255
    assert torch.allclose(mean, torch.tensor([0.494, 0.485, 0.450]), atol=3e-3)


@needs("malaria")
def test_real_malaria_cells_are_cut_by_stain_and_by_slide() -> None:
    counts = {
        "train": [11099, 10567],
        "test": [2680, 3212],
        "blue_train": [4226, 2995],
        "blue_test": [1032, 706],
        "pink": [7632, 9790],
        "between": [889, 288],
    }
    for split, expected in counts.items():
        cells = load("malaria", ROOT, split, in_memory=False)
        assert cells.labels.bincount().tolist() == expected
    red, _, blue = load("malaria", ROOT, "blue_test", image_size=32).images.float().mean((0, 2, 3))
    assert blue > red
    red, _, blue = load("malaria", ROOT, "pink", in_memory=False).sample(200)[:].images.mean((0, 2, 3))
    assert red > blue


@needs("malaria")
def test_the_stain_of_real_slides_is_that_of_their_uninfected_cells(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(ROOT / "malaria" / "cells.parquet").to_pylist()
    chosen = [row for row in table if row["slide"] in ("C102P63", "C172P133", "C177P138N", "C100P61")]
    for row in chosen:  # as the original folders have them
        place = tmp_path / "cell_images" / row["label_name"].title() / Path(row["file"]).with_suffix(".png").name
        place.parent.mkdir(parents=True, exist_ok=True)
        Image.open(io.BytesIO(row["image"])).save(place)
    for split in ("blue", "pink", "between"):
        cells = load("malaria", tmp_path, split, in_memory=False, check_size=False)
        assert len(cells) == sum(row["stain_domain"] == split for row in chosen)


@needs("malaria")
def test_the_slides_of_the_original_names_are_those_of_the_table() -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(ROOT / "malaria" / "cells.parquet", columns=["slide", "file"]).to_pydict()
    assert [slide_of(name) for name in table["file"]] == table["slide"]


@needs("malaria")
def test_real_cells_are_a_table_as_any_other() -> None:
    cells = describe(ROOT / "malaria" / "cells.parquet")
    assert (cells.total, cells.classes, cells.image_size) == (27_558, ("parasitized", "uninfected"), 64)
    assert sum(cells.groups.values()) == 200  # slides, none of which is in two splits
    for split, share in (("train", 0.8), ("val", 0.1), ("test", 0.1)):
        assert sum(cells.counts[split].values()) == pytest.approx(share * cells.total, rel=0.01)
