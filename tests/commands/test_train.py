"""``equicolor train``: what its arguments come to, without training."""

from pathlib import Path

import pytest
from PIL import Image

from equicolor import cli
from equicolor.train import Recipe


@pytest.fixture
def trained(monkeypatch):
    """What was to be trained: a recipe and a folder, or what to go on with."""
    from equicolor import train

    calls = []
    monkeypatch.setattr(train, "fit", lambda recipe, folder: calls.append((recipe, folder)))
    monkeypatch.setattr(train, "fit_seeds", lambda recipe, seeds, folder: calls.append((recipe, seeds, folder)))
    monkeypatch.setattr(train, "resume", lambda folder, restart: calls.append((folder, restart)))
    return calls


def test_train_hands_over_the_recipe_with_what_was_changed(trained):
    assert cli.main(["train", "--recipe", "hue_shift_digits", "--set", "lr=0.1", "--folder", "here"]) == 0
    assert trained[-1] == (Recipe.load("hue_shift_digits", {"lr": 0.1}), Path("here"))
    digits = ["train", "--data", "digits", "--model", "z2cnn"]
    assert cli.main([*digits, "--group", "hue4", "--set", "epochs=1"]) == 0
    assert trained[-1] == (Recipe("digits", "z2cnn", "hue4", epochs=1), Path("runs/digits-z2cnn-hue4"))
    assert cli.main(["train", "--resume", "there"]) == 0
    assert trained[-1] == (Path("there"), False)
    assert cli.main(["train", "--resume", "there", "--restart"]) == 0
    assert trained[-1] == (Path("there"), True)


@pytest.mark.parametrize(
    "words",
    [
        "--image-size 30 --test test_a test_b --seeds 1 2 --set batch-size=9 --license mit",
        "--image_size 30 --test test_a,test_b --seeds 1,2 --set batch_size=9 --licence mit",
        "--image_size=30 --test [test_a,test_b] --seeds [1,2] --set batch_size=9 --set license=mit",
        "--set data_options.image_size=30 --set test_splits=test_a,test_b --seeds 1, 2 --set batch_size=9 "
        "--set license=mit",
    ],
)
def test_train_understands_dashes_underscores_and_lists_of_all_kinds(words, trained):
    command = "train --data hue_shift_digits --model z2cnn --epochs 1"
    assert cli.main(f"{command} {words}".split()) == 0
    options = {"test_splits": ["test_a", "test_b"], "data_options": {"image_size": 30}}
    expected = Recipe("hue_shift_digits", "z2cnn", epochs=1, batch_size=9, license="mit", **options)
    assert trained == [(expected, [1, 2], Path("runs/hue_shift_digits-z2cnn-conventional"))]


def test_train_takes_a_folder_of_images_by_its_root_alone(trained, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("healthy", "sick"):
        (tmp_path / "cells" / name).mkdir(parents=True)
        Image.new("RGB", (8, 8)).save(tmp_path / "cells" / name / "0.png")
    assert cli.main(["train", "--root", "cells", "--model", "z2cnn", "--epochs", "1", "--seeds", "7"]) == 0
    recipe, _ = trained[0]
    assert (recipe.data, recipe.data_options, recipe.seed) == ("folder", {"root": "cells"}, 7)


def test_train_takes_images_of_ones_own_for_as_long_as_compare_would(trained, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for place in ("train/healthy", "train/sick", "test_pink/sick"):
        (tmp_path / "cells" / place).mkdir(parents=True)
        Image.new("RGB", (8, 8)).save(tmp_path / "cells" / place / "0.png")
    assert cli.main(["train", "--data", "cells/", "--model", "z2cnn", "--set", "batch_size=2"]) == 0
    recipe, _ = trained[0]
    assert (recipe.batch_size, recipe.schedule, recipe.iterations) == (2, "cosine", 600)


def test_the_size_that_a_network_sees_is_that_of_its_pipeline(trained):
    assert cli.main(["train", "--recipe", "caltech101", "--image-size", "96"]) == 0
    assert trained[0][0].input_size == 96
    assert trained[0][0].data_options == {"as_bytes": True}


def test_a_way_to_canonicalise_is_a_name_and_no_folder(trained):
    given = ["train", "--data", "digits", "--model", "z2cnn", "--canonicalize", "gains:temp-tint", "--epochs", "1"]
    assert cli.main(given) == 0
    recipe, folder = trained[0]
    assert recipe.canonicalize == "gains:temp-tint"
    assert folder == Path("runs/digits-z2cnn-conventional-gains-temp-tint")
