"""A network as a file of any format: the same numbers, the card inside, or no file."""

import dataclasses

import pytest
import torch
from torch import nn

import equicolor as ec
from equicolor.deploy import (
    SUFFIXES,
    agreement,
    as_probabilities,
    export_network,
    export_onnx,
    export_quantized,
    exported_card,
    open_exported,
)
from equicolor.models import Preparation
from equicolor.trained import open_onnx

pytest.importorskip("onnxscript")
pytest.importorskip("onnxruntime")

#: Everything that a preparation can ask for.
PLAN = Preparation(28, resize=33, crop=30, color_normalization="gray-world")


def small(num_classes=3, plan=PLAN, group="hue3", classes=("ape", "bee", "cat")):
    """A network, opened from its folder, whose norms have seen images."""
    torch.manual_seed(0)
    model = ec.create_model("z2cnn", group, num_classes=num_classes, width=4)
    for _ in range(20):
        model(smooth(8, 28) / 255)
    model.preparation = plan
    model.card = ec.files.Card(classes=classes)
    return model.eval()


def smooth(count, height, width=None):
    """Images that differ in more than their noise."""
    made = nn.functional.interpolate(torch.rand(count, 3, 4, 4), (height, width or height), mode="bilinear")
    return (255 * made).round()


def pictures(*arguments):
    return smooth(*arguments).to(torch.uint8)


@pytest.mark.parametrize("to", ["onnx", "torch-export", "safetensors"])
def test_a_file_computes_the_same_and_holds_the_card(to, tmp_path):
    model, path = small(), tmp_path / "deep" / f"model{SUFFIXES[to]}"
    done = export_network(model, path, to)
    assert [file.name for file in path.parent.iterdir()] == [path.name]
    assert done.bytes == path.stat().st_size
    assert done.agreement.largest < 1e-4
    assert (done.agreement.same, done.agreement.images) == (1, 16)
    images = torch.rand(5, 3, 28, 28)
    with torch.no_grad():
        torch.testing.assert_close(open_exported(path)(images), model(images), atol=1e-4, rtol=1e-4)
    card = exported_card(path)
    assert (card.classes, card.group, card.preparation) == (("ape", "bee", "cat"), "hue3", PLAN)
    assert card.sha256 == (None if to == "safetensors" else ec.files.card_of(model).sha256)


@pytest.mark.parametrize("to", ["onnx", "torch-export"])
def test_with_preparation_bytes_of_any_size_become_the_probabilities_of_predict(to, tmp_path):
    model, path = small(), tmp_path / f"model{SUFFIXES[to]}"
    done = export_network(model, path, to, with_preparation=True)
    assert done.agreement.largest < 0.02
    run = open_exported(path)
    for images in (pictures(1, 33), pictures(3, 50, 41), pictures(2, 41, 50), pictures(1, 300, 20)):
        arrays = [image.permute(1, 2, 0).contiguous().numpy() for image in images]
        with torch.no_grad():
            expected = model(PLAN(arrays)).softmax(1)
        torch.testing.assert_close(run(images), expected, atol=0.02 if images.shape[-1] != 33 else 1e-5, rtol=0)


@pytest.mark.parametrize("how", ["reinhard", "macenko"])
def test_colours_are_normalised_in_a_graph_as_by_the_card(how, tmp_path):
    model = small(plan=Preparation(28, color_normalization=how))
    export_network(model, tmp_path / "model.onnx", "onnx", with_preparation=True)
    colours = torch.rand(3, 3, 1, 1) * 255
    images = torch.cat([pictures(3, 28), colours.expand(3, 3, 28, 28).to(torch.uint8)])
    with torch.no_grad():
        expected = model(model.preprocess(images)).softmax(1)
    torch.testing.assert_close(open_exported(tmp_path / "model.onnx")(images), expected, atol=1e-4, rtol=0)


def test_one_logit_becomes_two_probabilities_and_grey_is_grey(tmp_path):
    model = small(1, Preparation(28, gray=True, fit="stretch"), classes=("bee",))
    export_network(model, tmp_path / "model.pt2", "torch-export", with_preparation=True)
    images = pictures(2, 28)
    found = open_exported(tmp_path / "model.pt2")(images)
    with torch.no_grad():
        second = model(ec.models.gray(images / 255)).sigmoid()
    torch.testing.assert_close(found, torch.cat([1 - second, second], 1), atol=1e-5, rtol=0)


