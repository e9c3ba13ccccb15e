"""Weights from a file: read, never executed, and fitted to a network."""

import os
import pickle

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

import equicolor as ec
from equicolor.sources import in_order, read_weights


class Trap:
    def __reduce__(self):
        return os.mkdir, ("trapped",)


def test_a_file_that_would_execute_something_is_not_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    torch.save({"state_dict": Trap()}, "trap.pth")
    with pytest.raises(ValueError, match=r"trap\.pth holds more than tensors.*save the network's state_dict"):
        read_weights("trap.pth")
    (tmp_path / "pickle.pth").write_bytes(pickle.dumps(Trap()))
    with pytest.raises(ValueError, match=r"pickle\.pth"):
        read_weights("pickle.pth")
    assert not (tmp_path / "trapped").exists()


@pytest.mark.parametrize("name", ["broken.pth", "broken.safetensors"])
def test_a_damaged_file_is_named(name, tmp_path):
    (tmp_path / name).write_bytes(b"no weights" * 9)
    with pytest.raises(ValueError, match=name):
        read_weights(tmp_path / name)


def test_other_files_and_none_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no file .*none\.pth"):
        read_weights(tmp_path / "none.pth")
    (tmp_path / "weights.h5").write_bytes(b"")
    with pytest.raises(ValueError, match=r"weights are read from \.safetensors and \.pth"):
        read_weights(tmp_path / "weights.h5")
    torch.save({"epoch": 3}, tmp_path / "empty.pth")
    with pytest.raises(ValueError, match="there are no tensors in"):
        read_weights(tmp_path / "empty.pth")


def test_tensors_that_do_not_fit_are_named(tmp_path):
    state = ec.create_model("timm:resnet10t", num_classes=7, pretrained=False).body.state_dict()
    state["stranger"] = torch.zeros(1)
    state["layer1.0.conv1.weight"] = torch.zeros(2, 2)
    del state["bn1.bias"]
    save_file(state, tmp_path / "other.safetensors")
    with pytest.raises(
        ValueError, match=r"does not fit ResNet: .*bn1\.bias is missing; layer1.*\(2, 2\).*stranger has no"
    ):
        ec.create_model("timm:resnet10t", num_classes=7, weights=tmp_path / "other.safetensors")


def test_tensors_in_the_order_of_a_network_get_its_names():
    state = ec.create_model("timm:resnet10t", num_classes=7, pretrained=False).body.state_dict()
    numbered = {str(place): tensor for place, tensor in enumerate(state.values())}
    named = in_order("timm:resnet10t", numbered, num_classes=7)
    assert all(torch.equal(named[name], tensor) for name, tensor in state.items())
    with pytest.raises(ValueError, match=r"has \d+ tensors, got 1"):
        in_order("timm:resnet10t", {"0": torch.zeros(1)})
    other = {**numbered, "0": nn.Conv2d(3, 2, 3).weight.detach()}
    with pytest.raises(ValueError, match=r"'0' of shape \(2, 3, 3, 3\) stands in the place of 'conv1\.0\.weight'"):
        in_order("timm:resnet10t", other, num_classes=7)
