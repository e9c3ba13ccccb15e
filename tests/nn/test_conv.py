"""Group convolution: equivariant, the same by every algorithm, and as convenient as Conv2d."""

import copy
import math
import pickle

import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from torch import nn

import equicolor as ec
from equicolor.nn import GroupConv2d, GroupConvTranspose2d, Lift
from zoo import relative

#: Relative disagreement that rounding explains.
CLOSE = {torch.float32: 1e-5, torch.float64: 1e-12}
NAMES = ["hue1", "hue2", "hue3", "hue4", "hue7", "hue12", "sat2", "sat3", "lum5", "hue4-sat3", "sat3-hue2-lum2"]
LAYERS = [GroupConv2d, GroupConvTranspose2d]


def pair(layer, *args, **kwargs):
    """The same layer by both algorithms."""
    fast, direct = (layer(*args, algorithm=name, **kwargs) for name in ("fast", "direct"))
    direct.load_state_dict(fast.state_dict())
    return fast, direct


def by_definition(layer, features):
    """y_g = Σ_h x_h ∗ w_{h-g}, element by element, with ordinary convolutions."""
    group = layer.group
    x = features.unflatten(0, (group.order, -1))
    w = layer.weight.unflatten(1, (group.order, -1))
    results = []
    for g in group:
        total = 0
        for h in group:
            difference = group.compose(h, group.inverse(g))
            if difference in group:
                total = total + nn.functional.conv2d(x[group.index(h)], w[:, group.index(difference)], padding=1)
        results.append(total if layer.bias is None else total + layer.bias.view(-1, 1, 1))
    return torch.cat(results)


# ---------------------------------------------------------------------------------------------- the mathematics


@pytest.mark.parametrize("algorithm", ["fast", "direct"])
@pytest.mark.parametrize("name", NAMES)
def test_it_is_the_group_convolution_of_the_paper(name, algorithm, dtype):
    layer = GroupConv2d(name, 3, 4, 3, padding=1, algorithm=algorithm, dtype=dtype)
    features = torch.randn(layer.group.order * 2, 3, 5, 6, dtype=dtype)
    assert relative(layer(features), by_definition(layer, features)) < CLOSE[dtype]


@pytest.mark.parametrize("layer", LAYERS)
@given(st.data())
def test_fast_and_direct_agree_forward_and_backward(layer, data):
    draw = data.draw
    size = st.integers(1, 3)
    groups = draw(st.sampled_from([1, 1, 2, 4]))
    options = {
        "kernel_size": (draw(size), draw(size)),
        "stride": draw(st.integers(1, 2)),
        "padding": draw(st.integers(0, 2)),
        "dilation": draw(st.integers(1, 2)),
        "groups": groups,
        "bias": draw(st.booleans()),
        "window": draw(st.sampled_from(["zero", "rescale", "replicate", "valid"])),
    }
    if layer is GroupConv2d:
        options["padding_mode"] = draw(st.sampled_from(["zeros", "reflect", "replicate", "circular"]))
        if options["stride"] == 1 and draw(st.booleans()):
            options["padding"] = "same"
    dtype = draw(st.sampled_from([torch.float32, torch.float64]))
    layout = draw(st.sampled_from([torch.contiguous_format, torch.channels_last]))
    group = ec.group(draw(st.sampled_from(NAMES)))
    fast, direct = pair(layer, group, 4, 8, dtype=dtype, **options)
    rows = torch.randn(group.order * draw(st.integers(1, 2)), 4, 7, 6, dtype=dtype).contiguous(memory_format=layout)

    x, y = rows.clone().requires_grad_(), rows.clone().requires_grad_()
    ours, theirs = fast(x), direct(y)
    assume(theirs.numel() > 0)
    assert ours.shape == theirs.shape
    assert relative(ours, theirs) < CLOSE[dtype]
    weights = torch.randn_like(ours)
    (ours * weights).sum().backward()
    (theirs * weights).sum().backward()
    assert relative(x.grad, y.grad) < CLOSE[dtype]
    for a, b in zip(fast.parameters(), direct.parameters(), strict=True):
        assert relative(a.grad, b.grad) < CLOSE[dtype]


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("name", ["hue2", "hue3", "hue4", "hue12"])
def test_it_is_equivariant_to_hue(layer, name, dtype):
    ec.testing.assert_equivariant(layer(name, 4, 6, 3, stride=2, padding=1, groups=2, dtype=dtype), name)


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("name", ["sat3", "lum5", "hue3-sat3"])
def test_it_is_equivariant_to_truncated_groups_where_the_edge_cannot_be_seen(layer, name, dtype):
    ec.testing.assert_equivariant(layer(name, 4, 6, 3, dtype=dtype), name)


