"""A network as bytes is the network."""

import pickle

import torch

import equicolor as ec
from equicolor.models import Preparation
from equicolor.trained import Packed


def test_a_packed_network_opens_elsewhere_as_it_was_saved(tmp_path):
    torch.manual_seed(0)
    network = ec.create_model("z2cnn", "hue3", num_classes=3, width=4).eval()
    ec.save_pretrained(network, tmp_path / "model", ["a", "b", "c"], preparation=Preparation(28))
    packed = pickle.loads(pickle.dumps(Packed.of(tmp_path / "model", image_size=32)))
    (tmp_path / "model").rename(tmp_path / "gone")
    opened = packed.open("cpu")
    images = torch.rand(2, 3, 28, 28)
    assert torch.equal(opened.model(images), network(images))
    assert (opened.classes, opened.preparation.image_size) == (("a", "b", "c"), 32)
