"""Deployment: the same logits, faster and elsewhere."""

import copy

import pytest
import torch
from torch import nn
from torch.nn.utils import parametrizations, prune

import equicolor as ec
from equicolor.deploy import optimize_for_inference
from equicolor.nn import CEConv2d, CEConvLift, CEConvTranspose2d, GroupConv2d, GroupConvTranspose2d

LAYERS = [GroupConv2d, GroupConvTranspose2d, CEConv2d, CEConvTranspose2d]


def settled(model, size=32):
    """A network whose norms have seen images, so that its features do not vanish in eval mode."""
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.momentum = None
            nn.init.uniform_(module.weight, 0.5, 1.5)
            nn.init.uniform_(module.bias, -0.5, 0.5)
    model(torch.rand(8, 3, size, size))
    return model.eval()


def relative(a, b):
    return ((a - b).norm() / b.norm()).item()


# ---------------------------------------------------------------------------------------------- layers


@pytest.mark.parametrize("algorithm", ["fast", "direct"])
@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("layer", LAYERS)
def test_a_frozen_layer_computes_the_same_and_takes_in_a_norm(layer, groups, algorithm, dtype):
    group = 3 if layer in (CEConv2d, CEConvTranspose2d) else "hue3"
    module = layer(group, 4, 6, 3, stride=2, groups=groups, algorithm=algorithm).to(dtype)
    features = torch.randn(6, 4, 7, 8, dtype=dtype)
    expected = module(features)
    frozen, folded = copy.deepcopy(module), copy.deepcopy(module)
    frozen.freeze()
    assert frozen.frozen
    assert not module.frozen
    torch.testing.assert_close(frozen(features), expected)
    scale, shift = torch.randn(6, dtype=dtype), torch.randn(6, dtype=dtype)
    folded.fold(scale, shift)
    torch.testing.assert_close(
        folded(features), expected * scale.view(-1, 1, 1) + shift.view(-1, 1, 1), atol=1e-5, rtol=1e-4
    )


@pytest.mark.parametrize("algorithm", ["fast", "direct"])
def test_a_frozen_layer_on_a_truncated_group_keeps_its_rescaling(algorithm):
    module = GroupConv2d("hue2-sat3", 4, 6, 3, rescale=True, algorithm=algorithm)
    features = torch.randn(12, 4, 5, 5)
    expected = module(features)
    module.freeze()
    torch.testing.assert_close(module(features), expected)


def test_a_frozen_layer_cannot_be_loaded_with_what_it_no_longer_has():
    layer, other = GroupConv2d("hue4", 3, 4, 3), GroupConv2d("hue4", 3, 4, 3)
    layer.freeze()
    with pytest.raises(RuntimeError, match=r"(?s)Missing key.*filters.*Unexpected key.*weight"):
        layer.load_state_dict(other.state_dict())
    assert [name for name, _ in layer.named_parameters()] == ["bias"]
    assert "frozen" in repr(layer)


# ---------------------------------------------------------------------------------------------- networks

NETWORKS = [
    ("z2cnn", "hue4"), ("z2cnn", None), ("z2cnn", "ceconv3"), ("resnet18", "sat3"), ("segmenter", "hue3"),
    ("resnet44", "hue4"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "group"), NETWORKS)
def test_optimized_for_inference_the_logits_stay(name, group):
    model = settled(ec.create_model(name, group=group, width=8))
    images = torch.rand(2, 3, 32, 32)
    before = {key: value.clone() for key, value in model.state_dict().items()}
    with torch.no_grad():
        optimized = ec.optimize_for_inference(model)
        assert relative(optimized(images), model(images)) < 1e-5
    assert all(torch.equal(value, before[key]) for key, value in model.state_dict().items())
    assert not any(parameter.requires_grad for parameter in optimized.parameters())
    norms = sum(isinstance(module, nn.BatchNorm2d) for module in optimized.modules())
    # Those of the segmenter stand behind a sum, and the first of CEConv behind the convolution that lifts.
    assert norms == {"segmenter": 11}.get(name, 1 if group == "ceconv3" else 0)
    if group not in (None, "ceconv3"):
        assert all(layer.frozen for layer in optimized.modules() if isinstance(layer, GroupConv2d))


def test_norms_that_are_shared_or_listened_to_elsewhere_are_left_alone():
    class Shared(nn.Module):
        def __init__(self):
            super().__init__()
            self.lift, self.norm = ec.nn.Lift("hue3"), nn.BatchNorm2d(4)
            self.first, self.second = GroupConv2d("hue3", 3, 4, 1), GroupConv2d("hue3", 4, 4, 1)

        def forward(self, x):
            y = self.first(self.lift(x))
            return self.norm(self.second(self.norm(y) + y))

    model = settled(Shared())
    images = torch.rand(2, 3, 5, 5)
    with torch.no_grad():
        optimized = ec.optimize_for_inference(model)
        assert relative(optimized(images), model(images)) < 1e-5
    assert isinstance(optimized.norm, nn.BatchNorm2d)


def test_where_a_forward_cannot_be_traced_no_norm_is_folded():
    class Untraceable(nn.Module):
        def __init__(self):
            super().__init__()
            self.lift = ec.nn.Lift("hue3")
            self.layers = nn.Sequential(GroupConv2d("hue3", 3, 4, 3), nn.BatchNorm2d(4))

        def forward(self, x):
            features = self.layers[0](self.lift(x))
            return torch.cat([features, self.layers[1](features)]) if bool((x >= 0).all()) else x

    model = settled(Untraceable())
    images = torch.rand(2, 3, 5, 5)
    torch.testing.assert_close(ec.optimize_for_inference(model)(images), model(images), atol=1e-5, rtol=1e-5)


