"""GroupLinear is a 1×1 group convolution of features whose channels come last."""

import pytest
import torch

from equicolor.nn import GroupConv2d, GroupLinear
from equicolor.testing import assert_equivariant


@pytest.mark.parametrize("group", ["hue4", "sat3"])
def test_it_is_a_pointwise_group_convolution(group, dtype):
    linear = GroupLinear(group, 5, 7, dtype=dtype)
    convolution = GroupConv2d(group, 5, 7, 1, dtype=dtype)
    convolution.load_state_dict(linear.conv.state_dict())
    features = torch.randn(12, 4, 3, 5, dtype=dtype)
    torch.testing.assert_close(linear(features), convolution(features.permute(0, 3, 1, 2)).permute(0, 2, 3, 1))
    assert linear(features[:, 0, 0]).shape == (12, 7)


def test_it_is_equivariant():
    assert_equivariant(GroupLinear("hue4", 5, 7), "hue4")
