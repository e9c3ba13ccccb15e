"""Everything that is done with a trained network shows it images as its card says."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

import equicolor as ec
from equicolor import commands
from equicolor.data import load
from equicolor.files import CARD
from equicolor.models import Preparation
from equicolor.train import Recipe, fit
from equicolor.trained import image_names, inspect_model

PLANS = [Preparation(40), Preparation(32, resize=48, crop=44, gray=True), Preparation(36, fit="stretch")]


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for number in range(2):
        pixels = np.random.default_rng(number).integers(0, 256, (70, 50, 3), dtype=np.uint8)
        (tmp_path / "cells" / "ab"[number]).mkdir(parents=True)
        Image.fromarray(pixels).save(tmp_path / "cells" / "ab"[number] / f"{number}.png")
    return tmp_path


def saved(plan, **about):
    torch.manual_seed(0)
    model = ec.create_model("z2cnn", "hue4", num_classes=2, width=4)
    model(torch.rand(8, 3, 32, 32))  # norms that have seen images
    model.preparation = plan
    return ec.from_pretrained(ec.save_pretrained(model, "model", ["a", "b"], **about))


def said(model, *images, **options):
    """What ``equicolor predict`` writes about images: of each its path, class and probabilities."""
    commands.predict(model, images, out=Path("said.csv"), device="cpu", **options)
    with open("said.csv", newline="") as file:
        rows = list(csv.reader(file))[1:]
    return [(path, label, float(highest), list(map(float, each))) for path, label, highest, *each in rows]


@pytest.mark.parametrize("plan", PLANS, ids=str)
def test_predict_gives_the_probabilities_of_preprocessed_files(home, plan):
    model = saved(plan)
    found = said("model", "cells")
    with torch.no_grad():
        expected = model(model.preprocess([home / "cells" / "a" / "0.png", home / "cells" / "b" / "1.png"])).softmax(1)
    assert torch.allclose(torch.tensor([each for *_, each in found]), expected, atol=1e-5)
    assert (home / "said.csv").read_text().splitlines()[0] == "path,class,probability,p(a),p(b)"


@pytest.mark.parametrize("plan", PLANS, ids=str)
def test_a_folder_is_evaluated_as_its_files_are_predicted(home, plan):
    saved(plan)
    found = said("model", "cells")
    result = commands.evaluate("model", data="folder", root=home / "cells", split="all", device="cpu")
    assert result.error == pytest.approx(sum(each[1] != name for each, name in zip(found, "ab", strict=True)) / 2)
    highest = result.predictions.probabilities.amax(1)
    assert highest.tolist() == pytest.approx([each[2] for each in found], abs=1e-4)


def test_inspect_looks_at_what_the_network_sees(home):
    model = saved(PLANS[1])
    seen = inspect_model(model, torch.rand(3, 60, 60))
    assert seen.images.shape[-2:] == (32, 32)
    assert torch.allclose(seen.images[0, 0], seen.images[0, 1])


def test_another_size_is_shown_where_it_is_asked_for(home):
    saved(PLANS[0])
    small, usual = (said("model", "cells", image_size=size)[0][2] for size in (30, None))
    assert small != pytest.approx(usual, abs=1e-6)


def test_an_old_card_that_does_not_say_is_used_with_a_note(home, capsys):
    saved(None)
    path = home / "model" / CARD
    kept = ("library_name", "library_version", "architecture", "group", "normalization", "parameters", "sha256")
    card = json.loads(path.read_text())
    path.write_text(json.dumps({"format": 1, "classes": None, **{name: card[name] for name in kept}}))
    commands.evaluate("model", data="folder", root=home / "cells", split="all", device="cpu")
    said = capsys.readouterr().err
    assert "does not say how images were prepared" in said
    assert "names no classes" in said


def test_a_folder_is_cut_as_in_training_so_that_no_training_image_is_tested_on(home):
    for label, colour in enumerate(("red", "blue")):
        (home / "own" / colour).mkdir(parents=True)
        for number in range(20):
            pixels = np.random.default_rng(20 * label + number).integers(0, 256, (30, 30, 3), dtype=np.uint8)
            Image.fromarray(pixels).save(home / "own" / colour / f"{number}.png")
    recipe = Recipe(
        "folder", "z2cnn", data_options={"root": str(home / "own"), "seed": 5}, iterations=2, batch_size=8,
        model_options={"width": 4}, loggers=["csv"], accelerator="cpu",
    )  # fmt: skip
    fit(recipe, home / "run", quiet=True)
    cut = {}
    for seed in (5, 0):
        cut[seed] = set(image_names(load("folder", home / "own", "test", seed=seed)))
    found = said("run", data="folder", root=home / "own")
    assert {path for path, *_ in found} == cut[5] != cut[0]
    card = json.loads((home / "run" / "model" / CARD).read_text())
    assert str(home) not in json.dumps(card)  # a card is published, the folders of a machine are not
