"""The CEConv baseline, and where it differs from a hue shift."""

import copy
import pickle

import pytest
import torch
from torch import nn

import equicolor as ec
from equicolor.baselines import CEConv2d, CEConvLift, CEConvTranspose2d
from equicolor.nn import GroupConv2d, GroupConvTranspose2d, GroupPool


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


@pytest.fixture
def images():
    return torch.rand(2, 3, 32, 32)


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-6), (torch.float64, 1e-14)])
def test_with_three_rotations_the_lift_agrees_with_a_hue_shift(dtype, tolerance, images):
    lift = CEConvLift(3, 16, 3, padding=1).to(dtype)
    assert ec.equivariance_error(lift, images.to(dtype), "hue3").max() < tolerance


def test_with_four_rotations_the_lift_is_off_by_seven_and_nine_percent(images):
    """Measured on random images, over a few filters: 0.056 to 0.070 at 90° and 270°, 0.077 to 0.094 at 180°."""
    errors = torch.stack([ec.equivariance_error(CEConvLift(4, 16, 3), images, "hue4") for _ in range(4)]).mean(0)
    assert errors[0] == 0
    assert 0.05 < errors[1] < 0.09
    assert 0.07 < errors[2] < 0.11
    assert 0.05 < errors[3] < 0.09


def test_the_lift_turns_filters_where_one_could_turn_images(images):
    """Turning RGB, without a clamp, and then convolving is the same linear map."""
    lift = CEConvLift(4, 8, 3, bias=False)
    turned = [ec.color.rotate_rgb(images, 90.0 * j, clamp=False) for j in range(4)]
    expected = torch.cat([nn.functional.conv2d(each, lift.weight) for each in turned])
    torch.testing.assert_close(lift(images), expected, atol=1e-5, rtol=1e-5)


def test_a_fixed_rotation_counts_as_nine_parameters_and_never_learns(images):
    lift = CEConvLift(3, 8, 3)
    assert sum(p.numel() for p in lift.parameters()) == 8 * 27 + 8 + 9
    lift.requires_grad_(True)
    lift(images).sum().backward()
    assert lift.rotation.grad is None
    learnable = CEConvLift(3, 8, 3, learnable=True)
    learnable(images).square().sum().backward()
    assert learnable.rotation.grad.abs().sum() > 0


def test_mixed_precision_does_not_round_the_rotation():
    lift = CEConvLift(4, 8, 3)
    with torch.autocast("cpu", torch.bfloat16):
        filters = lift._filters()
    assert torch.equal(filters, lift._filters())


@pytest.mark.parametrize(
    ("layer", "full"),
    [
        (CEConv2d(4, 6, 9, 3, stride=2, padding=1), GroupConv2d("hue4", 6, 9, 3, stride=2, padding=1)),
        (CEConv2d(3, 6, 9, 1, bias=False), GroupConv2d("hue3", 6, 9, 1, bias=False)),
        (CEConv2d(3, 6, 9, 3, groups=3, dilation=2), GroupConv2d("hue3", 6, 9, 3, groups=3, dilation=2)),
        (CEConvTranspose2d(4, 6, 9, 3, stride=2), GroupConvTranspose2d("hue4", 6, 9, 3, stride=2)),
    ],
)
def test_a_hidden_layer_is_a_group_convolution_with_separable_filters(layer, full):
    with torch.no_grad():
        order, (first, second) = layer.group.order, layer.spatial.shape[:2]
        for rotation in range(order):
            taps = slice(rotation * second, (rotation + 1) * second)
            full.weight[:, taps] = layer.spatial * layer.rotational[:, taps]
        if full.bias is not None:
            full.bias.copy_(layer.bias)
    features = torch.randn(2 * order, 6, 9, 9)
    torch.testing.assert_close(layer(features), full(features))
    count = first * second * (layer.kernel_size[0] ** 2 + order) + (0 if layer.bias is None else 9)
    assert sum(p.numel() for p in layer.parameters()) == count


@pytest.mark.parametrize("layer", [CEConv2d(4, 6, 9, 3), CEConvTranspose2d(5, 6, 9, 3, stride=2)])
def test_hidden_layers_are_equivariant_for_any_number_of_rotations(layer):
    ec.testing.assert_equivariant(layer, layer.group)


@pytest.mark.parametrize("layer", [CEConv2d(3, 6, 9, 3), CEConvTranspose2d(3, 6, 9, 3, stride=2)])
def test_hidden_layers_copy_pickle_and_save(layer):
    features = torch.randn(6, 6, 9, 9)
    expected = layer(features)
    assert torch.equal(copy.deepcopy(layer)(features), expected)
    assert torch.equal(pickle.loads(pickle.dumps(layer))(features), expected)
    assert set(layer.state_dict()) == {"spatial", "rotational", "bias"}
    last = copy.deepcopy(layer).to(memory_format=torch.channels_last)
    torch.testing.assert_close(last(features), expected)


def test_a_whole_network_of_its_layers_is_equivariant_for_three_rotations(images):
    network = nn.Sequential(
        CEConvLift(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), CEConv2d(3, 8, 5, 3), nn.BatchNorm2d(5), GroupPool("hue3")
    )
    network(images)
    ec.testing.assert_equivariant(network, "hue3")
