"""Strided 1×1 convolutions are computed without their strides, and so without the kernels that get them wrong."""

import copy
import pickle

import pytest
import torch
from torch import nn

from equicolor._tools.strided import spread, thin, without_strided_points
from equicolor.baselines import CEConvLift
from equicolor.nn import GroupConv2d, GroupConvTranspose2d

LAYOUTS = [torch.contiguous_format, torch.channels_last]


def _errors(layer: nn.Module, features: torch.Tensor, layout: torch.memory_format) -> list[float]:
    """Of result and gradients in float32, relative to float64."""
    found = []
    for dtype in (torch.float32, torch.float64):
        module = copy.deepcopy(layer).to(dtype=dtype, memory_format=layout)
        inputs = features.to(dtype).contiguous(memory_format=layout).requires_grad_()
        result = module(inputs)
        weights = [parameter for parameter in module.parameters() if parameter.requires_grad]
        cotangent = torch.linspace(1, 2, result.numel(), dtype=torch.float64).to(dtype).view(result.shape)
        found.append([result, *torch.autograd.grad(result, [inputs, *weights], cotangent)])
    return [float((ours.double() - exact).norm() / exact.norm()) for ours, exact in zip(*found, strict=True)]


@pytest.mark.timeout(120)  # the kernel in question may also hang
@pytest.mark.parametrize("layout", LAYOUTS, ids=["contiguous", "channels_last"])
@pytest.mark.parametrize("channels", [2, 3, 5, 7, 8, 20])
@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda c: without_strided_points(nn.Conv2d(c, 16, 1, stride=2)), id="Conv2d"),
        pytest.param(
            lambda c: without_strided_points(nn.ConvTranspose2d(c, 5, 1, stride=2, output_padding=1)),
            id="ConvTranspose2d",
        ),
        pytest.param(lambda c: GroupConv2d("hue3", c, 5, 1, stride=2), id="GroupConv2d"),
        pytest.param(
            lambda c: GroupConvTranspose2d("hue3", c, 5, 1, stride=2, output_padding=1), id="GroupConvTranspose2d"
        ),
    ],
)
def test_gradients_are_those_of_float64(make, channels, layout):
    torch.manual_seed(0)
    assert max(_errors(make(channels), torch.randn(6, channels, 16, 16), layout)) < 1e-5


@pytest.mark.parametrize("layout", LAYOUTS, ids=["contiguous", "channels_last"])
def test_gradients_of_ceconvs_lift_are_those_of_float64(layout):
    assert max(_errors(CEConvLift(3, 16, 1, stride=2), torch.rand(4, 3, 16, 16), layout)) < 1e-5


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("stride", [2, (1, 3)])
def test_a_convolution_without_its_stride_gives_what_it_gave(stride, groups, dtype):
    plain = nn.Conv2d(4, 6, 1, stride=stride, groups=groups, dtype=dtype)
    features = torch.randn(2, 4, 7, 9, dtype=dtype)
    torch.testing.assert_close(without_strided_points(copy.deepcopy(plain))(features), plain(features))


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("output_size", [None, (13, 15), (14, 16)])
def test_a_transposed_convolution_without_its_stride_gives_what_it_gave(output_size, groups, dtype):
    plain = nn.ConvTranspose2d(4, 6, 1, stride=2, groups=groups, dtype=dtype)
    features = torch.randn(2, 4, 7, 8, dtype=dtype)
    ours = without_strided_points(copy.deepcopy(plain))
    torch.testing.assert_close(ours(features, output_size), plain(features, output_size))


def test_other_convolutions_stay_what_they_are():
    layers = [nn.Conv2d(3, 4, 1), nn.Conv2d(3, 4, 3, stride=2), nn.Conv2d(3, 4, 1, stride=2, padding=1)]
    layers.append(nn.ConvTranspose2d(3, 4, 2, stride=2))
    network = without_strided_points(nn.Sequential(*layers))
    assert [type(layer) for layer in network] == [nn.Conv2d, nn.Conv2d, nn.Conv2d, nn.ConvTranspose2d]


def test_the_parameters_keep_their_names_and_the_layer_its_kind():
    plain = nn.Sequential(nn.Conv2d(3, 4, 1, stride=2))
    ours = without_strided_points(copy.deepcopy(plain))
    assert isinstance(ours[0], nn.Conv2d)
    assert ours.state_dict().keys() == plain.state_dict().keys()
    images = torch.rand(2, 3, 4, 4)
    torch.testing.assert_close(pickle.loads(pickle.dumps(ours))(images), plain(images))


def test_thinning_and_spreading_undo_each_other():
    features = torch.randn(2, 3, 4, 5)
    spaced = spread(features, (2, 3), (1, 0))
    assert spaced.shape == (2, 3, 8, 13)
    assert torch.equal(thin(spaced, (2, 3)), features)
    assert spaced.count_nonzero() == features.count_nonzero()
