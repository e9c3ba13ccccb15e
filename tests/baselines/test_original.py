"""Weights of CEConv's published code: its convention computed anew, element by element, and read into our layers."""

import pytest
import torch
from torch.nn.functional import conv2d

import equicolor as ec
from equicolor.baselines import CEConv2d, CEConvLift, from_original
from equicolor.nn import GroupConv2d


def original_lift(images, weight, matrix, n):
    """Element i: the filters, as colours, multiplied i times by the matrix. ``(B, C, n, H, W)``."""
    turned = [torch.einsum("dc,ocxhw->odxhw", torch.linalg.matrix_power(matrix, i), weight) for i in range(n)]
    return torch.stack([conv2d(images, each[:, :, 0]) for each in turned], 2)


def original_hidden(features, weight):
    """Element i: every element h of the features by the filter number h - i, as rolling by i makes it."""
    n = weight.shape[2]
    sums = [sum(conv2d(features[:, :, h], weight[:, :, (h - i) % n]) for h in range(n)) for i in range(n)]
    return torch.stack(sums, 2)


def as_ours(features):
    """Theirs, ``(B, C, n, H, W)``, group-major and with element -j in the place of j."""
    n = features.shape[2]
    return torch.cat([features[:, :, -j % n] for j in range(n)])


@pytest.mark.parametrize("n", [3, 4, 5])
@pytest.mark.parametrize("separable", [True, False])
def test_weights_of_the_original_give_its_features_with_the_elements_reversed(n, separable):
    draw = {"dtype": torch.float64}
    matrix = torch.tensor(ec.color.rgb_rotation(360 / n), **draw)
    first = {
        "weight": torch.randn(4, 3, 1, 3, 3, **draw),
        "transformation_matrix": matrix,
        "bias": torch.randn(4, **draw),
    }
    second = {"weight": torch.randn(6, 4, 1 if separable else n, 3, 3, **draw)}
    second |= {"pointwise_weight": torch.randn(6, 4, n, 1, 1, **draw)} if separable else {}
    images = torch.rand(2, 3, 9, 9, **draw)
    lifted = original_lift(images, first["weight"], matrix, n) + first["bias"].view(-1, 1, 1, 1)
    hidden = original_hidden(lifted, second["weight"] * second.get("pointwise_weight", 1))

    lift = CEConvLift(n, 4, 3).double()
    layer = (CEConv2d(n, 4, 6, 3, bias=False) if separable else GroupConv2d(ec.Hue(n), 4, 6, 3, bias=False)).double()
    lift.load_state_dict(from_original(first))
    layer.load_state_dict(from_original(second))
    torch.testing.assert_close(lift(images), as_ours(lifted), atol=1e-12, rtol=1e-12)
    torch.testing.assert_close(layer(lift(images)), as_ours(hidden), atol=1e-11, rtol=1e-11)
    assert not torch.allclose(layer(lift(images)), hidden.movedim(2, 0).flatten(0, 1))  # as they are, they are others


def test_names_of_a_network_keep_their_paths_and_what_is_no_filter_stays():
    theirs = {
        "conv1.transformation_matrix": torch.tensor(ec.color.rgb_rotation(120.0)),
        "conv1.weight": torch.rand(4, 3, 1, 3, 3),
        "layers.0.conv.pointwise_weight": torch.rand(6, 4, 3, 1, 1),
        "layers.0.conv.weight": torch.rand(6, 4, 1, 3, 3),
        "layers.0.norm.weight": torch.rand(6),
        "fc.weight": torch.rand(10, 6),
    }
    ours = from_original(theirs)
    names = ["conv1.rotation", "conv1.weight", "layers.0.conv.rotational", "layers.0.conv.spatial"]
    assert sorted(ours) == sorted([*names, "layers.0.norm.weight", "fc.weight"])
    assert ours["fc.weight"] is theirs["fc.weight"]


def test_a_matrix_that_was_learnt_is_refused():
    with pytest.raises(ValueError, match=r"conv1\.transformation_matrix is no rotation about the grey axis"):
        from_original({"conv1.transformation_matrix": torch.rand(3, 3)})
