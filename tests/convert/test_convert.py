"""Claims about conversion: what the new network computes, that it is equivariant, and how large it is."""

import copy
import pickle
from collections.abc import Callable

import pytest
import torch
from torch import nn

import equicolor as ec
from convert_networks import (
    NETWORKS,
    Segmenter,
    Shared,
    SqueezeExcite,
    images,
    plain,
    pooled_old_features,
    randomized,
    timm,
    torchvision_models,
)
from equicolor.convert import Converted
from equicolor.nn import GroupConv2d, GroupConvTranspose2d, GroupLinear, GroupPool


@pytest.mark.parametrize("name", NETWORKS)
@torch.no_grad()
def test_with_kept_weights_it_pools_the_old_features_of_each_recoloured_copy(name: str) -> None:
    make, pool_before = NETWORKS[name]
    model = randomized(make().double())
    state = copy.deepcopy(model.state_dict())
    group, x = ec.Hue(3), images(dtype=torch.float64)
    converted = ec.convert(model, group)
    assert converted.pool_before == pool_before

    mean, std = converted.lift.mean, converted.lift.std
    copies = [(group.act_on_images(element, x) - mean) / std for element in group]
    features, results = pooled_old_features(model, copies, pool_before)
    torch.testing.assert_close(converted.features(x), features, rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(converted(x), results, rtol=1e-9, atol=1e-9)
    for key, value in model.state_dict().items():
        assert torch.equal(value, state[key])  # the given network is left as it was


@pytest.mark.parametrize("name", NETWORKS)
@torch.no_grad()
def test_logits_are_invariant_once_every_filter_is_in_use(name: str) -> None:
    make, _ = NETWORKS[name]
    group, x = ec.Hue(4), images()
    converted = randomized(ec.convert(make(), group, keep_weights=False))
    logits = converted(x)
    assert logits.std(0).max() > 1e-3 * logits.abs().max()  # not invariant by being constant
    for element in group:
        moved = converted(group.act_on_images(element, x))
        assert (moved - logits).norm() <= 1e-4 * logits.norm()


@pytest.mark.parametrize("name", NETWORKS)
def test_matched_width_keeps_the_number_of_parameters(name: str) -> None:
    model = NETWORKS[name][0]()
    before = sum(parameter.numel() for parameter in model.parameters())
    converted = ec.convert(model, "hue3", width="matched", keep_weights=False)
    after = sum(parameter.numel() for parameter in converted.parameters())
    assert abs(after / before - 1) <= 0.05
    assert converted.eval()(images(1)).shape == (1, 10)


@pytest.mark.parametrize("group", ["hue4", "sat3", "hue3-lum3", "hue1", "temp3-tint3", "hema3-eosin2", "hue2+temp3"])
@pytest.mark.parametrize("make", [plain, SqueezeExcite, Shared])
@torch.no_grad()
def test_every_group_pools_the_old_features_of_each_recoloured_copy(make: Callable[[], nn.Module], group: str) -> None:
    model, x = randomized(make().double()), images(3, 16, torch.float64)
    converted = ec.convert(model, group, mean=0.4, std=(0.2, 0.25, 0.3))
    normalised = (converted.group.lift(x) - 0.4) / torch.tensor([0.2, 0.25, 0.3], dtype=x.dtype).view(3, 1, 1)
    features, results = pooled_old_features(model, list(normalised.split(3)), converted.pool_before)
    torch.testing.assert_close(converted.features(x), features, rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(converted(x), results, rtol=1e-9, atol=1e-9)


@torch.no_grad()
def test_pool_at_the_output_takes_the_largest_of_the_old_results() -> None:
    model, x, group = randomized(Segmenter().double()), images(2, 16, torch.float64), ec.Hue(4)
    converted = ec.convert(model, group, pool_before="output")
    each = torch.stack([model(group.act_on_images(element, x))["out"] for element in group])
    torch.testing.assert_close(converted(x)["out"], each.amax(0))
    torch.testing.assert_close(converted.features(x)["out"], each.flatten(0, 1))
    mean = ec.convert(model, group, pool_before="output", reduce="mean")
    torch.testing.assert_close(mean(x)["out"], each.mean(0))


@torch.no_grad()
def test_a_named_pool_leaves_what_follows_it_as_it_is() -> None:
    converted = randomized(ec.convert(Segmenter(), "hue4", pool_before="classify", keep_weights=False))
    body = converted.body
    assert isinstance(body.down, GroupConv2d)
    assert isinstance(body.up, GroupConvTranspose2d)
    assert isinstance(body.classify.pool, GroupPool)
    assert type(body.classify.head) is nn.Conv2d
    x = images(2, 16)
    for element in converted.group:
        moved = converted.group.act_on_images(element, x)
        torch.testing.assert_close(converted(moved)["out"], converted(x)["out"], rtol=1e-4, atol=1e-5)


def test_linear_layers_before_the_pool_mix_the_group_and_after_it_do_not() -> None:
    body = ec.convert(SqueezeExcite(), "hue4").body
    assert isinstance(body.squeeze, GroupLinear)
    assert isinstance(body.excite, GroupLinear)
    assert type(body.fc.head) is nn.Linear


def test_a_linear_layer_converts_like_a_1x1_convolution() -> None:
    linear, conv = GroupLinear("hue4", 5, 7), GroupConv2d("hue4", 5, 7, 1)
    linear.conv.load_state_dict(conv.state_dict())
    x = torch.rand(8, 5, 3, 2)
    torch.testing.assert_close(linear(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2), conv(x))


def test_a_shared_convolution_stays_shared() -> None:
    body = ec.convert(Shared(), "hue4").body
    assert isinstance(body.conv, GroupConv2d)
    assert body.conv is body.again


def test_modes_frozen_parameters_and_precision_are_kept() -> None:
    model = plain().double().train()
    model[3].eval().requires_grad_(False)
    converted = ec.convert(model, "hue3")
    assert [module.training for module in converted.body[:4]] == [True, True, True, False]
    assert converted.training
    assert not converted.body[3].weight.requires_grad
    assert converted.body[0].weight.requires_grad
    assert {parameter.dtype for parameter in converted.parameters()} == {torch.float64}


def test_filters_between_elements_start_at_zero_and_learn() -> None:
    converted = ec.convert(plain(), "hue4").train()
    filters = converted.body[3].weight.view(12, 4, 8, 3, 3)  # a view
    assert filters[:, 0].abs().sum() > 0
    assert filters[:, 1:].abs().sum() == 0
    optimizer = torch.optim.SGD(converted.parameters(), lr=0.1)
    nn.functional.cross_entropy(converted(images(4, 16)), torch.tensor([0, 1, 2, 3])).backward()
    optimizer.step()
    assert (filters[:, 1:].abs().sum((0, 2, 3, 4)) > 0).all()


def test_fresh_weights_are_fresh_throughout() -> None:
    model = plain()
    model[1].running_mean.fill_(3.0)
    converted = ec.convert(model, "hue2", keep_weights=False)
    assert not torch.equal(converted.body[8].head.weight, model[8].weight)
    assert (converted.body[1].running_mean == 0).all()
    assert (model[1].running_mean == 3).all()


def test_matched_widths_are_those_of_the_paper() -> None:
    converted = ec.convert(timm("resnet18"), "hue3", width="matched", keep_weights=False)
    assert [getattr(converted.body, f"layer{i}")[0].conv1.out_channels for i in (1, 2, 3, 4)] == [36, 73, 147, 295]


@pytest.mark.parametrize(
    ("name", "group"),
    [("resnet50", "hue4"), ("vgg16", "hue3"), ("resnet18", "hue4-sat3"), ("convnext_tiny", "hue4")],
)
def test_matched_networks_of_full_size_keep_their_number_of_parameters(name: str, group: str) -> None:
    with torch.device("meta"):  # sizes without values
        model = getattr(torchvision_models(), name)()
    converted = ec.convert(model, group, width="matched", keep_weights=False)
    before, after = (sum(p.numel() for p in each.parameters()) for each in (model, converted))
    assert abs(after / before - 1) <= 0.05


def test_matched_width_respects_norm_groups_and_transposed_convolutions_and_keeps_the_results_channels() -> None:
    model = nn.Sequential(
        nn.Conv2d(3, 30, 3, stride=2), nn.GroupNorm(5, 30), nn.PReLU(30), nn.ConvTranspose2d(30, 20, 2, stride=2),
        nn.InstanceNorm2d(20, affine=True), nn.Conv2d(20, 40, 3, groups=4), nn.Conv2d(40, 7, 1),
    )  # fmt: skip
    converted = ec.convert(model, "hue3", pool_before="output", width="matched", keep_weights=False)
    assert converted.body[1].num_channels % 5 == 0
    assert converted.body[5].groups == 4
    assert converted(images(2, 17)).shape == (2, 7, 14, 14)
    before, after = (sum(p.numel() for p in each.parameters()) for each in (model, converted))
    assert abs(after / before - 1) < 0.1  # multiples of 5 and of 4 come no closer


def test_a_timm_model_brings_its_normalisation() -> None:
    model = timm("mobilenetv3_small_050")
    torch.testing.assert_close(
        ec.convert(model, "hue2").lift.mean.flatten(), torch.tensor(model.pretrained_cfg["mean"])
    )
    assert not ec.convert(model, "hue2", mean=0.0, std=1.0).lift.normalizes


def test_image_size_serves_networks_of_one_size() -> None:
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.Flatten(), nn.Linear(4 * 9 * 18, 2))
    with pytest.raises(ValueError, match=r"every size tried \(64×64 in '2'.*give image_size="):
        ec.convert(model, "hue3")
    converted = ec.convert(model, "hue3", image_size=(11, 20))
    assert converted(torch.rand(2, 3, 11, 20)).shape == (2, 2)


@torch.no_grad()
def test_copies_pickles_state_dicts_and_compilation_work() -> None:
    x = images(2, 16)
    converted = ec.convert(randomized(plain()), "hue4")
    logits = converted(x)
    assert torch.equal(copy.deepcopy(converted)(x), logits)
    assert torch.equal(pickle.loads(pickle.dumps(converted))(x), logits)
    other = ec.convert(plain(), "hue4", keep_weights=False).eval()
    other.load_state_dict(converted.state_dict())
    assert torch.equal(other(x), logits)
    compiled = torch.compile(converted, backend="eager", fullgraph=True)
    torch.testing.assert_close(compiled(x), logits)
    exported = torch.export.export(converted, (x,)).module()
    torch.testing.assert_close(exported(x), logits)


def test_it_says_what_it_is() -> None:
    converted = ec.convert(plain(), "hue4-sat3")
    assert isinstance(converted, Converted)
    assert converted.group == ec.group("hue4-sat3")
    assert f"hue4-sat3, pool_before='8', {sum(p.numel() for p in converted.parameters()):,} parameters" in repr(
        converted
    )


def test_dropout_before_the_pool_has_one_mask_for_all_elements_after_it_it_stays():
    plain = nn.Sequential(
        nn.Conv2d(3, 8, 3), nn.Dropout(0.3), nn.Dropout2d(0.2), nn.Conv2d(8, 8, 3), nn.AdaptiveAvgPool2d(1),
        nn.Flatten(), nn.Linear(8, 16), nn.Dropout(0.5), nn.Linear(16, 4),
    )  # fmt: skip
    body = ec.convert(plain, "hue4", pool_before="6").body
    assert [str(body[place]) for place in (1, 2, 7)] == [
        "GroupDropout(hue4, p=0.3)",
        "GroupDropout(hue4, p=0.2, over='channels')",
        "Dropout(p=0.5, inplace=False)",
    ]


def test_in_training_with_dropout_a_converted_network_is_equivariant():
    plain = nn.Sequential(
        nn.Conv2d(3, 8, 3), nn.Dropout(0.5), nn.Conv2d(8, 8, 3), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 4)
    )
    converted, images = ec.convert(plain, "hue4").train(), torch.rand(2, 3, 16, 16)
    logits = []
    for element in ec.group("hue4"):
        torch.manual_seed(0)
        logits.append(converted(ec.group("hue4").act_on_images(element, images)))
        torch.testing.assert_close(logits[-1], logits[0], atol=1e-5, rtol=1e-4)


def test_strided_pointwise_convolutions_behind_the_pool_are_computed_without_their_stride():
    plain = nn.Sequential(
        nn.Conv2d(3, 4, 3), nn.Conv2d(4, 4, 1, stride=2), nn.Conv2d(4, 8, 1, stride=2), nn.AdaptiveAvgPool2d(1)
    )
    converted = ec.convert(plain, "hue4", pool_before="2")
    strided = [layer for layer in converted.modules() if isinstance(layer, nn.Conv2d)]
    assert [type(layer).__name__ for layer in strided] == ["_StridedPoint2d"]


@torch.no_grad()
def test_a_network_for_other_channels_is_converted_to_a_group_that_takes_them() -> None:
    network = nn.Sequential(
        nn.Conv2d(5, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 4)
    ).eval()
    converted = ec.convert(network, "exp3")
    images = torch.rand(2, 5, 12, 12)
    features = [network[:4](ec.Exposure(3).act_on_images(element, images)) for element in ec.Exposure(3)]
    torch.testing.assert_close(converted(images), network[4](torch.stack(features).amax(0)))
    with pytest.raises(ValueError, match=r"takes 5 channels, not the 3 of RGB images"):
        ec.convert(network, "temp3")
