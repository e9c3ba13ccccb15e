"""Canonicalised networks on their way to users: saved, read back, optimised."""

import pytest
import torch
from torch import nn

import equicolor as ec
from zoo import settle

CASES = [("hue4", "discrete"), ("hue4", "continuous"), ("temp3-tint3", "continuous")]


def network(group, mode):
    whole = settle(ec.create_model("z2cnn", "hue3", 4, canonicalize={"group": group, "mode": mode}))
    if whole.canonicalizer.shifts is not None:
        nn.init.normal_(whole.canonicalizer.shifts[-1].weight, std=0.3)
    return whole


@pytest.mark.parametrize(("group", "mode"), CASES)
def test_a_saved_one_comes_back(group, mode, tmp_path):
    whole, images = network(group, mode), torch.rand(3, 3, 32, 32)
    ec.save_pretrained(whole, tmp_path, classes=list("abcd"))
    again = ec.from_pretrained(tmp_path)
    assert torch.equal(again(images), whole(images))
    assert again.config == whole.config


@pytest.mark.parametrize(("group", "mode"), CASES)
def test_optimised_it_computes_the_same(group, mode):
    whole, images = network(group, mode), torch.rand(3, 3, 32, 32)
    faster = ec.optimize_for_inference(whole)
    torch.testing.assert_close(faster(images), whole(images), atol=1e-4, rtol=1e-4)
    assert not any(isinstance(module, nn.BatchNorm2d) for module in faster.modules())


def test_a_card_cannot_ask_for_a_huge_canonicaliser(tmp_path):
    ec.save_pretrained(ec.create_model("z2cnn", canonicalize="hue3"), tmp_path)
    card = tmp_path / "config.json"
    card.write_text(card.read_text().replace('"hue3"', '"hue999"'))
    with pytest.raises(ValueError, match="more than 128 elements"):
        ec.from_pretrained(tmp_path)
