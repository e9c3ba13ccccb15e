"""What is said of a user's own images before anything is computed from them."""

from pathlib import Path

import pytest

import original_formats as formats
from equicolor.data import describe


def test_classes_counts_sizes_and_the_reading_are_said(tmp_path: Path) -> None:
    formats.write_class_folders(tmp_path / "train", per_class=5)
    formats.write_class_folders(tmp_path / "test_pink", per_class=2, classes=("dog",))
    found = describe("folder", tmp_path)
    assert (found.name, found.root, found.layout, found.cut) == ("folder", tmp_path, "split/class/image", "given")
    assert found.classes == ("cat", "dog")
    assert found.counts == {"train": {"cat": 5, "dog": 5}, "test_pink": {"cat": 0, "dog": 2}}
    assert (found.total, found.image_size, found.sizes) == (12, 10, {(12, 10): 12})
    assert found.lines() == [
        f"{tmp_path}: 12 images of 2 classes, read as split/class/image",
        "  train: 10 images: cat 5, dog 5",
        "  test_pink: 2 images: cat 0, dog 2",
        "  files of 12×10; read as 10×10 unless image_size says otherwise (the median of their short sides, 256 at the "
        "most)",
    ]


def test_many_classes_and_sizes_stay_short(tmp_path: Path) -> None:
    for number in range(20):
        for copy in range(1 + number % 2):
            formats.write_image(tmp_path / f"class {number}" / f"{copy}.png", (8 + number, 40))
    found = describe(tmp_path)
    assert found.lines()[1].startswith("  train: 24 images: from ")
    assert "20 different sizes with sides from 8 to 40" in found.size_line()
    assert sum(map(len, found.lines())) < 700


def test_files_that_say_no_size_are_said(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "0.png").write_bytes(b"no image")
    assert "none of the images that were asked says its size; read as 256×256" in describe(tmp_path).size_line()


def test_it_is_for_images_of_the_users_own() -> None:
    with pytest.raises(ValueError, match=r"describe is for images of your own.*; digits is one of list_datasets\(\)"):
        describe("digits")
