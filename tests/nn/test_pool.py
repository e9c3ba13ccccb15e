"""GroupPool: what remains no longer depends on the colour move."""

import pytest
import torch

import equicolor as ec
from equicolor.nn import GroupPool


@pytest.mark.parametrize("name", ["hue4", "sat3", "hue2-sat3"])
def test_it_pools_over_the_group(name, dtype):
    group = ec.group(name)
    for shape in ((5,), (5, 4, 3)):
        features = torch.randn(group.order * 2, *shape, dtype=dtype)
        elements = features.view(group.order, 2, *shape)
        assert torch.equal(GroupPool(group)(features), elements.amax(0))
        torch.testing.assert_close(GroupPool(group, "mean")(features), elements.mean(0))
        torch.testing.assert_close(GroupPool(group, "logsumexp")(features), elements.exp().mean(0).log())


@pytest.mark.parametrize("reduce", ["max", "mean", "logsumexp"])
@pytest.mark.parametrize("name", ["hue3", "lum3", "hue3-sat3"])
def test_it_is_invariant(name, reduce):
    ec.testing.assert_equivariant(GroupPool(name, reduce), name)


def test_channels_last_stays_channels_last():
    features = torch.randn(8, 4, 6, 6).contiguous(memory_format=torch.channels_last)
    pooled = GroupPool("hue4")(features)
    assert pooled.is_contiguous(memory_format=torch.channels_last)
    assert torch.equal(pooled, GroupPool("hue4")(features.contiguous()))


def test_empty_batches_pool_to_empty_batches():
    assert GroupPool("hue4")(torch.rand(0, 5)).shape == (0, 5)
    assert GroupPool("hue4", "mean")(torch.rand(0, 5)).shape == (0, 5)


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="'max', 'mean' or 'logsumexp', got 'sum'"):
        GroupPool("hue4", "sum")
    with pytest.raises(ValueError, match=r"hue4.*\(6, 5\)"):
        GroupPool("hue4")(torch.rand(6, 5))