@pytest.mark.parametrize("layer", LAYERS)
def test_a_valid_convolution_leaves_out_the_ends_of_windows_and_nothing_else(layer):
    made = layer("hue2-sat5", 4, 6, 3, window="valid")
    assert str(made.out_group) == "hue2-sat3"
    assert made.weight.shape[1] == (2 * 3 * 4 if layer is GroupConv2d else 2 * 3 * 6)
    assert made(torch.randn(2 * 10, 4, 5, 5)).shape[:2] == (2 * 6, 6)
    assert str(layer("sat2", 4, 6, 3, window="valid").out_group) == "sat2"  # where three taps do not fit, one does


@pytest.mark.parametrize("name", ["sat9", "temp9", "hue3-sat9", "temp9-tint9"])
def test_several_valid_convolutions_together_are_equivariant_on_the_overlap(name, dtype):
    layers, group = [Lift(name, dtype=dtype)], ec.group(name)
    for channels in (3, 4, 4):
        layers.append(GroupConv2d(group, channels, 4, 3, window="valid", dtype=dtype))
        group = layers[-1].out_group
        layers += [nn.BatchNorm2d(4, dtype=dtype), nn.ReLU()]
    assert group.order == ec.group(name.replace("9", "3")).order
    errors = ec.equivariance_error(nn.Sequential(*layers), torch.rand(2, 3, 8, 8, dtype=dtype), group)
    assert len(errors) == group.order
    assert errors.max() < 10 * CLOSE[dtype]


@pytest.mark.parametrize("window", ["zero", "rescale", "replicate"])
def test_several_convolutions_that_make_up_what_is_outside_are_not(window):
    layers = [Lift("sat5"), *(GroupConv2d("sat5", 3, 3, 3, window=window) for _ in range(3))]
    errors = ec.equivariance_error(nn.Sequential(*layers), torch.rand(2, 3, 8, 8), "sat5")
    assert errors[ec.group("sat5").index(1)] > 1e-3


def test_replicated_edges_are_those_of_a_padded_window():
    layer = GroupConv2d("sat3", 2, 4, 1, window="replicate")
    wide = GroupConv2d("sat5", 2, 4, 1, window="valid")
    wide.load_state_dict(layer.state_dict())
    x = torch.randn(3, 2, 4, 4)
    torch.testing.assert_close(layer(x), wide(x[[0, 0, 1, 2, 2]]))


def test_of_a_constant_feature_replicating_and_only_replicating_keeps_all_elements_alike():
    constant = torch.rand(1, 2, 4, 4).repeat(3, 1, 1, 1)
    spread = {
        window: GroupConv2d("sat3", 2, 4, 3, window=window)(constant).std(0).max().item()
        for window in ("zero", "rescale", "replicate")
    }
    assert spread["replicate"] < 1e-6 < min(spread["zero"], spread["rescale"])


def test_an_unknown_window_is_refused():
    with pytest.raises(
        ValueError, match="unknown window 'wrap': expected one of 'zero', 'rescale', 'replicate', 'valid'"
    ):
        GroupConv2d("sat3", 2, 4, 3, window="wrap")
    with pytest.raises(ValueError, match="rescale=True says window='rescale', got window='valid' beside it"):
        GroupConv2d("sat3", 2, 4, 3, rescale=True, window="valid")


def test_of_order_one_it_is_an_ordinary_convolution():
    for ours, theirs in ((GroupConv2d, nn.Conv2d), (GroupConvTranspose2d, nn.ConvTranspose2d)):
        plain, layer = (
            theirs(4, 6, 3, stride=2, padding=1, groups=2),
            ours("hue1", 4, 6, 3, stride=2, padding=1, groups=2),
        )
        layer.load_state_dict(plain.state_dict())
        features = torch.randn(2, 4, 8, 9)
        torch.testing.assert_close(layer(features), plain(features))


@pytest.mark.parametrize("mode", ["zeros", "reflect", "replicate", "circular"])
@pytest.mark.parametrize("padding", ["same", "valid", 1, (2, 1)])
def test_padding_is_that_of_conv2d(mode, padding):
    plain = nn.Conv2d(3, 5, (3, 2), padding=padding, padding_mode=mode, dilation=(1, 2))
    layer = GroupConv2d("hue1", 3, 5, (3, 2), padding=padding, padding_mode=mode, dilation=(1, 2))
    layer.load_state_dict(plain.state_dict())
    features = torch.randn(2, 3, 6, 7)
    torch.testing.assert_close(layer(features), plain(features))


