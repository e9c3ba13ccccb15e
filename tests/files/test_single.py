"""A network as one file of safetensors, with its card inside."""

import pytest
import torch
from torch import nn

import equicolor as ec
from equicolor.files import card_in, from_single, save_single
from equicolor.models import Preparation


def test_one_file_is_enough(tmp_path):
    model = ec.create_model("z2cnn", "hue3", num_classes=2, width=4).eval()
    model.preparation = Preparation(28, gray=True)
    path = save_single(model, tmp_path / "model.safetensors")
    assert [file.name for file in tmp_path.iterdir()] == ["model.safetensors"]
    read = from_single(path)
    assert not read.training
    assert read.preparation == model.preparation
    assert read.card == card_in(path)
    images = torch.rand(2, 3, 28, 28)
    with torch.no_grad():
        assert torch.equal(read(images), model(images))


def test_a_network_of_others_is_loaded_into_one(tmp_path):
    network = nn.Conv2d(3, 2, 1)
    path = save_single(network, tmp_path / "model.safetensors")
    with pytest.raises(ValueError, match="names no architecture"):
        from_single(path)
    assert torch.equal(from_single(path, nn.Conv2d(3, 2, 1)).weight, network.weight)


def test_other_files_are_refused(tmp_path):
    path = tmp_path / "model.safetensors"
    with pytest.raises(FileNotFoundError, match=r"there is no file .*model\.safetensors"):
        from_single(path)
    path.write_bytes(b"no tensors")
    with pytest.raises(ValueError, match=r"model\.safetensors is damaged"):
        from_single(path)
    folder = ec.save_pretrained(ec.create_model("z2cnn", "hue3", width=4), tmp_path / "folder")
    with pytest.raises(ValueError, match="has no card of equicolor's in its metadata"):
        from_single(folder / "model.safetensors")
