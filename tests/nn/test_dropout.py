"""GroupDropout: one mask for all elements of an image."""

import pytest
import torch

import equicolor as ec
from equicolor.nn import GroupDropout


@pytest.mark.parametrize("group", ["hue4", "hue2-sat3"])
@pytest.mark.parametrize("over", ["values", "channels", "rows"])
@pytest.mark.parametrize("layout", [torch.contiguous_format, torch.channels_last])
def test_in_training_a_moved_feature_gives_the_moved_result(group, over, layout, dtype):
    group = ec.group(group)
    dropout = GroupDropout(group, 0.5, over)
    features = torch.randn(group.order * 3, 5, 4, 4, dtype=dtype).contiguous(memory_format=layout)
    for element in group:
        moved = group.act_on_features(element, features)
        results = []
        for given in (features, moved):
            torch.manual_seed(1)
            results.append(dropout(given))
        assert torch.equal(results[1], group.act_on_features(element, results[0]))


def test_plain_dropout_does_not_do_that():
    features = torch.ones(8, 100)
    torch.manual_seed(0)
    dropped = torch.nn.functional.dropout(features)
    assert not torch.equal(dropped[:2], dropped[2:4])
    shared = GroupDropout("hue4")(features)
    assert all(torch.equal(shared[:2], shared[2 * g : 2 * g + 2]) for g in range(4))


@pytest.mark.parametrize(("over", "whole"), [("channels", (2, 3)), ("rows", (1, 2, 3))])
def test_what_is_dropped_is_dropped_whole(over, whole):
    torch.manual_seed(0)
    dropped = GroupDropout("hue3", 0.5, over)(torch.ones(3 * 16, 8, 4, 4))
    assert torch.equal(dropped.amax(whole), dropped.amin(whole))
    assert 0 < (dropped == 0).float().mean() < 1


def test_images_have_masks_of_their_own_and_the_mean_stays():
    torch.manual_seed(0)
    dropped = GroupDropout("hue4", 0.25)(torch.ones(4 * 50, 1000))
    assert not torch.equal(dropped[0], dropped[1])
    assert abs(dropped.mean() - 1) < 0.01
    assert abs((dropped == 0).float().mean() - 0.25) < 0.01


def test_nothing_happens_in_evaluation_and_with_probability_0():
    features = torch.randn(8, 5)
    assert GroupDropout("hue4").eval()(features) is features
    assert GroupDropout("hue4", 0)(features) is features
    assert not GroupDropout("hue4", 1)(features).any()


def test_bad_arguments_are_refused():
    with pytest.raises(ValueError, match=r"probability between 0 and 1, got 1\.5"):
        GroupDropout("hue4", 1.5)
    with pytest.raises(ValueError, match="'pixels'"):
        GroupDropout("hue4", 0.5, over="pixels")
    with pytest.raises(ValueError, match="not a multiple of 4"):
        GroupDropout("hue4")(torch.ones(6, 3))
