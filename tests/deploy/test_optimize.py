"""Optimized for inference: the same logits, faster."""

import copy

import pytest
import torch
from torch import nn
from torch.nn.utils import parametrizations, prune

import equicolor as ec
from equicolor.baselines import CEConv2d, CEConvTranspose2d
from equicolor.deploy import optimize_for_inference
from equicolor.nn import GroupConv2d, GroupConvTranspose2d
from zoo import relative, settle

LAYERS = [GroupConv2d, GroupConvTranspose2d, CEConv2d, CEConvTranspose2d]


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


@pytest.mark.parametrize("layer", [GroupConv2d, GroupConvTranspose2d])
@pytest.mark.parametrize("window", ["zero", "rescale", "replicate", "valid"])
@pytest.mark.parametrize("algorithm", ["fast", "direct"])
def test_a_frozen_layer_on_a_truncated_group_keeps_its_window(algorithm, window, layer):
    module = layer("hue2-sat3", 4, 6, 3, window=window, algorithm=algorithm, groups=2)
    features = torch.randn(12, 4, 5, 5)
    expected = module(features)
    module.freeze()
    torch.testing.assert_close(module(features), expected)
    scale, shift = torch.randn(6), torch.randn(6)
    module.fold(scale, shift)
    torch.testing.assert_close(module(features), expected * scale.view(-1, 1, 1) + shift.view(-1, 1, 1))


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
    model = settle(ec.create_model(name, group=group, width=8))
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

    model = settle(Shared())
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

    model = settle(Untraceable())
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

    model = settle(ec.convert(Residual(), "hue4"))
    images = torch.rand(2, 3, 8, 8)
    with torch.no_grad():
        optimized = ec.optimize_for_inference(model)
        assert relative(optimized(images), model(images)) < 1e-5
    assert not any(isinstance(module, nn.BatchNorm2d) for module in optimized.modules())


def test_the_optimized_network_compiles_whole():
    model = ec.optimize_for_inference(settle(ec.create_model("z2cnn", group="hue4")))
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
    model = settle(ec.create_model("z2cnn", group="hue4"), 28).train()
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


@pytest.mark.parametrize("nothing", [None, "model", 3])
def test_what_is_no_network_is_named(nothing):
    with pytest.raises(TypeError, match=r"expected a network, a torch\.nn\.Module, got"):
        ec.optimize_for_inference(nothing)


def test_a_network_that_was_converted_and_not_trained_becomes_the_plain_one_on_each_element():
    plain = nn.Sequential(
        nn.Conv2d(3, 8, 3, stride=2, padding=1, bias=False),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.Conv2d(8, 8, 3, padding="same", groups=8),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(8, 5),
    )
    settle(plain)
    images = torch.rand(2, 3, 16, 16)
    for group in ("hue4", "temp3-tint3"):
        converted = ec.convert(plain, group).eval()
        optimized = optimize_for_inference(converted)
        assert not any(isinstance(layer, GroupConv2d) for layer in optimized.modules())
        torch.testing.assert_close(optimized(images), converted(images), atol=1e-5, rtol=1e-4)
        with torch.no_grad():
            converted.body[3].weight[0, 1] = 1e-3  # one filter between two elements, and it is no longer plain
        optimized = optimize_for_inference(converted)
        assert sum(isinstance(layer, GroupConv2d) for layer in optimized.modules()) == 1
        torch.testing.assert_close(optimized(images), converted(images), atol=1e-5, rtol=1e-4)
