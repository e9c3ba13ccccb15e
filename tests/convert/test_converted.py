"""A converted network keeps what its users expect of it."""

import pytest
import torch
from torch import nn

import equicolor as ec
from convert_networks import NETWORKS, images, plain, randomized, timm, torchvision_models
from equicolor.convert import Converted
from equicolor.models import Preparation
from equicolor.nn import GroupPool


@pytest.mark.parametrize("group", ["hue3", None])
@pytest.mark.parametrize("name", NETWORKS)
@torch.no_grad()
def test_the_classifier_is_known_and_can_be_reset(name, group):
    converted = ec.convert(randomized(NETWORKS[name][0]()), group).eval()
    assert converted.num_classes == 10
    old = converted.get_classifier()
    assert isinstance(old, nn.Linear | nn.Conv2d)
    body = {name: value for name, value in converted.state_dict().items() if converted.classifier not in name}

    converted.reset_classifier(4)
    assert converted.num_classes == 4
    assert converted.get_classifier() is not old
    assert converted(images()).shape == (2, 4)
    assert all(torch.equal(value, converted.state_dict()[name]) for name, value in body.items())
    if group:
        assert sum(isinstance(module, GroupPool) for module in converted.modules()) == 1
        moved = ec.Hue(3).act_on_images(1, images())
        torch.testing.assert_close(converted(moved), converted(images()), rtol=1e-3, atol=1e-4)


def test_without_a_classifier_it_gives_what_one_would_take():
    converted = ec.convert(timm("resnet10t"), "hue3").eval()
    converted.reset_classifier(0)
    assert converted.num_classes == 0
    assert converted(images()).shape == (2, 512)
    converted.reset_classifier(3)
    assert converted(images()).shape == (2, 3)


@torch.no_grad()
def test_features_and_head_are_timms_with_the_group_pooled_over_once():
    converted, x = ec.convert(randomized(timm("resnet10t")), "hue3").eval(), images()
    features = converted.forward_features(x)
    assert features.shape == (3 * 2, 512, 2, 2)
    torch.testing.assert_close(converted.forward_head(features), converted(x))
    before = converted.forward_head(features, pre_logits=True)
    torch.testing.assert_close(converted.get_classifier()(before), converted(x))

    early = ec.convert(randomized(timm("resnet10t")), "hue3", pool_before="layer3").eval()
    pooled = early.forward_features(x)
    assert pooled.shape == (2, 512, 2, 2)
    torch.testing.assert_close(early.forward_head(pooled), early(x))
    assert early.forward_head(pooled, pre_logits=True).shape == (2, 512)
    with pytest.raises(AttributeError, match=r"Sequential has no forward_features: that is of timm's"):
        ec.convert(plain(), "hue3").forward_features(x)


@torch.no_grad()
def test_features_only_gives_invariant_maps_and_features_those_on_the_group():
    timm("resnet10t")
    network = randomized(pytest.importorskip("timm").create_model("resnet10t", features_only=True, out_indices=(1, 3)))
    converted, x = ec.convert(network, "hue3"), images()
    maps, lifted = converted(x), converted.features(x)
    assert [tuple(each.shape) for each in maps] == [(2, 64, 16, 16), (2, 256, 4, 4)]
    assert [tuple(each.shape) for each in lifted] == [(6, 64, 16, 16), (6, 256, 4, 4)]
    assert converted.feature_info.channels() == [64, 256]
    for one, other in zip(maps, converted(ec.Hue(3).act_on_images(1, x)), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-4)
    with pytest.raises(AttributeError, match="has no classifier"):
        converted.get_classifier()


def test_default_cfg_says_how_images_are_prepared():
    model = timm("resnet18")
    converted = ec.convert(model, "hue3")
    assert converted.default_cfg == converted.pretrained_cfg == dict(model.default_cfg)
    assert converted.default_cfg["crop_pct"] == 0.95
    assert converted.preparation == Preparation(224, 235, crop=235)
    assert converted.preprocess(torch.rand(3, 300, 400)).shape == (1, 3, 224, 224)
    assert converted.lift.mean.flatten().tolist() == pytest.approx(model.default_cfg["mean"])


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"input_size": (3, 224, 224), "crop_pct": 0.875}, Preparation(224, 256, crop=256)),
        ({"input_size": (3, 32, 32), "crop_pct": 1.0}, Preparation(32)),
        ({"input_size": (3, 64, 64), "crop_pct": 1, "crop_mode": "squash"}, Preparation(64, fit="stretch")),
        ({"input_size": (3, 64, 48)}, None),
        ({}, None),
    ],
)
def test_sizes_and_crops_are_those_of_the_config(config, expected):
    network = plain()
    network.pretrained_cfg = config
    assert ec.convert(network, "hue3").preparation == expected


@torch.no_grad()
def test_without_a_group_it_is_the_network_behind_its_normalisation():
    model, x = randomized(timm("test_vit")), torch.rand(2, 3, 160, 160)
    converted = ec.convert(model, None)
    assert isinstance(converted, Converted)
    assert converted.group is None
    mean, std = (torch.tensor(model.default_cfg[name]).view(3, 1, 1) for name in ("mean", "std"))
    torch.testing.assert_close(converted(x), model((x - mean) / std))
    with pytest.raises(ValueError, match=r"outside \[0, 1\]|in \[0, 1\]"):
        converted(x * 4)
    with pytest.raises(ValueError, match="group=None leaves the network as it is"):
        ec.convert(model, None, pool_before="blocks")


def test_a_network_of_torchvision_has_no_config_of_its_own():
    converted = ec.convert(torchvision_models().resnet18(num_classes=7), "hue3")
    assert converted.default_cfg == {}
    assert converted.preparation is None
    assert (converted.num_classes, converted.classifier) == (7, "fc")
