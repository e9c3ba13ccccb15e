"""assert_equivariant: passes what is equivariant, and says loudly what is not."""

import pytest
import torch
from torch import nn

import equicolor as ec
from equicolor.baselines import CEConvLift
from equicolor.nn import GroupConv2d, GroupPool, Lift
from equicolor.testing import assert_equivariant


class Mixing(nn.Module):
    """A plain convolution over the elements of the group side by side: it mixes them without regard to the group."""

    def __init__(self, order, channels):
        super().__init__()
        self.order = order
        self.conv = nn.Conv2d(order * channels, order * channels, 3, padding=1)

    def forward(self, x):
        side_by_side = x.unflatten(0, (self.order, -1)).movedim(0, 1).flatten(1, 2)
        return self.conv(side_by_side).unflatten(1, (self.order, -1)).movedim(1, 0).flatten(0, 1)


class Head(nn.Module):
    """A body on the group, then layers that no longer know it."""

    def __init__(self, group):
        super().__init__()
        self.body = nn.Sequential(Lift(group), GroupConv2d(group, 3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(inplace=True))
        self.pool, self.head = GroupPool(group), nn.Linear(8, 2)

    def forward(self, x):
        return self.head(self.pool(self.body(x).mean((2, 3))))


@pytest.mark.parametrize(
    "name",
    [
        *("hue4", "sat3", "lum2", "hue3-sat3", "sat3(action=clamp)", "lum3(action=clamp)"),
        *("temp3-tint3", "exp5", "temp3(action=clamp)", "hema3-eosin2"),
    ],
)
def test_what_is_equivariant_passes(name):
    assert_equivariant(Head(name), name)
    assert_equivariant(Head(name).double(), name)
    assert_equivariant(nn.Sequential(GroupConv2d(name, 5, 8, 3), nn.ReLU(), GroupPool(name)), name)
    assert_equivariant(nn.BatchNorm2d(6), name)
    assert_equivariant(torch.relu, name)


def test_a_plain_convolution_that_mixes_elements_fails_loudly_and_is_named():
    network = nn.Sequential(Lift("hue4"), GroupConv2d("hue4", 3, 8, 3), Mixing(4, 8), nn.ReLU(), GroupPool("hue4"))
    with pytest.raises(AssertionError) as failure:
        assert_equivariant(network, "hue4")
    message = str(failure.value)
    assert "Sequential is not equivariant to hue4: element" in message
    assert "(hue +" in message
    assert "above the tolerance of 1e-05" in message
    assert "first shows after layer '2.conv' (Conv2d)" in message


def test_it_fails_on_truncated_groups_too():
    network = nn.Sequential(Lift("sat3"), GroupConv2d("sat3", 3, 8, 3), Mixing(3, 8), GroupPool("sat3"), nn.Flatten())
    with pytest.raises(AssertionError, match=r"layer '2' \(Mixing\) is not equivariant to sat3: element .*saturation"):
        assert_equivariant(network, "sat3")
    with pytest.raises(AssertionError, match="Mixing is not equivariant"):
        assert_equivariant(Mixing(3, 4), "sat3", torch.randn(6, 4, 5, 5))


def test_a_function_that_treats_elements_differently_fails():
    def first_only(features):
        return torch.cat([features[:2], torch.zeros_like(features[2:])])

    for name in ("hue3", "lum3"):
        with pytest.raises(AssertionError, match="first_only is not equivariant"):
            assert_equivariant(first_only, name)


def test_a_function_of_images_without_a_lift_is_judged_as_a_whole():
    network = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1))
    for module in (network, lambda images: images.mean((1, 2, 3))):
        for name in ("hue4", "sat3", "lum3"):
            if not (name == "hue4" and module is not network):  # a hue shift may keep the mean
                with pytest.raises(AssertionError, match="is not equivariant"):
                    assert_equivariant(module, name, acts_on="images")
    assert_equivariant(ec.group("sat3").lift, "sat3", acts_on="images")

    class Copies(nn.Module):
        """Takes copies of an image for its lift."""

        def __init__(self):
            super().__init__()
            self.conv, self.pool = GroupConv2d("sat3", 3, 8, 3), GroupPool("sat3")

        def forward(self, images):
            return self.pool(self.conv(torch.cat([images] * 3)))

    with pytest.raises(AssertionError, match="Copies is not equivariant"):
        assert_equivariant(Copies(), "sat3", acts_on="images")


