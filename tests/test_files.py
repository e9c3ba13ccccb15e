"""Files: what was saved comes back, what is damaged is named, and nothing is lost or executed on the way."""

import json
import os
import pickle
from pathlib import Path

import pytest
import torch
from torch import nn

import equicolor as ec
from equicolor import files
from equicolor.files import CARD, WEIGHTS, read_card


@pytest.fixture
def model():
    model = ec.create_model("z2cnn", group="hue4-sat3", num_classes=3, mean=0.4, std=[0.2, 0.25, 0.3], width=4)
    model(torch.rand(4, 3, 28, 28))  # norms that have seen images
    return model


@pytest.fixture
def folder(model, tmp_path):
    return ec.save_pretrained(model, tmp_path / "saved" / "model", classes=["a", "b", "c"])


def edit(folder, **changes):
    path = folder / CARD
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


@pytest.mark.parametrize("group", [None, "hue3", "ceconv3", "sat3(step=0.05,action=clamp)", "hue2-lum3"])
def test_what_was_saved_comes_back(group, tmp_path):
    model = ec.create_model("z2cnn", group=group, num_classes=4, width=4, mean=0.4, std=0.2)
    images = torch.rand(4, 3, 28, 28)
    model(images)
    loaded = ec.from_pretrained(ec.save_pretrained(model, tmp_path))
    assert not loaded.training
    assert loaded.config == model.config
    assert torch.equal(loaded(images), model.eval()(images))


def test_the_card_says_what_the_model_is(folder, model):
    card = read_card(folder)
    assert card["architecture"] == model.config
    assert card["group"] == "hue4-sat3"
    assert card["classes"] == ["a", "b", "c"]
    assert card["normalisation"]["mean"] == pytest.approx([0.4] * 3)
    assert card["normalisation"]["std"] == pytest.approx([0.2, 0.25, 0.3])
    assert card["parameters"] == model.num_parameters
    assert card["library_version"] == ec.__version__
    assert sorted(os.listdir(folder)) == [CARD, WEIGHTS]


def test_channels_last_and_other_precisions_are_saved_as_they_are(tmp_path):
    model = ec.create_model("z2cnn", group="hue3", width=4).double().to(memory_format=torch.channels_last)
    ec.save_pretrained(model, tmp_path)
    loaded = ec.from_pretrained(tmp_path, model=ec.create_model("z2cnn", group="hue3", width=4).double())
    for name, value in loaded.state_dict().items():
        assert torch.equal(value, model.state_dict()[name])


def test_any_other_network_is_loaded_into_one_of_the_same_make(tmp_path):
    def make():
        plain = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 2))
        return ec.convert(plain, "hue4").eval()

    converted, images = make(), torch.rand(2, 3, 8, 8)
    ec.save_pretrained(converted, tmp_path)
    assert read_card(tmp_path)["group"] == "hue4"
    assert torch.equal(ec.from_pretrained(tmp_path, model=make())(images), converted(images))
    with pytest.raises(ValueError, match=r"no architecture of create_model.*from_pretrained\(folder, model="):
        ec.from_pretrained(tmp_path)


# ---------------------------------------------------------------------------------------------- damage


