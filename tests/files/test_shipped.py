"""The networks that come with the package: found offline, small, and as good as their cards say."""

import pytest
import torch

import equicolor as ec
from equicolor.data import load, whereabouts
from equicolor.files import list_shipped, saved_folder
from equicolor.trained import evaluate


@pytest.fixture
def offline(monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("the hub was asked")

    monkeypatch.setattr("huggingface_hub.snapshot_download", refuse)
    monkeypatch.setattr("huggingface_hub.HfApi.model_info", refuse)


@pytest.mark.parametrize("name", [name for name in list_shipped() if "shapes" in name])
def test_networks_of_shapes_are_as_good_as_their_cards_say(name, offline):
    model = ec.from_pretrained(name)
    assert model.card.classes == ("cube", "cylinder", "sphere", "capsule")
    error = evaluate(model, load("hue_shift_shapes3d", split="test_b", seed=1999).sample(200)).error
    assert abs(error - model.card.metrics["test_b"]["error"]) < 0.1


def test_networks_of_cells_are_opened_offline(offline):
    for name in ("equicolor/cells-plain", "equicolor/cells-gains"):
        model = ec.from_pretrained(name)
        assert model.card.classes == ("uninfected", "parasitized")
        assert model(torch.rand(2, 3, 32, 32)).shape == (2, 2)


@pytest.mark.skipif(
    whereabouts("malaria").state != "present", reason="needs real malaria cells: set EQUICOLOR_DATA to their folder"
)
@pytest.mark.parametrize("name", ["equicolor/cells-plain", "equicolor/cells-gains"])
def test_networks_of_cells_are_as_good_as_their_cards_say(name, offline):
    model = ec.from_pretrained(name)
    error = evaluate(model, load("malaria", split="pink_test", image_size=32).sample(1000)).error
    assert abs(error - model.card.metrics["pink_test"]["error"]) < 0.03


def test_together_they_are_small():
    size = sum(file.stat().st_size for name in list_shipped() for file in saved_folder(name).iterdir())
    assert size <= 500_000


def test_an_unknown_one_is_answered_with_those_there_are(monkeypatch):
    def nothing(*args, **kwargs):
        raise OSError("no such repository")

    monkeypatch.setattr("huggingface_hub.snapshot_download", nothing)
    monkeypatch.setattr("huggingface_hub.HfApi.model_info", nothing)
    with pytest.raises(FileNotFoundError, match="With the package come equicolor/cells-gains"):
        ec.from_pretrained("equicolor/nothing")
