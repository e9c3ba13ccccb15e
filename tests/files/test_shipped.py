"""The networks that come with the package: found offline, small, and as good as their cards say."""

import pytest
import torch

import equicolor as ec
from equicolor.data import load
from equicolor.files import list_shipped, saved_folder


@pytest.fixture
def offline(monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("the hub was asked")

    monkeypatch.setattr("huggingface_hub.snapshot_download", refuse)
    monkeypatch.setattr("huggingface_hub.HfApi.model_info", refuse)


@pytest.mark.parametrize("name", list_shipped())
def test_a_shipped_network_is_opened_offline_and_is_as_good_as_its_card_says(name, offline):
    model = ec.from_pretrained(name)
    assert model.card.classes == ("cube", "cylinder", "sphere", "capsule")
    images = load("hue_shift_shapes3d", split="test_b", seed=1999).sample(200)
    error = 1 - float((model(images.fetch(torch.arange(200)).images).argmax(1) == images.labels).float().mean())
    assert abs(error - model.card.metrics["test_b"]["error"]) < 0.1


def test_together_they_are_small():
    size = sum(file.stat().st_size for name in list_shipped() for file in saved_folder(name).iterdir())
    assert size <= 500_000


def test_an_unknown_one_is_answered_with_those_there_are(monkeypatch):
    def nothing(*args, **kwargs):
        raise OSError("no such repository")

    monkeypatch.setattr("huggingface_hub.snapshot_download", nothing)
    monkeypatch.setattr("huggingface_hub.HfApi.model_info", nothing)
    with pytest.raises(FileNotFoundError, match="With the package come equicolor/shapes-hue4"):
        ec.from_pretrained("equicolor/nothing")
