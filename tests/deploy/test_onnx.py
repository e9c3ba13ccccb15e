"""Exported to ONNX: the same logits, elsewhere."""

import copy
import re

import pytest
import torch
from torch import nn

import equicolor as ec
from equicolor.baselines import CEConv2d, CEConvLift, CEConvTranspose2d
from equicolor.nn import GroupConv2d, GroupConvTranspose2d
from zoo import relative, settle


def small(group, algorithm="auto", width=32):
    """A network with every kind of layer that is transformed: strided, transposed, with a norm, with groups.

    Filters of this width are more numbers than a tool would take for small ones.
    """
    if group.startswith("ceconv"):
        n = int(group.removeprefix("ceconv"))
        group, lift, conv, enlarging = ec.Hue(n), CEConvLift(n, width, 1), CEConv2d, CEConvTranspose2d
    else:
        n, lift, conv, enlarging = group, ec.nn.Lift(group, 0.4, 0.2), GroupConv2d, GroupConvTranspose2d
    channels = width if conv is CEConv2d else 3
    network = nn.Sequential(
        lift, conv(n, channels, width, 3, stride=2, padding=1, algorithm=algorithm), nn.BatchNorm2d(width), nn.ReLU(),
        enlarging(n, width, width, 3, stride=2, groups=2, algorithm=algorithm),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), ec.nn.GroupPool(group), nn.Linear(width, 5),
    )  # fmt: skip
    return settle(network, 12)


def exported(model, path, size=12):
    pytest.importorskip("onnxscript")
    return pytest.importorskip("onnx").load(ec.export_onnx(model, path, image_size=size)).graph


def run(path, images):
    session = pytest.importorskip("onnxruntime").InferenceSession(path, providers=["CPUExecutionProvider"])
    (logits,) = session.run(["logits"], {"images": images.numpy()})
    return torch.from_numpy(logits)


@pytest.mark.parametrize(
    ("group", "algorithm"),
    [
        ("hue4", "fast"),
        ("hue4", "direct"),
        ("sat3", "fast"),
        ("hue2-sat3", "direct"),
        ("ceconv3", "fast"),
        ("temp3-tint2", "fast"),
        ("exp2(action=clamp)", "direct"),
        ("hema3-eosin2", "fast"),
        ("hue2+temp2", "direct"),
    ],
)
@torch.no_grad()
def test_onnxruntime_gives_the_same_logits_for_any_batch(group, algorithm, tmp_path):
    model, path = small(group, algorithm), tmp_path / "deep" / "model.onnx"
    graph = exported(model, path)
    assert [file.name for file in path.parent.iterdir()] == ["model.onnx"]
    for count in (1, 5):
        images = torch.rand(count, 3, 12, 12)
        torch.testing.assert_close(run(path, images), model(images), atol=1e-5, rtol=1e-4)
    weights = {weight.name for weight in graph.initializer}
    convolutions = [node for node in graph.node if node.op_type in ("Conv", "ConvTranspose")]
    assert len(convolutions) >= 2
    assert all(name in weights for node in convolutions for name in node.input[1:])
    # Nothing is left to compute that does not depend on the images, and no weights from which it was computed.
    assert not [
        node.op_type for node in graph.node if weights.issuperset(node.input) and node.op_type[:8] != "Constant"
    ]
    assert weights <= {name for node in graph.node for name in node.input}


@torch.no_grad()
def test_a_network_of_the_zoo_is_exported_and_its_file_does_not_tell_where(tmp_path):
    model = settle(ec.create_model("z2cnn", group="hue3", mean=0.4, std=[0.2, 0.25, 0.3], width=4), 28)
    exported(model, tmp_path / "model.onnx", 28)
    content = (tmp_path / "model.onnx").read_bytes()
    assert not re.search(rb"equicolor[/\\]|\.py\b", content)  # as in the paths of source files
    images = torch.rand(3, 3, 28, 28)
    torch.testing.assert_close(run(tmp_path / "model.onnx", images), model(images), atol=1e-4, rtol=1e-4)