def test_output_size_chooses_among_the_sizes_that_stride_away_to_the_same():
    layer, plain = GroupConvTranspose2d("hue1", 2, 3, 3, stride=2), nn.ConvTranspose2d(2, 3, 3, stride=2)
    layer.load_state_dict(plain.state_dict())
    features = torch.randn(2, 2, 4, 5)
    for size in ((9, 11), (10, 12), (10, 11)):
        torch.testing.assert_close(layer(features, output_size=size), plain(features, output_size=size))
    with pytest.raises(ValueError, match=r"between \[9, 11\] and \[10, 12\].*got \[12, 12\]"):
        layer(features, output_size=(12, 12))


def test_rescaling_makes_up_for_the_missing_neighbours_before_the_bias():
    plain = GroupConv2d("sat3", 2, 2, 1)
    scaled = GroupConv2d("sat3", 2, 2, 1, rescale=True)
    scaled.load_state_dict(plain.state_dict())
    features = torch.randn(3, 2, 4, 4)
    bias = plain.bias.view(-1, 1, 1)
    expected = (plain(features) - bias) * torch.tensor([1.5, 1, 1.5]).view(3, 1, 1, 1) + bias
    torch.testing.assert_close(scaled(features), expected)


# ---------------------------------------------------------------------------------------------- parameters


def test_the_parameters_do_not_depend_on_the_algorithm():
    shapes = {
        tuple(
            (name, tuple(value.shape))
            for name, value in GroupConv2d("hue4", 6, 8, 3, groups=2, algorithm=a).state_dict().items()
        )
        for a in ("fast", "direct", "auto")
    }
    assert shapes == {(("weight", (8, 12, 3, 3)), ("bias", (8,)))}
    assert GroupConvTranspose2d("hue4", 6, 8, 3, groups=2).weight.shape == (6, 16, 3, 3)


def test_initialisation_counts_the_group_in_the_fan_in():
    layer, plain = GroupConv2d("hue4", 64, 64, 3), nn.Conv2d(256, 64, 3)
    bound = 1 / math.sqrt(4 * 64 * 9)
    for module in (layer, plain):
        assert module.weight.abs().max() <= bound
        assert module.weight.std().item() == pytest.approx(bound / math.sqrt(3), rel=0.02)
    assert layer.bias.abs().max() <= bound


def test_weights_are_four_dimensional_and_take_channels_last():
    layer = GroupConv2d("hue4", 8, 8, 3).to(memory_format=torch.channels_last)
    assert layer.weight.is_contiguous(memory_format=torch.channels_last)


def test_device_and_dtype_are_those_asked_for():
    layer = GroupConv2d("hue4", 3, 4, 3, device="meta", dtype=torch.float64)
    assert layer.weight.device.type == "meta"
    assert layer.weight.dtype == torch.float64


# ---------------------------------------------------------------------------------------------- living with PyTorch


@pytest.mark.parametrize("algorithm", ["fast", "direct"])
@pytest.mark.parametrize("layer", LAYERS)
def test_channels_last_stays_channels_last(layer, algorithm):
    for groups in (1, 2):
        module = layer("hue3", 4, 6, 3, groups=groups, algorithm=algorithm).to(memory_format=torch.channels_last)
        features = torch.randn(6, 4, 8, 9)
        result = module(features.contiguous(memory_format=torch.channels_last))
        assert result.is_contiguous(memory_format=torch.channels_last)
        torch.testing.assert_close(result, module(features))


@pytest.mark.parametrize("algorithm", ["fast", "direct"])
def test_it_survives_pickling_deepcopy_meta_and_empty_batches(algorithm):
    layer = GroupConv2d("hue4-sat3", 2, 4, 3, algorithm=algorithm)
    features = torch.randn(24, 2, 6, 5)
    expected = layer(features)
    assert torch.equal(pickle.loads(pickle.dumps(layer))(features), expected)
    assert torch.equal(copy.deepcopy(layer)(features), expected)
    assert layer(features[:0]).shape == (0, 4, 4, 3)
    assert copy.deepcopy(layer).to("meta")(features.to("meta")).shape == expected.shape


