"""Constants of an algorithm as tensors: of the kind that they are used with, and kept where that is safe."""

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode

from equicolor.nn import GroupConv2d
from equicolor.nn._combine import combine

MATRIX = ((1.0, 2.0), (0.0, 7.0), (3.0, 1.0))  # of no group


def test_a_call_with_fake_tensors_leaves_nothing_fake_behind():
    with FakeTensorMode():
        assert isinstance(combine(MATRIX, torch.ones(2, 5)), FakeTensor)
    assert type(combine(MATRIX, torch.ones(2, 5))) is torch.Tensor
    with FakeTensorMode():  # nor is what was kept in the way of a fake one
        assert isinstance(combine(MATRIX, torch.ones(2, 5)), FakeTensor)


def test_a_layer_built_and_called_with_fake_tensors_does_not_change_others():
    with FakeTensorMode():
        GroupConv2d("hue7", 3, 4, 3, algorithm="fast")(torch.ones(7, 3, 5, 5))
    result = GroupConv2d("hue7", 3, 4, 3, algorithm="fast")(torch.ones(7, 3, 5, 5))
    assert not isinstance(result, FakeTensor)
    assert result.isfinite().all()


def test_constants_that_were_made_in_inference_mode_can_be_trained_with():
    with torch.inference_mode():
        combine(((5.0, 11.0),), torch.ones(2, 5))
    given = torch.ones(2, 5, requires_grad=True)
    combine(((5.0, 11.0),), given).sum().backward()
    assert given.grad.tolist() == [[5.0] * 5, [11.0] * 5]
