"""What is uploaded is taken with care: limits hold, damaged files are named, and nothing of a zip is written."""

import io
import os
import zipfile
from itertools import pairwise

import pytest
from PIL import Image

from equicolor.app import _uploads as uploads
from equicolor.app import example_pictures, read_picture
from equicolor.app._tab_diagnose import diagnose_page
from equicolor.app._tab_sort import sort_page
from equicolor.app._uploads import read_uploads


def encoded(color=(10, 200, 30), size=(12, 8)):
    data = io.BytesIO()
    Image.new("RGB", size, color).save(data, format="png")
    return data.getvalue()


@pytest.fixture
def archive(tmp_path):
    def write(entries):
        path = tmp_path / "images.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
            for name, data in entries.items():
                file.writestr(name, data)
        return path

    return write


def test_images_of_a_zip_are_read_wherever_they_are_in_it(archive):
    path = archive(
        {"a/one.png": encoded(), "b/c/two.png": encoded(), "notes.txt": b"no image", "__MACOSX/._one.png": b""}
    )
    found = read_uploads([path], 16)
    assert found.names == ["one.png", "two.png"]
    assert found.batch.shape == (2, 3, 16, 16)
    assert found.problems == []


def test_names_that_climb_out_of_a_zip_write_nothing(archive, tmp_path):
    before = set(os.listdir(tmp_path.parent))
    found = read_uploads([archive({"../../evil.png": encoded(), "/etc/other.png": encoded()})], 16)
    assert sorted(found.names) == ["evil.png", "other.png"]
    assert set(os.listdir(tmp_path.parent)) == before


def test_what_unpacks_to_too_much_is_left_out(archive, monkeypatch):
    monkeypatch.setattr(uploads, "MOST_BYTES", 1000)
    found = read_uploads([archive({"bomb.png": b"\0" * 100_000, "good.png": encoded()})], 16)
    assert found.names == ["good.png"]
    assert found.problems == ["bomb.png: too large when unpacked"]


def test_all_of_a_zip_together_has_a_limit(archive, monkeypatch):
    monkeypatch.setattr(uploads, "MOST_UNPACKED", 2 * len(encoded()))
    found = read_uploads([archive({f"{place}.png": encoded() for place in range(5)})], 16)
    assert len(found.names) == 2


def test_no_more_images_than_the_limit_are_taken(archive):
    found = read_uploads([archive({f"{place}.png": encoded() for place in range(9)})], 16, limit=4)
    assert len(found.images) == 4
    assert found.problems == ["the first 4 images were taken"]


@pytest.mark.parametrize("name", ["broken.zip", "broken.png", "words.txt"])
def test_what_is_damaged_is_named(tmp_path, name):
    (tmp_path / name).write_bytes(b"nothing of the kind")
    found = read_uploads([tmp_path / name], 16)
    assert not found.images
    assert name in found.problems[0]


def test_a_broken_image_is_named_without_its_folder(tmp_path):
    (tmp_path / "broken.png").write_bytes(b"nothing of the kind")
    with pytest.raises(ValueError, match=r"^broken\.png cannot be read as an image \(it holds none of"):
        read_picture(tmp_path / "broken.png")


def test_large_images_are_kept_small_and_long_ones_whole(tmp_path):
    Image.new("RGB", (3000, 1500), (9, 9, 9)).save(tmp_path / "large.jpg")
    assert read_picture(tmp_path / "large.jpg").pixels.shape == (512, 1024, 3)


def test_the_examples_are_shapes_of_known_classes():
    assert {picture.label for picture in example_pictures()} == {"cube", "cylinder", "sphere", "capsule"}


def test_sorting_follows_the_hue_of_one_image_turned(stage):
    from equicolor.app._sorting import example_images, sort_images

    images = example_images()[::2]  # the cubes, turned by these:
    turns = [200, 40, 320, 120, 0, 280, 80, 240, 160]
    order = [turns[place] for place in sort_images(stage["Hue-4"], images).order]
    steps = {(after - before) % 360 for before, after in pairwise(order)}
    assert steps == {40}


def test_sorting_says_what_is_wrong(stage, tmp_path):
    (tmp_path / "broken.png").write_bytes(b"nothing of the kind")
    page, said = sort_page(stage, [str(tmp_path / "broken.png")])
    assert page == ""
    assert "broken.png" in said
    Image.new("RGB", (40, 40), (90, 90, 90)).save(tmp_path / "gray.png")
    assert "all grey" in sort_page(stage, [str(tmp_path / "gray.png")])[1]


def test_the_example_of_the_diagnosis_finds_the_warmer_light():
    page, said = diagnose_page(None, None)
    assert said == ""
    assert "temperature +0.79 explains 100%" in page


def test_a_diagnosis_takes_five_images_of_each_set(archive):
    page, said = diagnose_page([str(archive({"one.png": encoded()}))], None)
    assert page == ""
    assert "In the first set are 1 images" in said
