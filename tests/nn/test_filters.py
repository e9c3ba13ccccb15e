"""Transformed filters are kept between calls in eval mode, and never stale."""

import copy

import pytest
import torch
from torch import nn

from equicolor.nn import GroupConv2d


@torch.enable_grad()
def _optimiser_step(layer):
    layer.train()
    layer(torch.randn(8, 3, 6, 6)).square().sum().backward()
    torch.optim.SGD(layer.parameters(), lr=0.1).step()
    layer.eval()


@torch.no_grad()
def _in_place(layer):
    layer.weight.mul_(2)


def _through_data(layer):
    layer.weight.data.add_(1)  # as loops for moving averages do; no version counter notices


def _through_numpy(layer):
    layer.weight.detach().numpy()[:] += 0.5


def _assignment(layer):
    layer.weight = nn.Parameter(torch.randn_like(layer.weight))


def _data_assignment(layer):
    layer.weight.data = torch.randn_like(layer.weight)


def _load(layer):
    layer.load_state_dict(GroupConv2d("hue4", 3, 5, 3).state_dict())


def _load_assigning(layer):
    layer.load_state_dict(GroupConv2d("hue4", 3, 5, 3).state_dict(), assign=True)


def _there_and_back(layer):
    layer.half()
    layer.float()


@torch.inference_mode()
def _in_inference_mode(layer):
    layer.weight.mul_(3)


def _vector(layer):
    nn.utils.vector_to_parameters(torch.randn(sum(p.numel() for p in layer.parameters())), layer.parameters())


@pytest.mark.parametrize(
    "change",
    [
        _optimiser_step,
        _in_place,
        _through_data,
        _through_numpy,
        _assignment,
        _data_assignment,
        _load,
        _load_assigning,
        _there_and_back,
        _in_inference_mode,
        _vector,
    ],
    ids=lambda change: change.__name__.strip("_"),
)
def test_in_eval_mode_the_next_forward_follows_every_change_of_the_weights(change):
    layer = GroupConv2d("hue4", 3, 5, 3, algorithm="fast").eval()
    features = torch.randn(8, 3, 6, 6)
    with torch.no_grad():
        before = layer(features)
        change(layer)
        direct = GroupConv2d("hue4", 3, 5, 3, algorithm="direct")
        direct.load_state_dict(layer.state_dict())
        torch.testing.assert_close(layer(features), direct(features), atol=1e-4, rtol=1e-4)
        assert not torch.equal(layer(features), before)


def test_a_copy_has_a_life_of_its_own():
    layer = GroupConv2d("hue4", 3, 5, 3, algorithm="fast").eval()
    features = torch.randn(8, 3, 6, 6)
    with torch.no_grad():
        before = layer(features)
        twin = copy.deepcopy(layer)
        twin.weight.zero_()
        assert torch.equal(layer(features), before)
        assert torch.equal(twin(features), layer.bias.view(1, -1, 1, 1).expand(8, 5, 4, 4))
