"""Multiply-adds: what the algorithms promise is what their convolutions do."""

import pytest
import torch
from torch import nn

from equicolor import algorithms, group
from equicolor.measure import multiply_adds
from equicolor.nn import GroupConv2d


def counted(layer, name, width=8, side=6, batch=2):
    return multiply_adds(layer, torch.rand(group(name).order * batch, width, side, side)).convolutions


@pytest.mark.parametrize("name", ["hue2", "hue3", "hue4", "hue8", "hue12"])
def test_fast_takes_r_over_n_of_a_plain_network_with_as_many_parameters(name):
    n, rank = group(name).order, algorithms.fast(group(name)).rank
    fast = counted(GroupConv2d(name, 8, 8, 3, padding=1, algorithm="fast"), name)
    direct = counted(GroupConv2d(name, 8, 8, 3, padding=1, algorithm="direct"), name)
    # A plain layer with n·8·8 filters of area 9, on the same pixels.
    plain = n * 8 * 8 * 9 * 6 * 6 * 2
    assert fast / plain == rank / n
    assert direct / plain == n


def test_linear_layers_count_in_the_total_alone():
    network = nn.Sequential(nn.Conv2d(3, 5, 1), nn.Flatten(), nn.Linear(5 * 4, 7))
    work = multiply_adds(network, torch.rand(2, 3, 2, 2))
    assert work.convolutions == 2 * 4 * 3 * 5
    assert work.total == work.convolutions + 2 * 20 * 7
