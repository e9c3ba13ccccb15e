"""A group on the first stages only: the pool as late as a budget allows."""

import pytest
import torch
from torch import nn

import equicolor as ec
from convert_networks import images, plain, pooled_old_features, randomized, timm
from equicolor.measure import multiply_adds


def parameters(network: nn.Module) -> int:
    return sum(parameter.numel() for parameter in network.parameters())


@pytest.fixture(scope="module")
def resnet() -> nn.Module:
    return randomized(timm("resnet10t", channels=(16, 32, 48, 64)))


@pytest.mark.parametrize(("budget", "place"), [(1.1, "conv1.6"), (1.5, "layer2"), (2.0, "layer3"), (9, "fc")])
def test_a_budget_of_parameters_is_kept_and_used(resnet, budget, place):
    converted = ec.convert(resnet, "hue3", budget=budget)
    assert converted.pool_before == place
    assert parameters(converted) <= budget * parameters(resnet)


@pytest.mark.parametrize("group", ["hue3", "ceconv3"])
@pytest.mark.parametrize("budget", [1.6, 2.2, 3.0])
def test_a_budget_of_multiplications_is_kept(resnet, group, budget):
    converted = ec.convert(resnet, group, budget=budget, budget_of="multiplications", image_size=64)
    taken, before = (multiply_adds(network, images(1)).total for network in (converted, resnet))
    assert 1 < taken / before <= budget
    later = ec.convert(resnet, group, budget=budget + 4, budget_of="multiplications", image_size=64)
    assert multiply_adds(later, images(1)).total > taken


@torch.no_grad()
def test_within_a_budget_the_weights_are_kept(resnet):
    converted, x = ec.convert(resnet, "hue3", budget=1.5), images()
    mean, std = converted.lift.mean, converted.lift.std
    copies = [(converted.group.act_on_images(element, x) - mean) / std for element in converted.group]
    _, results = pooled_old_features(resnet, copies, "layer2")
    torch.testing.assert_close(converted(x), results, rtol=1e-4, atol=1e-4)


def test_a_budget_that_nothing_fits_says_what_would(resnet):
    with pytest.raises(
        ValueError, match=r"budget=1.0001 is too small: the earliest place .*takes 1\.\d+ times the par"
    ):
        ec.convert(resnet, "hue3", budget=1.0001)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"budget": 1}, "budget must be a number above 1"),
        ({"budget": 2, "budget_of": "time"}, "budget_of must be 'parameters' or 'multiplications', got 'time'"),
        ({"budget": 2, "pool_before": "3"}, "budget finds pool_before"),
        ({"budget": 2, "width": "matched", "keep_weights": False}, "budget finds pool_before"),
    ],
)
def test_what_does_not_go_with_a_budget_is_said(arguments, message):
    with pytest.raises(ValueError, match=message):
        ec.convert(plain(), "hue3", **arguments)
