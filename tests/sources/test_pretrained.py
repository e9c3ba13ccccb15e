"""Real pretrained weights, of EfficientNet-Lite0: through our door they are timm's own, and can be trained on."""

import csv
import importlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from PIL import Image

import equicolor as ec
from convert_networks import images, pooled_old_features
from equicolor import cli
from pretrained_weights import NAME, lite0_pth

DALMATIAN, AIRLINER = 251, 404


@pytest.fixture(scope="module")
def theirs():
    """timm's own network, with the tensors as they are published."""
    published = torch.load(lite0_pth(), map_location="cpu", weights_only=True)
    network = importlib.import_module("timm").create_model("tf_efficientnet_lite0")
    network.load_state_dict(dict(zip(network.state_dict(), published.values(), strict=True)))
    return network.eval()


@torch.no_grad()
def test_without_a_group_it_is_timms_own_on_normalised_images(theirs, lite0):
    model, x = ec.create_model(NAME, weights=lite0).eval(), images(size=224)
    torch.testing.assert_close(model(x), theirs((x - 0.5) / 0.5), rtol=1e-5, atol=1e-5)


@torch.no_grad()
def test_on_a_group_it_starts_as_the_pool_over_recoloured_copies(theirs, lite0):
    model, x = ec.create_model(NAME, group="hue3", weights=lite0).eval(), images(size=96)
    copies = [(ec.Hue(3).act_on_images(element, x) - 0.5) / 0.5 for element in ec.Hue(3)]
    _, logits = pooled_old_features(theirs, copies, "classifier")
    torch.testing.assert_close(model(x), logits, rtol=1e-4, atol=1e-4)  # sums over 1280 channels, in another order


@pytest.mark.skipif("EQUICOLOR_DATA" not in os.environ, reason="EQUICOLOR_DATA names no folder with data")
@pytest.mark.parametrize("group", [None, "hue3"])
@torch.no_grad()
def test_it_tells_a_dalmatian_from_an_airliner(group, lite0):
    root = Path(os.environ["EQUICOLOR_DATA"]) / "caltech101" / "101_ObjectCategories"
    if not root.is_dir():
        pytest.skip(f"there is no {root}")
    model = ec.create_model(NAME, group=group, weights=lite0).eval()
    seen = {}
    for name in ("dalmatian", "airplanes"):
        seen[name] = model(model.preprocess(sorted((root / name).glob("*.jpg"))[:12]))
    assert (seen["dalmatian"].argmax(1) == DALMATIAN).float().mean() > 0.9
    assert seen["airplanes"].argmax(1).mode().values == AIRLINER  # others are called warplanes, or wings
    assert (seen["airplanes"][:, AIRLINER] > seen["airplanes"][:, DALMATIAN]).all()


@pytest.mark.parametrize(
    "options", [["--group", "hue3"], ["--canonicalize", "temp-tint", "--set", "canonicalizer_steps=1"]]
)
def test_it_is_trained_saved_and_opened_in_another_process(options, lite0, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    shutil.copy(lite0, "begin.safetensors")
    fields = {"iterations": 2, "batch_size": 8, "test_splits": "test_b", "test_size": 8, "loggers": "csv"}
    fields |= {"weights": "begin.safetensors", "data_options.image_size": 32}
    given = [part for name, value in fields.items() for part in ("--set", f"{name}={value}")]
    command = ["train", "--data", "hue_shift_digits", "--model", NAME, *options, *given, "--folder", "run"]
    assert cli.main(command) == 0
    assert "note: the classifier 'classifier' starts anew, with 10 classes" in capsys.readouterr().err
    Path("begin.safetensors").unlink()  # what is saved needs nothing else

    card = json.loads(Path("run/model/config.json").read_text())
    assert card["source"] == NAME
    assert card["recipe"]["weights"] == "begin.safetensors"
    opened = ec.from_pretrained("run/model")
    pixels = (255 * torch.rand(40, 40, 3)).byte().numpy()
    Image.fromarray(pixels).save("image.png")
    with torch.no_grad():
        expected = opened(opened.preprocess("image.png")).softmax(1)[0]

    path = os.pathsep.join([str(Path(ec.__file__).parents[1]), str(Path(sys.prefix) / "networks")])
    environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "equicolor", "predict", "run", "image.png"],
        env=environment, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (row,) = csv.DictReader(done.stdout.splitlines())
    found = torch.tensor([float(row[f"p({name})"]) for name in opened.card.classes])
    torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-4)  # printed with six digits, norms folded
    assert cli.main(["evaluate", "run", "--data", "digits", "--folder", "evaluated"]) == 0


def test_a_run_that_was_stopped_needs_no_weights_to_go_on(lite0, tmp_path, monkeypatch):
    from equicolor.train import Recipe
    from equicolor.train._learner import new_model

    monkeypatch.chdir(tmp_path)
    recipe = Recipe("digits", NAME, "hue3", weights="gone.safetensors", iterations=1)
    digits = ec.data.load("digits", split="test")
    assert new_model(recipe, digits, begins=False).num_classes == 10
    with pytest.raises(FileNotFoundError, match=r"there is no file gone\.safetensors to take weights from"):
        new_model(recipe, digits)


def test_weights_are_for_networks_of_other_libraries():
    from equicolor.train import Recipe

    with pytest.raises(ValueError, match="weights are for networks such as timm:resnet18, not for z2cnn"):
        Recipe("digits", "z2cnn", weights="x.pth", iterations=1)