def test_missing_files_are_named(folder, tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        ec.from_pretrained(tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError, match=r"there is no config\.json in"):
        ec.from_pretrained(tmp_path)
    (folder / WEIGHTS).unlink()
    with pytest.raises(FileNotFoundError, match=r"there is no model\.safetensors in"):
        ec.from_pretrained(folder)


@pytest.mark.parametrize("keep", [0, 7, 100, -1])
def test_truncated_weights_are_named(folder, keep):
    path = folder / WEIGHTS
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(ValueError, match=r"model\.safetensors is not the file .*truncated"):
        ec.from_pretrained(folder)
    edit(folder, sha256=None)
    with pytest.raises(ValueError, match=r"model\.safetensors is damaged"):
        ec.from_pretrained(folder)


def test_a_damaged_card_is_named(folder):
    card = (folder / CARD).read_text()
    for damaged in (card[:50], "", "\x00", "[1, 2]", '{"library_name": "other"}'):
        (folder / CARD).write_text(damaged)
        with pytest.raises(ValueError, match=r"config\.json"):
            ec.from_pretrained(folder)


def test_a_card_from_the_future_is_refused(folder):
    edit(folder, format=2, library_version="9.0")
    with pytest.raises(ValueError, match=r"format 2 by equicolor 9\.0.*upgrade"):
        ec.from_pretrained(folder)


def test_a_card_that_describes_no_network_is_refused(folder):
    edit(folder, architecture={"name": "resnet9000"})
    with pytest.raises(ValueError, match=r"config\.json describes a network that cannot be built: unknown model"):
        ec.from_pretrained(folder)


def test_weights_that_do_not_fit_are_listed(folder):
    with pytest.raises(ValueError, match=r"does not fit the network: .*has shape .*expected"):
        ec.from_pretrained(folder, model=ec.create_model("z2cnn", group="hue4-sat3", num_classes=3, width=5))
    with pytest.raises(ValueError, match=r"is missing"):
        ec.from_pretrained(folder, model=nn.Linear(2, 2))


def test_the_weights_of_another_model_are_noticed(folder, tmp_path):
    other = ec.save_pretrained(ec.create_model("z2cnn", group="hue4-sat3", num_classes=3, width=4), tmp_path / "other")
    os.replace(other / WEIGHTS, folder / WEIGHTS)
    with pytest.raises(ValueError, match="from another model"):
        ec.from_pretrained(folder)


class Malicious:
    def __reduce__(self):
        return os.system, ("touch executed",)


def test_nothing_in_the_files_is_executed(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (folder / WEIGHTS).write_bytes(pickle.dumps(Malicious()))
    edit(folder, sha256=None)
    with pytest.raises(ValueError, match="damaged"):
        ec.from_pretrained(folder)
    assert not (tmp_path / "executed").exists()


@pytest.mark.parametrize("fits", [0, 1])
def test_a_write_that_fails_loses_nothing(folder, model, monkeypatch, fits):
    before = {name: (folder / name).read_bytes() for name in (WEIGHTS, CARD)}
    torch.nn.init.zeros_(next(model.parameters()))
    room = [None] * fits

    def full_disk(_handle):
        if not room:
            raise OSError(28, "No space left on device")
        room.pop()

    monkeypatch.setattr(files.os, "fsync", full_disk)
    with pytest.raises(OSError, match="No space left"):
        ec.save_pretrained(model, folder)
    assert {name: (folder / name).read_bytes() for name in os.listdir(folder)} == before


def test_what_could_not_be_read_back_is_not_written(model, tmp_path):
    with pytest.raises(ValueError, match="save it before optimize_for_inference"):
        ec.save_pretrained(ec.optimize_for_inference(model), tmp_path / "frozen")
    assert not (tmp_path / "frozen").exists()


def test_bad_classes_are_refused(model, tmp_path):
    with pytest.raises(ValueError, match="2 names of classes for a model with 3"):
        ec.save_pretrained(model, tmp_path, classes=["a", "b"])


# ---------------------------------------------------------------------------------------------- the hub


class Hub:
    """A stand-in for the hub: folders by name."""

    def __init__(self, root):
        self.root = root

    def HfApi(self, token=None):  # noqa: N802
        return self

    def create_repo(self, name, exist_ok=False, private=None):
        (self.root / name).mkdir(parents=True, exist_ok=exist_ok)

    def upload_folder(self, repo_id, folder_path, **options):
        for file in os.listdir(folder_path):
            (self.root / repo_id / file).write_bytes((Path(folder_path) / file).read_bytes())
        return f"hub/{repo_id}"

    def snapshot_download(self, name, revision=None, allow_patterns=None):
        if not (self.root / name).is_dir():
            raise ConnectionError("offline")
        return str(self.root / name)


def test_a_model_travels_through_the_hub(model, tmp_path, monkeypatch):
    hub, needed = Hub(tmp_path), files._needed
    monkeypatch.setattr(files, "_needed", lambda name: hub if name == "huggingface_hub" else needed(name))
    assert ec.push_to_hub(model, "someone/z2cnn-hue4-sat3") == "hub/someone/z2cnn-hue4-sat3"
    assert "library_name: equicolor" in (tmp_path / "someone" / "z2cnn-hue4-sat3" / "README.md").read_text()
    loaded = ec.from_pretrained("someone/z2cnn-hue4-sat3")
    images = torch.rand(2, 3, 28, 28)
    assert torch.equal(loaded(images), model.eval()(images))
    with pytest.raises(FileNotFoundError, match=r"no folder someone/else here, and the hub did not.*offline"):
        ec.from_pretrained("someone/else")


def test_the_calls_to_the_hub_exist_as_they_are_made():
    hub = pytest.importorskip("huggingface_hub")
    import inspect

    assert {"token"} <= set(inspect.signature(hub.HfApi).parameters)
    assert {"repo_id", "exist_ok", "private"} <= set(inspect.signature(hub.HfApi.create_repo).parameters)
    assert {"repo_id", "folder_path"} <= set(inspect.signature(hub.HfApi.upload_folder).parameters)
    assert {"repo_id", "revision", "allow_patterns"} <= set(inspect.signature(hub.snapshot_download).parameters)
