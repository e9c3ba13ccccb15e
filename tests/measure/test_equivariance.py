"""Measuring equivariance: the paper's number, element by element and layer by layer."""

import pytest
import torch
from torch import nn

import equicolor as ec
from equicolor.nn import GroupConv2d, GroupPool, Lift
from without_float64 import DEVICE, WithoutFloat64


def stack(group, depth=10, dtype=None):
    """Lift → (GroupConv2d → BatchNorm2d → ReLU) × depth, with one max pooling → GroupConv2d → GroupPool."""
    layers = [Lift(group, mean=0.5, std=0.25), GroupConv2d(group, 3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU()]
    layers.append(nn.MaxPool2d(2))
    for _ in range(depth - 2):
        layers += [GroupConv2d(group, 8, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU()]
    network = nn.Sequential(*layers, GroupConv2d(group, 8, 8, 3), GroupPool(group)).to(dtype)
    network(torch.rand(8, 3, 16, 16, dtype=dtype))  # statistics for the norms, so that nothing vanishes in eval mode
    return network


@pytest.mark.parametrize("n", range(2, 13))
def test_ten_layers_are_equivariant_to_hue_to_float_precision(n):
    network, images = stack(ec.Hue(n)), torch.rand(2, 3, 16, 16)
    assert ec.equivariance_error(network, images, ec.Hue(n)).max() < 1e-5
    assert ec.equivariance_error(network[:-1], images, ec.Hue(n)).max() < 1e-5


def test_in_float64_they_are_so_to_its_precision():
    network, images = stack(ec.Hue(5), dtype=torch.float64), torch.rand(2, 3, 16, 16, dtype=torch.float64)
    assert ec.equivariance_error(network, images, "hue5").max() < 1e-13


def test_a_device_without_float64_is_measured_as_exactly():
    network, images = stack("hue3"), torch.rand(2, 3, 16, 16)
    reds = ec.equivariance_error(lambda x: x[:, 0], images, "hue3")
    with WithoutFloat64():
        network, images = network.to(DEVICE), images.to(DEVICE)
        assert all(error.max() < 1e-5 for error in ec.equivariance_error(network, images, "hue3", layers=True).values())
        assert torch.equal(ec.equivariance_error(lambda x: x[:, 0], images, "hue3"), reds)


def test_it_is_the_ratio_of_the_paper():
    group, images = ec.Hue(3), torch.rand(2, 3, 4, 4)

    def function(x):
        return group.lift(x) * torch.arange(1.0, 7.0).view(6, 1, 1, 1)  # treats the elements differently

    for element, error in zip(group, ec.equivariance_error(function, images, group).tolist(), strict=True):
        moved = function(group.act_on_images(element, images)).double()
        still = group.act_on_features(element, function(images)).double()
        assert error == pytest.approx(((moved - still).norm() / (moved + still).norm()).item())
    assert error > 0.1


def test_results_without_the_group_are_measured_for_invariance():
    images = torch.rand(2, 3, 4, 4)
    assert ec.equivariance_error(lambda x: x.amax((1, 2, 3)), images, "hue4").max() == 0
    assert ec.equivariance_error(lambda x: x[:, 0], images, "hue4")[1] > 0.1


def test_features_can_be_moved_instead_of_images():
    layer, features = GroupConv2d("hue4", 3, 5, 3), torch.randn(8, 3, 6, 6)
    assert ec.equivariance_error(layer, features, "hue4", acts_on="features").max() < 1e-6


def test_every_layer_can_be_measured_on_the_way():
    network = stack("hue3", depth=3)
    errors = ec.equivariance_error(network, torch.rand(2, 3, 16, 16), "hue3", layers=True)
    assert list(errors) == [*(name for name, _ in network.named_children()), "output"]
    assert all(error.shape == (3,) and error.max() < 1e-5 for error in errors.values())


def test_a_layer_called_twice_is_measured_twice():
    class Twice(nn.Module):
        def __init__(self):
            super().__init__()
            self.lift, self.act = Lift("hue3"), nn.ReLU(inplace=True)

        def forward(self, x):
            return self.act(-self.act(self.lift(x)))

    assert list(ec.equivariance_error(Twice(), torch.rand(1, 3, 4, 4), "hue3", layers=True)) == [
        "lift", "act", "act#2", "output",
    ]  # fmt: skip


def test_layers_before_the_lift_are_not_measured():
    network = nn.Sequential(nn.Identity(), Lift("hue3"), GroupPool("hue3"))
    assert list(ec.equivariance_error(network, torch.rand(1, 3, 4, 4), "hue3", layers=True)) == ["1", "2", "output"]


@pytest.mark.parametrize("name", ["sat3", "lum5", "hue2-sat3"])
def test_truncated_groups_are_compared_on_the_overlap_or_as_the_paper_writes_it(name):
    images = torch.rand(2, 3, 4, 4)
    group = ec.group(name)
    overlap = ec.equivariance_error(Lift(group), images, group)
    zero = ec.equivariance_error(Lift(group), images, group, fill="zero")
    assert overlap.max() < 1e-6
    for element, error in zip(group, zero, strict=True):
        assert (error > 0.1) == (not group.overlap(element).all())


def test_a_network_on_a_truncated_group_is_only_approximately_equivariant():
    """What the truncated convolution cannot know: the error is far from rounding, and said so in the documentation."""
    errors = ec.equivariance_error(stack("sat3")[:-1], torch.rand(2, 3, 16, 16), "sat3")
    assert errors[1] == 0
    assert errors[0] > 1e-3


def test_a_measurement_leaves_the_module_as_it_was():
    network = stack("hue3", depth=3).train()
    network[2].eval()
    before = {name: value.clone() for name, value in network.state_dict().items()}
    ec.equivariance_error(network, torch.rand(2, 3, 16, 16), "hue3", layers=True)
    assert network.training
    assert network[1].training
    assert not network[2].training
    assert all(torch.equal(value, before[name]) for name, value in network.state_dict().items())
    assert all(not layer._forward_hooks for layer in network)


def test_single_elements_can_be_measured():
    layer, images = GroupConv2d("hue4", 3, 5, 3), torch.randn(8, 3, 6, 6)
    every = ec.equivariance_error(layer, images, "hue4", acts_on="features")
    some = ec.equivariance_error(layer, images, "hue4", acts_on="features", elements=[3, 1])
    assert torch.equal(some, every[[3, 1]])


def test_bad_input_is_refused():
    images = torch.rand(2, 3, 4, 4)
    with pytest.raises(TypeError, match=r"expected a torch\.Tensor of images or features, got ndarray"):
        ec.equivariance_error(Lift("hue4"), images.numpy(), "hue4")
    with pytest.raises(TypeError, match="returns one tensor, got tuple"):
        ec.equivariance_error(lambda x: (x, x), images, "hue4")
    with pytest.raises(ValueError, match=r"\(G·B, …\) = \(8, …\) or \(B, …\) = \(2, …\), got shape \(1,"):
        ec.equivariance_error(lambda x: x[:1], images, "hue4")
    with pytest.raises(ValueError, match="unknown fill 'wrap'"):
        ec.equivariance_error(Lift("hue4"), images, "hue4", fill="wrap")
    with pytest.raises(ValueError, match="unknown acts_on 'pixels'"):
        ec.equivariance_error(Lift("hue4"), images, "hue4", acts_on="pixels")
    with pytest.raises(TypeError, match="layers to measure, got function"):
        ec.equivariance_error(lambda x: x, images, "hue4", layers=True)
    with pytest.raises(ValueError, match="at least one image"):
        ec.equivariance_error(Lift("hue4"), images[:0], "hue4")


def test_on_the_window_that_valid_layers_leave_the_error_is_that_of_the_overlap():
    first, second = (
        ec.nn.GroupConv2d("sat7", 3, 4, 3, window="valid"),
        ec.nn.GroupConv2d("sat5", 4, 4, 3, window="valid"),
    )
    network = torch.nn.Sequential(ec.nn.Lift("sat7"), first, second)
    errors = ec.equivariance_error(network, torch.rand(2, 3, 8, 8), "sat7", layers=True)
    assert set(errors) == {"0", "1", "2", "output"}
    assert max(errors["1"]) < 1e-5
    known = [abs(element) < 3 for element in ec.group("sat7")]  # further than that, nothing of three is left
    assert (~errors["output"].isnan()).tolist() == known
    assert errors["output"].nanmean() < 1e-5
    second.out_group = ec.group("hue3")  # nobody says that it lives on sat3
    with pytest.raises(ValueError, match=r"expected a result .* got shape \(6, 4, 4, 4\)"):
        ec.equivariance_error(network, torch.rand(2, 3, 8, 8), "sat7")
