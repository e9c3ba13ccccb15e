"""The bilinear convolution keeps little for its gradient, and has all the derivatives that a convolution has."""

import pytest
import torch
from torch.utils.checkpoint import checkpoint

from equicolor.measure import peak_memory
from equicolor.nn import GroupConv2d, GroupConvTranspose2d
from equicolor.nn._bilinear import transform_filters

GROUPS = ("hue3", "hue4", "sat3", "hue2-sat3")


def _layer(group: str, kind: type = GroupConv2d, **options) -> torch.nn.Module:
    torch.manual_seed(0)
    return kind(group, 3, 4, 3, algorithm="fast", **options).double()


def _features(layer) -> torch.Tensor:
    return torch.randn(2 * layer.group.order, 3, 6, 5, dtype=torch.float64, requires_grad=True)


def _kept(layer, features) -> int:
    """The numbers that autograd keeps for the backward pass, each tensor counted once."""
    kept = {}

    def pack(tensor):
        kept[tensor.data_ptr()] = tensor.untyped_storage().nbytes() // tensor.element_size()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        layer(features)
    return sum(kept.values())


@pytest.mark.parametrize("group", GROUPS)
def test_autograd_keeps_the_feature_and_the_filters_and_nothing_else(group):
    layer = _layer(group)
    features = _features(layer)
    assert _kept(layer, features) == features.numel() + layer.weight.numel()