@pytest.mark.parametrize("to", ["onnx", "torch-export"])
def test_a_file_that_computes_something_else_is_refused_and_not_left_behind(to, tmp_path, monkeypatch):
    def of_another(model, *arguments):
        return {"onnx": export_onnx, "torch-export": ec.deploy.export_program}[to](other, *arguments)

    other = small()
    next(other.parameters()).data.mul_(-1)
    monkeypatch.setattr("equicolor.deploy._export.export_onnx", of_another)
    monkeypatch.setattr("equicolor.deploy._export.export_program", of_another)
    path = tmp_path / f"model{SUFFIXES[to]}"
    path.write_text("what stood here before")
    with pytest.raises(ValueError, match=f"written as {to}, the network computes something else: the difference is"):
        export_network(small(), path, to)
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    assert path.read_text() == "what stood here before"


def test_what_cannot_be_written_is_said(tmp_path):
    with pytest.raises(ValueError, match="unknown format 'tflite': expected one of 'onnx'"):
        export_network(small(), tmp_path / "x", "tflite")
    with pytest.raises(ValueError, match="safetensors hold weights and no graph"):
        export_network(small(), tmp_path / "x.safetensors", "safetensors", with_preparation=True)
    with pytest.raises(ValueError, match="nobody says which size"):
        export_network(nn.Conv2d(3, 3, 3), tmp_path / "x.onnx")
    assert not list(tmp_path.iterdir())


def test_in_8_bits_a_file_is_smaller_says_much_the_same_and_was_measured_on_other_images(tmp_path):
    model, images = small(), pictures(60, 33)
    both = export_quantized(model, tmp_path / "model.onnx", images)
    assert [file.name for file in tmp_path.iterdir()] == ["model.onnx"]
    assert both.before.agreement.largest < 1e-4
    assert 0 < both.after.agreement.mean < 0.05
    assert both.after.agreement.images == both.before.agreement.images == len(both.given) == 30
    torch.testing.assert_close(both.given, PLAN(images[1::2]))
    assert exported_card(tmp_path / "model.onnx").classes == ("ape", "bee", "cat")
    onnx = pytest.importorskip("onnx")
    graph = onnx.load(tmp_path / "model.onnx").graph
    filters = [weight for weight in graph.initializer if len(weight.dims) == 4]
    assert filters
    assert all(weight.data_type == onnx.TensorProto.INT8 for weight in filters)
    scales = {weight.name: list(weight.dims) for weight in graph.initializer}
    assert any(len(scales[node.input[1]]) == 1 for node in graph.node if node.op_type == "DequantizeLinear")
    opened = open_onnx(tmp_path / "model.onnx", "cpu")  # which predict and serve take
    torch.testing.assert_close(as_probabilities(opened.model(both.given)), both.probabilities[1], atol=1e-3, rtol=0)
    with pytest.raises(ValueError, match="written in 8 bits, the network computes something else"):
        export_quantized(model, tmp_path / "other.onnx", images, tolerance=1e-9)
    with pytest.raises(ValueError, match="takes two images or more"):
        export_quantized(model, tmp_path / "other.onnx", images[:1])
    assert [file.name for file in tmp_path.iterdir()] == ["model.onnx"]


def test_results_that_are_no_results_do_not_agree():
    numbers = torch.tensor([[0.0, 4.0], [1.0, 0.0]])
    assert dataclasses.astuple(agreement(numbers, numbers)) == (2, 0, 0, 4, 1)
    assert agreement(numbers.flip(1), numbers).same == 0
    assert agreement(torch.tensor([[1.0]]), torch.tensor([[-1.0]])).same == 0
    with pytest.raises(ValueError, match="not all numbers are finite"):
        agreement(numbers, numbers.log())
    with pytest.raises(ValueError, match=r"numbers of shape \(2, 1\), the network \(2, 2\)"):
        agreement(numbers[:, :1], numbers)
