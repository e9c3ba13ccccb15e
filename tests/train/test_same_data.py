"""A run goes on with the images it started with, or not at all."""

import json
import shutil
from pathlib import Path

import pytest
import torch

import original_formats as formats
from equicolor.train import Recipe, TrainingError, fit, resume
from runs import SMALL, assert_identical, fail, stop_at, weights


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """Images, a run that stopped in the middle, and the same run to its end."""
    torch.set_num_threads(1)  # as the tests have, which come after this
    home = tmp_path_factory.mktemp("begun")
    formats.write_class_folders(home / "images", per_class=40, classes=("cat", "dog"))
    fit(recipe(home), home / "whole", quiet=True)
    with pytest.MonkeyPatch.context() as patch:
        stop_at(patch, 3, fail)
        with pytest.raises(KeyboardInterrupt):
            fit(recipe(home), home / "run", quiet=True)
    return home


@pytest.fixture
def home(begun, tmp_path):
    """A copy of it to change, elsewhere; the run looks for its images there."""
    shutil.copytree(begun, tmp_path, dirs_exist_ok=True)
    (tmp_path / "run" / "recipe.yaml").write_text(recipe(tmp_path).to_yaml())
    return tmp_path


def recipe(home, **options):
    changes = {"data": "folder", "data_options": {"root": str(home / "images"), "image_size": 28, **options}}
    changes |= {"test_splits": ["test"], "train_size": None, "augment": "none", "checkpoint_every": 2, "epochs": 2}
    return Recipe.from_dict({**SMALL.to_dict(), **changes})


def files(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            lambda images: (images / "cat").rename(images / "tabby"),
            r"training on train: 2 classes before, 2 now, without 'cat' and with 'tabby'\. testing on test: 2 classes",
        ),
        (
            lambda images: [path.unlink() for path in sorted((images / "dog").iterdir())[:20]],
            r"training on train: 64 images before, 48 now\. testing on test: 8 images before, 6 now",
        ),
        (
            lambda images: [formats.write_image(path, (64, 64)) for path in images.rglob("1*.png")],
            r"training on train: as many images and the same classes, names and labels, but other sizes or contents",
        ),
    ],
    ids=["a class folder is renamed", "images are deleted", "images are replaced"],
)
def test_other_images_are_refused_and_named_and_the_run_is_left_as_it_was(home, change, expected):
    before = files(home / "run")
    change(home / "images")
    with pytest.raises(TrainingError, match=rf"{home / 'run'} started \({expected}.*Put them back.*or start a new run"):
        resume(home / "run", quiet=True)
    assert files(home / "run") == before


def test_once_the_images_are_put_back_the_run_ends_as_if_nothing_had_been(home):
    image = home / "images" / "cat" / "7.png"
    kept = image.read_bytes()
    image.unlink()
    with pytest.raises(TrainingError, match="the images have changed"):
        resume(home / "run", quiet=True)
    image.write_bytes(kept)
    assert_identical(weights(resume(home / "run", quiet=True).folder), weights(home / "whole"))


@pytest.mark.parametrize("in_memory", [True, False])
def test_the_place_of_the_images_workers_and_memory_do_not_matter(home, in_memory):
    (home / "images").rename(home / "moved")
    (home / "images").symlink_to(home / "moved")
    changed = recipe(home, in_memory=in_memory).replace(workers=1)
    (home / "run" / "recipe.yaml").write_text(changed.to_yaml())
    assert_identical(weights(resume(home / "run", quiet=True).folder), weights(home / "whole"))


def test_a_run_of_before_there_were_records_goes_on_and_has_one_then(home):
    path = home / "run" / "data.json"
    recorded = json.loads(path.read_text())
    path.unlink()
    resume(home / "run", quiet=True)
    assert json.loads(path.read_text()) == recorded


def test_the_record_can_be_read(home):
    recorded = json.loads((home / "run" / "data.json").read_text())
    assert {use: list(splits) for use, splits in recorded.items()} == {"training": ["train"], "testing": ["test"]}
    train = recorded["training"]["train"]
    assert (train["count"], train["classes"], train["image_size"]) == (64, ["cat", "dog"], 28)


@pytest.mark.parametrize("content", ["", "[]", '{"training": {"train": {"count": 3}}}'])
def test_a_damaged_record_is_named(home, content):
    (home / "run" / "data.json").write_text(content)
    with pytest.raises(TrainingError, match=r"data\.json is damaged .*move it elsewhere"):
        resume(home / "run", quiet=True)


def test_a_run_finds_images_whose_folder_has_letters_of_any_language_on_windows_too(home, monkeypatch):
    """Windows reads text in an encoding of its own unless told otherwise."""
    read_text = Path.read_text
    monkeypatch.setattr(
        Path, "read_text", lambda self, encoding="cp1252", errors=None: read_text(self, encoding, errors)
    )
    (home / "images").rename(home / "Bilder für alle")
    moved = recipe(home, root=str(home / "Bilder für alle"))
    (home / "run" / "recipe.yaml").write_text(moved.to_yaml(), encoding="utf-8")
    assert_identical(weights(resume(home / "run", quiet=True).folder), weights(home / "whole"))
