"""Canonicalised networks on their way to users: saved, read back, optimised, exported."""

import pytest
import torch
from torch import nn

import equicolor as ec
from zoo import settle

CASES = [("hue4", "discrete"), ("hue4", "continuous"), ("temp3-tint3", "continuous"), ("temp3-tint3", "anchored")]
EXPORTED = [
    ("hue4", "discrete", None),
    ("hue4", "continuous", None),
    ("temp-tint", "continuous", None),
    ("temp-tint-exp", "continuous", None),
    ("temp(action=clamp)", "continuous", None),
    ("sat", "continuous", None),
    ("lum", "continuous", None),
    ("hema-eosin", "continuous", None),
    ("temp-tint-exp", "anchored", None),
    ("hue4-sat", "anchored", None),
    ("hue4", "discrete", "temp3"),
    ("temp-tint", "continuous", "hue3"),
]


def network(group, mode, behind="hue3"):
    how = {"anchored": True} if mode == "anchored" else {"mode": mode}
    whole = settle(ec.create_model("z2cnn", behind, 4, canonicalize={"group": group, **how}))
    if whole.canonicalizer.shifts is not None:
        nn.init.normal_(list(whole.canonicalizer.shifts.parameters())[-2 if mode != "anchored" else 0], std=0.3)
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


@pytest.mark.parametrize(("group", "mode", "behind"), EXPORTED)
@torch.no_grad()
def test_exported_it_is_one_graph_that_computes_the_same_for_any_batch(group, mode, behind, tmp_path):
    pytest.importorskip("onnxscript")
    runtime = pytest.importorskip("onnxruntime")
    whole = network(group, mode, behind)
    session = runtime.InferenceSession(ec.export_onnx(whole, tmp_path / "whole.onnx", image_size=48))
    assert [file.name for file in tmp_path.iterdir()] == ["whole.onnx"]
    for count in (1, 2, 3, 5):
        images = torch.rand(count, 3, 48, 48) * torch.rand(count, 3, 1, 1)
        (logits,) = session.run(["logits"], {"images": images.numpy()})
        torch.testing.assert_close(torch.from_numpy(logits), whole(images), atol=1e-4, rtol=1e-4)
    assert not torch.allclose(whole(images), whole.network(images), atol=1e-3)  # it does move them


def test_a_card_cannot_ask_for_a_huge_canonicaliser(tmp_path):
    ec.save_pretrained(ec.create_model("z2cnn", canonicalize="hue3"), tmp_path)
    card = tmp_path / "config.json"
    card.write_text(card.read_text().replace('"hue3"', '"hue999"'))
    with pytest.raises(ValueError, match="more than 128 elements"):
        ec.from_pretrained(tmp_path)
