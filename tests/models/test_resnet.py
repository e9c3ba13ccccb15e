import math

import pytest
import torch
from torch import nn

import equicolor as ec
from zoo import settle


@pytest.mark.parametrize(("stem", "side"), [("cifar", 8), ("imagenet", 2)])
def test_the_imagenet_stem_sees_a_quarter_of_the_resolution(stem, side, images):
    model = ec.create_model("resnet44", "hue3", width=8, stem=stem).eval()
    assert model.features(images).shape[2:] == (side, side)


@pytest.mark.parametrize("name", ["resnet18", "resnet34", "resnet44", "resnet50"])
def test_counts_as_many_layers_as_its_name_says(name):
    with torch.device("meta"):
        model = ec.create_model(name)
    shortcuts = [m for path, m in model.named_modules() if "shortcut" in path and isinstance(m, nn.Conv2d)]
    layers = [m for m in model.modules() if isinstance(m, nn.Conv2d | nn.Linear)]
    assert len(layers) - len(shortcuts) == int(name.removeprefix("resnet"))


def test_resnet50_runs_at_its_full_width(images):
    model = ec.create_model("resnet50", "hue3", num_classes=2, stem="imagenet").eval()
    with torch.no_grad():
        assert model(images).shape == (2, 2)


@pytest.mark.parametrize("group", ["hue3", "ceconv3"])
@pytest.mark.parametrize("stages", [1, 2, 4])
def test_stages_behind_the_pooling_are_conventional_and_the_logits_stay_invariant(group, stages, images):
    model = settle(ec.create_model("resnet18", group, width=8, group_stages=stages))
    assert len(model.stages) == stages
    assert model.features(images).shape == (6, 8 * 2 ** (stages - 1), 32 >> (stages - 1), 32 >> (stages - 1))
    assert not any(isinstance(layer, ec.nn.GroupConv2d) for layer in model.head.modules())
    assert ec.equivariance_error(model, images, "hue3").max() < 1e-4


@pytest.mark.parametrize(("group", "stages"), [("hue3", 0), ("hue3", 5), (None, 1)])
def test_an_impossible_number_of_stages_on_the_group_is_refused(group, stages):
    with pytest.raises(ValueError, match="group_stages must be a number of stages from 1 to 4"):
        ec.create_model("resnet18", group, group_stages=stages)


def test_an_unknown_stem_is_refused():
    with pytest.raises(ValueError, match="unknown stem 'mnist': expected 'cifar' or 'imagenet'"):
        ec.create_model("resnet18", stem="mnist")


@pytest.mark.parametrize(
    ("name", "last"),
    [
        ("resnet18", "stem"),
        ("resnet18", "stage1"),
        ("resnet18", "stage3"),
        ("resnet44", "stem"),
        ("resnet44", "stage2"),
    ],
)
@pytest.mark.parametrize("width", ["paper", "fast"])
def test_pooled_early_it_has_the_parameters_of_the_conventional_network_in_fewer_multiplications(name, last, width):
    image = torch.rand(1, 3, 32, 32, device="meta")
    with torch.device("meta"):
        plain = ec.create_model(name)
        early, late = (ec.create_model(name, "hue4", width=width, pool_after=after) for after in (last, None))
    assert early.num_parameters == pytest.approx(plain.num_parameters, rel=0.1)
    work = [ec.measure.multiply_adds(model, image).convolutions for model in (plain, early, late)]
    assert work[1] < work[2]
    # A stem alone on the group costs next to nothing; it is narrow, and so the first convolution behind it costs less.
    assert work[1] > (0.9 if last == "stem" else 1) * work[0]
    assert last != "stem" or work[1] < 1.05 * work[0]


@pytest.mark.parametrize("group", ["hue4", "ceconv3"])
def test_pooled_early_the_logits_stay_invariant_and_widths_follow_the_first(group, images):
    model = settle(ec.create_model("resnet18", group, width=8, pool_after="stage2"))
    assert len(model.stages) == 2
    assert model.features(images).shape[1:] == (16, 16, 16)
    expected = round(8 * 8 * (2 if group == "hue4" else math.sqrt(1 + 3 / 9)))
    assert model.head.classifier.in_features == expected
    assert ec.equivariance_error(model, images, model.group).max() < 1e-4
    ec.create_model(**model.config).load_state_dict(model.state_dict())


@pytest.mark.parametrize("group", ["hue4", "temp3-tint3", "ceconv3"])
def test_pooled_after_the_stem_nothing_but_the_stem_is_on_the_group(group, images):
    model = settle(ec.create_model("resnet18", group, width=8, pool_after="stem"))
    assert len(model.stages) == 0
    assert model.features(images).shape == (model.group.order * len(images), 8, 32, 32)
    assert not any(isinstance(part, ec.nn.GroupConv2d) for part in model.head.modules())
    if group == "hue4":
        assert ec.equivariance_error(model, images, model.group).max() < 1e-4
    ec.create_model(**model.config).load_state_dict(model.state_dict())


@pytest.mark.parametrize(
    ("group", "options"),
    [("hue4", {"pool_after": "stage5"}), ("hue4", {"pool_after": "lift"}), (None, {"pool_after": "stage1"})],
)
def test_a_stage_that_is_not_there_is_refused(group, options):
    with pytest.raises(
        ValueError, match="pool_after must be one of 'stem', 'stage1', 'stage2', 'stage3', 'stage4', in"
    ):
        ec.create_model("resnet18", group, **options)


def test_the_place_of_the_pooling_is_said_once():
    with pytest.raises(ValueError, match="pool_after and group_stages both say where to pool"):
        ec.create_model("resnet18", "hue4", pool_after="stage1", group_stages=1)
