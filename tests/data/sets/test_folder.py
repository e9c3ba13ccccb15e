"""A user's own folder: its size is that of the files."""

from pathlib import Path

import pytest

from equicolor.data import load
from original_formats import write_image


def write(folder: Path, sizes: list[tuple[int, int]]) -> None:
    for number, size in enumerate(sizes):
        write_image(folder / f"{number}.png", size)


def test_images_of_a_folder_have_the_size_of_most_files(tmp_path: Path) -> None:
    write(tmp_path / "cat", [(30, 40)] * 6)
    write(tmp_path / "dog", [(50, 30), (300, 400), (8, 9)])
    assert load("folder", tmp_path, "all").image_size == 30
    assert load("folder", tmp_path, "all", image_size=16).image_size == 16


def test_all_splits_have_one_size(tmp_path: Path) -> None:
    write(tmp_path / "train" / "cat", [(24, 24)] * 5)
    write(tmp_path / "test" / "cat", [(64, 64)])
    assert load("folder", tmp_path, "train").image_size == load("folder", tmp_path, "test").image_size == 24


def test_photographs_are_not_taken_in_full_and_broken_files_are_not_asked(tmp_path: Path) -> None:
    write(tmp_path / "cat", [(700, 500)] * 2)
    (tmp_path / "cat" / "broken.png").write_bytes(b"no image")
    assert load("folder", tmp_path, "all", in_memory=False).image_size == 256


@pytest.mark.parametrize("count", [1, 199, 200, 201, 401])
def test_a_sample_of_any_folder_can_be_asked(tmp_path: Path, count: int) -> None:
    (tmp_path / "cat").mkdir()
    write_image(tmp_path / "cat" / "0.png", (9, 12))
    content = (tmp_path / "cat" / "0.png").read_bytes()
    for number in range(1, count):
        (tmp_path / "cat" / f"{number}.png").write_bytes(content)
    assert load("folder", tmp_path, "all").image_size == 9