@torch.no_grad()
def test_a_file_is_as_large_as_its_weights_and_quantized_about_a_quarter_of_that(tmp_path):
    quantization = pytest.importorskip("onnxruntime.quantization")
    model, path = small("hue3", "fast", width=128), tmp_path / "model.onnx"
    graph = exported(model, path)
    frozen = sum(value.nbytes for value in ec.optimize_for_inference(model).state_dict().values())
    weights = sum(len(weight.raw_data) for weight in graph.initializer)
    assert weights == pytest.approx(frozen, rel=0.01)
    assert weights < path.stat().st_size < 1.05 * weights

    class Images(quantization.CalibrationDataReader):
        batches = iter([{"images": torch.rand(4, 3, 12, 12).numpy()}])

        def get_next(self):
            return next(self.batches, None)

    quantized = tmp_path / "quantized.onnx"
    convolutions = ["Conv", "ConvTranspose", "Gemm"]
    quantization.quantize_static(path, quantized, Images(), op_types_to_quantize=convolutions)
    assert quantized.stat().st_size < 0.3 * path.stat().st_size
    images = torch.rand(4, 3, 12, 12)
    assert relative(run(quantized, images), model(images)) < 0.05


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
@torch.no_grad()
def test_a_network_in_any_precision_is_exported_in_float32_and_left_as_it_is(dtype, tmp_path):
    model = small("hue3").to(dtype).train()
    before = copy.deepcopy(model.state_dict())
    exported(model, tmp_path / "model.onnx")
    assert model.training
    for name, value in model.state_dict().items():
        assert value.dtype == before[name].dtype
        assert torch.equal(value, before[name])
    images = torch.rand(3, 3, 12, 12).to(dtype)
    logits, expected = run(tmp_path / "model.onnx", images.float()), model.eval()(images)
    assert logits.dtype == torch.float32
    # Each layer of the network rounds its features; the file does not.
    assert relative(logits, expected.float()) < max(8 * torch.finfo(dtype).eps, 1e-5)


def test_a_compiled_network_is_exported(tmp_path):
    model = small("hue3")
    exported(torch.compile(model), tmp_path / "model.onnx")
    images = torch.rand(2, 3, 12, 12)
    with torch.no_grad():
        torch.testing.assert_close(run(tmp_path / "model.onnx", images), model(images), atol=1e-5, rtol=1e-4)


def test_what_is_too_large_for_one_file_stands_in_two_under_the_name_that_was_asked_for(tmp_path, monkeypatch):
    exporter = pytest.importorskip("torch.onnx._internal.exporter._onnx_program")
    monkeypatch.setattr(exporter, "_LARGE_MODEL_THRESHOLD", 1000)
    model = small("hue3")
    exported(model, tmp_path / "model.onnx")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["model.onnx", "model.onnx.data"]
    images = torch.rand(2, 3, 12, 12)
    with torch.no_grad():
        torch.testing.assert_close(run(tmp_path / "model.onnx", images), model(images), atol=1e-5, rtol=1e-4)


class _Function(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, images):
        return self.function(images)


def test_one_value_may_be_clamped_in_several_ways(tmp_path):
    twice = _Function(lambda images: images.clamp(0.2, 0.7) + 2 * images.clamp(0.4, 0.5) + images.clamp(0.2, 0.7).exp())
    exported(twice, tmp_path / "model.onnx")
    images = torch.rand(3, 3, 12, 12)
    torch.testing.assert_close(run(tmp_path / "model.onnx", images), twice(images))


def test_a_network_for_one_number_of_images_is_refused(tmp_path):
    pytest.importorskip("onnxscript")
    with pytest.raises(ValueError, match="_Function cannot be exported for batches of any size"):
        ec.export_onnx(_Function(lambda images: images.view(2, 3, 12, 12)), tmp_path / "model.onnx", 12)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["hue4", "hue4-sat3-lum3", "temp3-tint3", "exp3(action=clamp)", "hema3-eosin3"])
def test_a_move_of_each_image_is_exported_for_any_number_of_them(name):
    group = ec.group(name)

    class Moved(nn.Module):
        def forward(self, images, amounts):
            return group.move_by(images, amounts)

    def inputs(count):
        return torch.rand(count, 3, 5, 6), torch.randn(count, len(group.factors))

    batch = torch.export.Dim("batch")
    program = torch.export.export(Moved(), inputs(2), dynamic_shapes=({0: batch}, {0: batch})).module()
    for count in (1, 3, 4):
        given = inputs(count)
        torch.testing.assert_close(program(*given), group.move_by(*given))


def test_the_file_carries_the_card_and_takes_the_size_of_the_training(tmp_path):
    pytest.importorskip("onnxscript")
    model = settle(ec.create_model("z2cnn", group="hue3", num_classes=2, width=4), 32)
    with pytest.raises(ValueError, match="takes an image_size"):
        ec.export_onnx(model, tmp_path / "model.onnx")
    model.preparation = ec.models.Preparation(32, gray=True)
    loaded = ec.from_pretrained(ec.save_pretrained(model, tmp_path, ["ape", "bee"], metrics={"test": {"error": 0.1}}))
    path = ec.export_onnx(loaded, tmp_path / "model.onnx")
    session = pytest.importorskip("onnxruntime").InferenceSession(path, providers=["CPUExecutionProvider"])
    assert session.get_inputs()[0].shape[1:] == [3, 32, 32]
    card = ec.files.Card.from_json(session.get_modelmeta().custom_metadata_map["equicolor.card"])
    assert card == loaded.card
    assert card.preparation == model.preparation