def test_ceconv_is_equivariant_with_three_rotations_and_not_with_four():
    assert_equivariant(CEConvLift(3, 8, 3), "hue3")
    with pytest.raises(AssertionError, match="CEConvLift is not equivariant to hue4"):
        assert_equivariant(CEConvLift(4, 8, 3), "hue4")


def test_own_inputs_and_tolerance_can_be_given():
    layer = CEConvLift(4, 8, 3)
    assert_equivariant(layer, "hue4", torch.full((1, 3, 8, 8), 0.5))  # greys have no hue to shift
    assert_equivariant(layer, "hue4", tolerance=0.5)
    assert_equivariant(lambda images: ec.Hue(3).lift(images) ** 2, "hue3", acts_on="images")


def test_nan_is_no_equivariance():
    with pytest.raises(AssertionError, match="nan"):
        assert_equivariant(lambda features: features * float("nan"), "hue3")


def test_the_identity_alone_shows_nothing():
    with pytest.raises(ValueError, match="hue1 has no element but the identity"):
        assert_equivariant(torch.relu, "hue1")


class Weighted(nn.Module):
    """Weighs the elements of the group by their places, between two layers: no layer of it is at fault."""

    def __init__(self, group, weights):
        super().__init__()
        self.first, self.last = GroupConv2d(group, 3, 8, 3), nn.ReLU()
        self.weights = weights

    def forward(self, features):
        features = self.first(features)
        return self.last(features * self.weights.repeat_interleave(len(features) // 3).view(-1, 1, 1, 1))


@pytest.mark.parametrize("name", ["sat3", "temp3", "hema3", "hue3"])
def test_what_is_done_between_layers_is_judged_under_every_element(name):
    assert_equivariant(Weighted(name, torch.full((3,), 2.0)), name)
    with pytest.raises(AssertionError, match=r"'last' \(ReLU\)"):
        assert_equivariant(Weighted(name, torch.tensor([1.0, 2.0, 3.0])), name)


def test_between_layers_pooling_and_residuals_pass():
    class Residual(nn.Module):
        def __init__(self):
            super().__init__()
            self.lift, self.conv = Lift("temp3"), GroupConv2d("temp3", 3, 3, 3, padding=1)
            self.act, self.head = nn.ReLU(inplace=True), nn.Linear(3, 2)

        def forward(self, images):
            features = self.lift(images * 1.0)
            for _ in range(2):  # the same layers twice
                features = self.act(self.conv(features) + features)
            return self.head(ec.group("temp3").split(features.mean((2, 3))).amax(0))

    assert_equivariant(Residual(), "temp3")


def test_what_is_done_before_the_lift_is_judged_too():
    class Darkened(nn.Module):
        def __init__(self):
            super().__init__()
            self.lift, self.act = Lift("sat3"), nn.ReLU()

        def forward(self, images):
            return self.act(self.lift(images * torch.tensor([1.0, 0.5, 0.5]).view(3, 1, 1)))

    with pytest.raises(AssertionError, match=r"what comes to layer 'lift' \(Lift\) is not equivariant"):
        assert_equivariant(Darkened(), "sat3")


def test_a_group_whose_moves_are_no_action_does_not_pass():
    """A hue that forgets to turn back: once taken for a window, and only its identity tried."""

    class Stuck(ec.Factor):
        prefix, quantity, period = "stuck", "nothing", 4.0

        def move(self, images, amount):
            return images * 0.5

    network = nn.Sequential(Lift(Stuck(4)), GroupConv2d(Stuck(4), 3, 8, 3), GroupPool(Stuck(4)))
    with pytest.raises(AssertionError, match="is not equivariant to stuck4"):
        assert_equivariant(network, Stuck(4))


def test_images_have_as_many_channels_as_the_lift_takes():
    network = nn.Sequential(Lift("exp3", in_channels=5), GroupConv2d("exp3", 5, 8, 3), GroupPool("exp3"))
    assert_equivariant(network, "exp3")


# ---------------------------------------------------------------------------------------------- windows that shrink


class Cropped(nn.Module):
    """Leaves the inner elements of sat5, each times its own number: equivariant where the numbers are the same."""

    def __init__(self, *scales):
        super().__init__()
        self.out_group = ec.group("sat3")
        self.register_buffer("scales", torch.tensor(scales).view(3, 1, 1, 1, 1))

    def forward(self, x):
        return (x.unflatten(0, (5, -1))[1:4] * self.scales).flatten(0, 1)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_valid_convolutions_are_judged_on_the_overlap(dtype):
    for name in ("sat5", "hue2-sat4", "temp5-tint4"):
        assert_equivariant(GroupConv2d(name, 3, 8, 3, window="valid", dtype=dtype), name)
    for name in ("sat7", "temp5-tint5", "hue2-lum6"):
        assert_equivariant(ec.create_model("z2cnn", name, window="valid").to(dtype), name)
    assert_equivariant(Cropped(2.0, 2.0, 2.0), "sat5")


def test_a_broken_valid_layer_fails():
    broken = GroupConv2d("sat5", 4, 4, 3, window="valid")
    broken.register_forward_hook(lambda layer, given, result: result.roll(2, dims=0))  # by one element, of two images
    assert_equivariant(GroupConv2d("sat5", 4, 4, 3, window="valid"), "sat5")
    with pytest.raises(AssertionError, match="GroupConv2d is not equivariant to sat5: element"):
        assert_equivariant(broken, "sat5")
    with pytest.raises(AssertionError, match="Cropped is not equivariant to sat5: element"):
        assert_equivariant(Cropped(1.0, 1.0, 1.1), "sat5")


def test_a_layer_on_what_a_valid_one_leaves_is_judged_too():
    def network(between):
        first, second = (GroupConv2d(name, *c, 3, window="valid") for name, c in (("sat7", (3, 4)), ("sat5", (4, 4))))
        return nn.Sequential(Lift("sat7"), first, between, second, nn.ReLU(), GroupPool("sat3"), nn.Flatten())

    assert_equivariant(network(nn.BatchNorm2d(4)), "sat7")
    with pytest.raises(AssertionError, match=r"layer '2' \(Mixing\) is not equivariant to sat7: element"):
        assert_equivariant(network(Mixing(5, 4)), "sat7")

    class Between(nn.Sequential):
        def forward(self, x):
            lift, first, _, second, *others = self
            features = second(first(lift(x)) * torch.arange(10).view(10, 1, 1, 1))
            for layer in others:
                features = layer(features)
            return features

    with pytest.raises(AssertionError, match=r"what comes to layer '3' \(GroupConv2d\) is not equivariant to sat7"):
        assert_equivariant(Between(*network(nn.Identity())), "sat7")


def test_where_a_valid_layer_leaves_too_little_to_compare_nothing_passes():
    with pytest.raises(ValueError, match="leaves sat1: too small a window to tell"):
        assert_equivariant(GroupConv2d("sat3", 4, 4, 3, window="valid"), "sat3")
    with pytest.raises(ValueError, match=r"leaves hue3-sat1: .* to moves of saturation\. Try .* 5 elements"):
        assert_equivariant(GroupConv2d("hue3-sat3", 4, 4, 3, window="valid"), "hue3-sat3")
