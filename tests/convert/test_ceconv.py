"""CEConv from any network: the first convolution turns its filters, hidden filters are separable."""

import pytest
import torch
from torch import nn

import equicolor as ec
from convert_networks import NETWORKS, Segmenter, images, plain, pooled_old_features, randomized
from equicolor.baselines import CEConv2d, CEConvLift, CEConvTranspose2d
from equicolor.nn import GroupConv2d, GroupLinear, GroupPool


@pytest.mark.parametrize("name", NETWORKS)
@torch.no_grad()
def test_with_kept_weights_it_pools_the_old_features_of_each_turned_copy(name):
    make, pool_before = NETWORKS[name]
    model, x = randomized(make().double()), images(dtype=torch.float64)
    converted = ec.convert(model, "ceconv3", mean=0.4, std=0.3)
    assert converted.group == ec.Hue(3)
    copies = [(ec.Hue(3).act_on_images(element, x) - 0.4) / 0.3 for element in ec.Hue(3)]
    features, results = pooled_old_features(model, copies, pool_before)
    torch.testing.assert_close(converted.features(x), features, rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(converted(x), results, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", NETWORKS)
@torch.no_grad()
def test_with_three_turns_logits_are_invariant_once_every_filter_is_in_use(name):
    x = images(dtype=torch.float64)
    converted = randomized(ec.convert(NETWORKS[name][0]().double(), "ceconv3", keep_weights=False, mean=0.5, std=0.5))
    for parameters in ("spatial", "rotational"):
        for layer in converted.modules():
            if isinstance(layer, CEConv2d):
                nn.init.normal_(getattr(layer, parameters), std=0.3)
    logits = converted(x)
    assert logits.std(0).max() > 1e-4 * logits.abs().max()  # not invariant by being constant
    for element in ec.Hue(3):
        moved = converted(ec.Hue(3).act_on_images(element, x))
        assert (moved - logits).norm() <= 1e-12 * logits.norm()


@pytest.mark.parametrize("name", ["torchvision resnet", "timm mobilenetv2", "timm convnext"])
def test_matched_width_keeps_the_number_of_parameters(name):
    model = NETWORKS[name][0]()
    converted = ec.convert(model, "ceconv3", width="matched", keep_weights=False)
    before, after = (sum(p.numel() for p in each.parameters()) for each in (model, converted))
    assert abs(after / before - 1) <= 0.05


def test_layers_become_those_of_the_baseline():
    network = nn.Sequential(
        nn.Conv2d(3, 8, 3, stride=2, padding=1, dilation=2), nn.Conv2d(8, 8, 3, groups=8), nn.Conv2d(8, 6, 1, stride=2),
        nn.ConvTranspose2d(6, 6, 2, stride=2), nn.Flatten(2), nn.Linear(25 * 4, 7), nn.Flatten(), nn.Linear(42, 4),
    )  # fmt: skip
    converted = ec.convert(network, "ceconv3", pool_before="7", image_size=26)
    kinds = [CEConvLift, CEConv2d, GroupConv2d, CEConvTranspose2d, nn.Flatten, GroupLinear, nn.Flatten]
    assert [type(layer) for layer in converted.body[:7]] == kinds
    assert isinstance(converted.body[7].pool, GroupPool)
    assert converted.lift.group.order == 1
    assert converted.body[1].groups == 8


def test_hidden_filters_learn_of_every_turn():
    converted = ec.convert(plain(), "ceconv3").train()
    nn.functional.cross_entropy(converted(images(4, 16)), torch.tensor([0, 1, 2, 3])).backward()
    turns = converted.body[3].rotational.grad.view(12, 3, 8)
    assert (turns.abs().sum((0, 2)) > 0).all()


def test_what_does_not_pass_the_first_convolution_is_refused():
    with pytest.raises(ValueError, match=r"does not run.*CEConv lifts in the first convolution"):
        ec.convert(Segmenter().apply(_with_zeros), "ceconv3", pool_before="output")
    with pytest.raises(ValueError, match=r"cannot convert '0' to ceconv3: .*RGB images, without groups, padded with z"):
        ec.convert(nn.Sequential(nn.Conv2d(3, 6, 3, groups=3), nn.Conv2d(6, 2, 1)), "ceconv3", pool_before="output")


def _with_zeros(layer: nn.Module) -> None:
    if isinstance(layer, nn.Conv2d):
        layer.padding_mode = "zeros"