def test_the_norms_of_a_converted_network_are_folded():
    class Residual(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.norm = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8)
            self.second, self.other = nn.Conv2d(8, 8, 3, padding=1), nn.BatchNorm2d(8)
            self.head = nn.Linear(8, 2)

        def forward(self, x):
            x = self.norm(self.first(x)).relu()
            return self.head((x + self.other(self.second(x))).mean((2, 3)))

    model = settled(ec.convert(Residual(), "hue4"))
    images = torch.rand(2, 3, 8, 8)
    with torch.no_grad():
        optimized = ec.optimize_for_inference(model)
        assert relative(optimized(images), model(images)) < 1e-5
    assert not any(isinstance(module, nn.BatchNorm2d) for module in optimized.modules())


def test_the_optimized_network_compiles_whole():
    model = ec.optimize_for_inference(settled(ec.create_model("z2cnn", group="hue4")))
    images = torch.rand(2, 3, 28, 28)
    compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(images), model(images), atol=1e-5, rtol=1e-5)


def test_activations_write_over_what_nothing_else_reads_and_over_nothing_else():
    class Network(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.Conv2d(3, 4, 3, padding=1), nn.Conv2d(4, 4, 3, padding=1)
            self.alone, self.heard, self.given, self.last = nn.ReLU(), nn.ReLU(), nn.ReLU(), nn.ReLU()

        def forward(self, images):
            one = self.alone(self.first(self.given(images - 0.5)))
            two = self.second(one)
            return self.last(self.heard(two) + two)

    network = Network().eval()
    images = torch.rand(2, 3, 6, 6)
    expected = network(images)
    optimized = ec.optimize_for_inference(network)
    torch.testing.assert_close(optimized(images.clone()), expected)
    assert (optimized.alone.inplace, optimized.last.inplace) == (True, True)
    assert (optimized.heard.inplace, optimized.given.inplace) == (False, False)


def test_given_images_each_layer_takes_the_way_that_is_faster_at_its_size():
    layers = [GroupConv2d("hue4", 16, 16, 3, padding=1, bias=False) for _ in range(2)]
    network = nn.Sequential(ec.nn.Lift("hue4"), GroupConv2d("hue4", 3, 16, 3), layers[0], nn.MaxPool2d(8), layers[1])
    images = torch.rand(32, 3, 34, 34)
    optimized = ec.optimize_for_inference(network, images)
    assert [optimized[place].algorithm for place in (2, 4)] == ["fast", "direct"]
    assert layers[0].algorithm == "auto"
    torch.testing.assert_close(optimized(images), network.eval()(images), atol=1e-4, rtol=1e-4)


# ---------------------------------------------------------------------------------------------- computed weights


def _computed(how: str) -> nn.Module:
    """A trained network, the weights of whose convolutions are computed in every forward."""
    model = settled(ec.create_model("z2cnn", group="hue4"), 28).train()
    for layer in model.modules():
        if isinstance(layer, GroupConv2d):
            if how == "pruned":
                prune.l1_unstructured(layer, "weight", amount=0.5)
            else:
                (parametrizations if how == "parametrized" else nn.utils).spectral_norm(layer)
    model.train()(torch.rand(8, 3, 28, 28))  # a spectral norm moves in training
    return model.eval()


@pytest.mark.parametrize("how", ["pruned", "parametrized", "hooked"])
def test_layers_whose_weights_are_computed_are_left_as_they_are(how):
    model, images = _computed(how), torch.rand(4, 3, 28, 28)
    expected = model(images)
    optimized = optimize_for_inference(model)
    assert relative(optimized(images), expected) < 1e-6
    assert not any(layer.frozen for layer in optimized.modules() if isinstance(layer, GroupConv2d))
    assert torch.equal(model(images), expected)


@pytest.mark.parametrize("how", ["pruned", "parametrized", "hooked"])
def test_a_layer_whose_weight_is_computed_cannot_be_frozen(how):
    layer = next(layer for layer in _computed(how).modules() if isinstance(layer, GroupConv2d))
    with pytest.raises(ValueError, match=r"cannot freeze this .*GroupConv2d: its weight is"):
        layer.freeze()


def test_plain_convolutions_with_computed_weights_take_in_no_norm():
    network = nn.Sequential(parametrizations.spectral_norm(nn.Conv2d(3, 4, 3)), nn.BatchNorm2d(4)).train()
    network(torch.rand(4, 3, 8, 8))
    images = torch.rand(2, 3, 8, 8)
    assert relative(optimize_for_inference(network)(images), network.eval()(images)) < 1e-6


def test_hooks_on_a_layer_still_see_what_they_saw():
    network = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU())
    network(torch.rand(4, 3, 8, 8))
    seen = []
    for layer in network[:2]:
        layer.register_forward_hook(lambda _, __, output: seen.append(output))
    images = torch.rand(2, 3, 8, 8)
    with torch.no_grad():
        network.eval()(images)
        optimize_for_inference(network)(images)
    for before, after in zip(seen[:2], seen[2:], strict=True):
        torch.testing.assert_close(before, after)


# ---------------------------------------------------------------------------------------------- ONNX


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
    return settled(network, 12)


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
    model = settled(ec.create_model("z2cnn", group="hue3", mean=0.4, std=[0.2, 0.25, 0.3], width=4), 28)
    exported(model, tmp_path / "model.onnx", 28)
    assert b"equicolor" not in (tmp_path / "model.onnx").read_bytes()  # as in the paths of source files
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