@pytest.mark.parametrize("kind", [GroupConv2d, GroupConvTranspose2d])
@pytest.mark.parametrize("group", GROUPS)
def test_the_gradients_are_those_of_the_direct_way(group, kind):
    layer = _layer(group, kind, stride=2, padding=1, bias=True)
    features = _features(layer)
    results = []
    for algorithm in ("fast", "direct"):
        layer.algorithm = algorithm
        inputs = (features, *layer.parameters())
        results.append(torch.autograd.grad(layer(features).square().sum(), inputs))
    for fast, direct in zip(*results, strict=True):
        torch.testing.assert_close(fast, direct, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("group", GROUPS)
def test_it_has_forward_and_second_derivatives(group):
    layer = _layer(group, bias=True)
    features, parameters = _features(layer), dict(layer.named_parameters())

    def function(x, *values):
        return torch.func.functional_call(layer, dict(zip(parameters, values, strict=True)), x)

    inputs = (features, *parameters.values())
    assert torch.autograd.gradcheck(function, inputs, check_forward_ad=True, fast_mode=True)
    assert torch.autograd.gradgradcheck(function, inputs, fast_mode=True)


def test_a_training_step_does_not_look_up_the_signature_of_a_function(monkeypatch):
    def never(*_):
        raise AssertionError("this takes longer than a small convolution")

    layer = _layer("hue4")
    monkeypatch.setattr("inspect.signature", never)
    layer(_features(layer)).sum().backward()
    assert layer.weight.grad is not None


def test_a_layer_that_is_not_trained_has_no_gradient_and_passes_one_on():
    layer = _layer("hue4").requires_grad_(False)
    features = _features(layer)
    layer(features).sum().backward()
    assert features.grad is not None
    assert layer.weight.grad is None


def test_gradients_of_single_samples_by_vmap():
    layer = _layer("hue4", bias=False)
    batch = torch.randn(3, 4, 3, 6, 5, dtype=torch.float64)
    weight = layer.weight.detach()

    def loss(weight, features):
        return torch.func.functional_call(layer, {"weight": weight}, features).square().sum()

    together = torch.func.vmap(torch.func.grad(loss), in_dims=(None, 0))(weight, batch)
    for one, features in zip(together, batch, strict=True):
        torch.testing.assert_close(one, torch.func.grad(loss)(weight, features))


@pytest.mark.parametrize("layout", [torch.contiguous_format, torch.channels_last])
@pytest.mark.parametrize("channels", [3, 4], ids=["as many channels out as in", "more channels out"])
def test_filters_of_several_networks_by_vmap(channels, layout):
    layer = GroupConv2d("hue4", 3, channels, 3, padding=1, bias=False, algorithm="fast", dtype=torch.float64)
    features = torch.randn(8, 3, 6, 5, dtype=torch.float64).to(memory_format=layout)
    weights = torch.stack([torch.randn_like(layer.weight).to(memory_format=layout) for _ in range(2)])

    def call(weight):
        return torch.func.functional_call(layer, {"weight": weight}, features)

    with torch.no_grad():
        torch.testing.assert_close(torch.func.vmap(call)(weights), torch.stack([call(weight) for weight in weights]))


def test_forward_derivatives_where_no_gradient_is_recorded():
    layer = GroupConv2d("hue4", 3, 3, 3, padding=1, bias=False, algorithm="fast", dtype=torch.float64)
    features, direction = torch.randn(2, 8, 3, 6, 5, dtype=torch.float64)
    with torch.no_grad(), torch.autograd.forward_ad.dual_level():
        result = layer(torch.autograd.forward_ad.make_dual(features, direction))
        derivative = torch.autograd.forward_ad.unpack_dual(result).tangent
    torch.testing.assert_close(derivative, layer(direction).detach())


def test_what_is_given_is_not_written_to():
    layer = GroupConv2d("hue4", 3, 3, 3, padding=1, algorithm="fast")
    features, gradient = torch.randn(8, 3, 6, 5, requires_grad=True), torch.randn(8, 3, 6, 5)
    given = [tensor.detach().clone() for tensor in (features, gradient, *layer.parameters())]
    layer(features).backward(gradient)
    with torch.no_grad():
        layer(features)
    for tensor, before in zip((features, gradient, *layer.parameters()), given, strict=True):
        assert torch.equal(tensor, before)


@pytest.mark.parametrize("layout", [torch.contiguous_format, torch.channels_last])
def test_what_comes_out_may_be_changed_in_place(layout):
    layer = GroupConv2d("hue4", 3, 3, 3, padding=1, algorithm="fast").to(memory_format=layout)
    features = torch.randn(8, 3, 6, 5).to(memory_format=layout).requires_grad_()
    activations = (torch.nn.ReLU(inplace=True), torch.nn.ReLU())
    results = [activation(layer(features)) for activation in activations]
    torch.testing.assert_close(*[torch.autograd.grad(each.square().sum(), features) for each in results])


def test_inference_holds_the_slabs_and_the_result_and_no_more():
    layer = GroupConv2d("hue4", 16, 16, 3, padding=1, algorithm="fast", bias=False)
    layer.freeze()
    features = torch.randn(8, 16, 32, 32)
    slab = features.nbytes // 4
    with torch.no_grad():
        assert peak_memory(lambda: layer(features)) <= (layer._bilinear.rank + layer.group.order) * slab + 10_000


@pytest.mark.parametrize("layout", [torch.contiguous_format, torch.channels_last])
def test_filters_and_their_gradient_stay_in_the_layout_of_the_weight(layout):
    layer = GroupConv2d("hue4", 3, 5, 3, algorithm="fast").to(memory_format=layout)
    assert transform_filters(layer.weight, layer._bilinear).is_contiguous(memory_format=layout)
    result = layer(torch.randn(8, 3, 6, 5).to(memory_format=layout))
    (gradient,) = torch.autograd.grad(result.sum(), layer.weight)
    assert gradient.is_contiguous(memory_format=layout)
    layer.fold(torch.rand(5), torch.rand(5))
    assert layer.filters.is_contiguous(memory_format=layout)


def test_activation_checkpointing_gives_the_same_gradients():
    layer = _layer("hue4")
    features = _features(layer)
    expected = torch.autograd.grad(layer(features).square().sum(), features)
    found = torch.autograd.grad(checkpoint(layer, features, use_reentrant=False).square().sum(), features)
    torch.testing.assert_close(found, expected)


def test_under_autocast_gradients_keep_the_precision_of_what_they_belong_to():
    layer = _layer("hue4").float()
    features = _features(layer).detach().float().requires_grad_()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        result = layer(features)
    assert result.dtype == torch.bfloat16
    result.float().square().sum().backward()
    assert features.grad.dtype == layer.weight.grad.dtype == torch.float32
    expected = torch.autograd.grad(layer(features).square().sum(), (features, layer.weight))
    for found, exact in zip((features.grad, layer.weight.grad), expected, strict=True):
        assert (found - exact).norm() < 0.02 * exact.norm()


def test_a_strided_1x1_convolution_transforms_only_what_it_keeps():
    layer = GroupConv2d("hue4", 3, 4, 1, stride=2, algorithm="fast", bias=False)
    features = torch.randn(8, 3, 6, 6, requires_grad=True)
    assert _kept(layer, features) == features.numel() // 4 + layer.weight.numel()
    strided = layer(features)
    layer.stride = (1, 1)
    torch.testing.assert_close(strided, layer(features)[:, :, ::2, ::2])