@pytest.mark.parametrize("algorithm", ["fast", "direct"])
def test_autocast_computes_in_bfloat16_and_stays_close(algorithm):
    layer = GroupConv2d("hue4", 8, 8, 3, padding=1, algorithm=algorithm)
    features = torch.randn(8, 8, 8, 8)
    with torch.autocast("cpu", torch.bfloat16):
        result = layer(features)
    assert result.dtype == torch.bfloat16
    assert relative(result.float(), layer(features)) < 0.02
    result.float().sum().backward()
    assert layer.weight.grad.dtype == torch.float32


def test_second_derivatives_exist():
    layer = GroupConv2d("hue3", 1, 1, 2, algorithm="fast", dtype=torch.float64)
    features = torch.randn(3, 1, 3, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradgradcheck(layer, features)


def test_it_works_under_functional_transforms():
    layer = GroupConv2d("hue3", 2, 2, 1, algorithm="fast", bias=False)
    features = torch.randn(5, 3, 2, 4, 4)
    expected = torch.stack([layer(sample) for sample in features])
    torch.testing.assert_close(torch.func.vmap(layer)(features), expected)


# ---------------------------------------------------------------------------------------------- words


def test_the_repr_reads_like_conv2ds():
    layer = GroupConv2d("hue4", 8, 16, 3, stride=2, padding=1, groups=2, bias=False, algorithm="fast")
    assert repr(layer) == (
        "GroupConv2d(hue4, 8, 16, kernel_size=(3, 3), stride=(2, 2), padding=(1, 1), groups=2, bias=False, "
        "algorithm=fast)"
    )
    assert repr(GroupConv2d("sat3", 8, 16, 1)) == "GroupConv2d(sat3, 8, 16, kernel_size=(1, 1), stride=(1, 1))"


@pytest.mark.parametrize("layer", LAYERS)
def test_bad_arguments_are_refused(layer):
    with pytest.raises(ValueError, match="multiples of groups, got 3, 4, 2"):
        layer("hue4", 3, 4, 3, groups=2)
    with pytest.raises(ValueError, match=r"unknown algorithm 'quick'.*'auto', 'direct' or 'fast'"):
        layer("hue4", 3, 4, 3, algorithm="quick")
    with pytest.raises(ValueError, match="unknown group 'hue'"):
        layer("hue", 3, 4, 3)
    with pytest.raises(ValueError, match="in_channels must be positive, got 0"):
        layer("hue4", 0, 4, 3)
    with pytest.raises(ValueError, match=r"kernel_size must be a whole number of at least 1.*got 0"):
        layer("hue4", 3, 4, 0)
    with pytest.raises(ValueError, match="padding_mode"):
        layer("hue4", 3, 4, 3, padding_mode="wrap")


def test_bad_padding_is_refused():
    with pytest.raises(ValueError, match="'same' goes with stride 1"):
        GroupConv2d("hue4", 3, 4, 3, stride=2, padding="same")
    with pytest.raises(ValueError, match="unknown padding 'full'"):
        GroupConv2d("hue4", 3, 4, 3, padding="full")


@pytest.mark.parametrize("algorithm", ["fast", "direct"])
@pytest.mark.parametrize("layer", LAYERS)
def test_bad_features_are_refused(layer, algorithm):
    module = layer("hue4", 3, 4, 3, algorithm=algorithm)
    with pytest.raises(ValueError, match=r"\(G·B, …\) with G = 4.*\(6, 3, 8, 8\).*multiple of 4"):
        module(torch.rand(6, 3, 8, 8))
    with pytest.raises(ValueError, match=r"expected a feature \(G·B, 3, H, W\) on hue4, got shape \(8, 5, 8, 8\)"):
        module(torch.rand(8, 5, 8, 8))
    with pytest.raises(ValueError, match=r"got shape \(3, 8, 8\)"):
        module(torch.rand(3, 8, 8))


# ---------------------------------------------------------------------------------------------- auto


def test_auto_is_direct_for_a_handful_of_channels_and_fast_for_many():
    for name in ("hue3", "hue4", "hue12", "sat3", "hue4-sat3"):
        assert GroupConv2d(name, 2, 2, 1).chosen_algorithm == "direct"
        assert GroupConv2d(name, 128, 128, 3).chosen_algorithm == "fast"


def test_auto_computes_by_the_way_it_chooses_and_for_small_features_calls_fewer_convolutions(monkeypatch):
    layer = GroupConv2d("hue4", 24, 24, 3, padding=1)
    calls = []
    convolve = nn.functional.conv2d
    monkeypatch.setattr(nn.functional, "conv2d", lambda *args: calls.append(1) or convolve(*args))
    for size, expected in ((4, 1), (32, 5)):
        calls.clear()
        layer(torch.rand(64, 24, size, size))
        assert len(calls) == expected
