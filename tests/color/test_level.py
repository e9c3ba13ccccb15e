"""median_level: a measure that moves along with shifts of light."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from equicolor.color import median_level, shift_light


@given(seed=st.integers(0, 2**20), side=st.integers(1, 9), shift=st.floats(-4, 4))
def test_it_moves_along(seed, side, shift):
    images = torch.rand(2, 3, side, side + 1, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    moved = shift_light(images, [shift, 0.0, -shift])
    expected = median_level(images) + torch.tensor([shift, 0.0, -shift], dtype=torch.float64)
    torch.testing.assert_close(median_level(moved), expected, atol=1e-9, rtol=0)


@given(seed=st.integers(0, 2**20), side=st.integers(1, 9), shift=st.floats(-4, 0.6))
def test_so_it_does_with_gains_that_leave_the_median(seed, side, shift):
    images = torch.rand(2, 3, side, side + 1, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    images = images**2  # most of it dark
    level = median_level(images, "clamp")
    moved = median_level(shift_light(images, [shift] * 3, "clamp"), "clamp")
    torch.testing.assert_close(moved, (level + shift).clamp(max=0), atol=1e-9, rtol=0)


def test_it_is_the_median_of_what_is_neither_0_nor_1(dtype):
    values = torch.tensor([0.0, 0.0, 0.0, 0.2, 0.4, 0.7, 1.0, 1.0], dtype=dtype)
    expected = torch.tensor([0.4], dtype=dtype).logit()
    torch.testing.assert_close(median_level(values.view(1, 2, 4)), expected)
    torch.testing.assert_close(median_level(values[:-3].view(1, 1, 5)), torch.tensor([0.2], dtype=dtype).logit())


def test_it_takes_any_batch_and_channels_and_bytes():
    assert median_level(torch.rand(4, 2, 7, 5, 6)).shape == (4, 2, 7)
    assert median_level(torch.full((3, 4, 4), 255, dtype=torch.uint8)).tolist() == [0.0, 0.0, 0.0]
    assert median_level(torch.rand(3, 4, 4).half()).dtype == torch.float16


@pytest.mark.parametrize("action", ["exact", "clamp"])
def test_in_a_graph_it_is_the_same(action):
    images = (torch.rand(3, 2, 7, 8) * 1.5 - 0.2).clamp(0, 1)  # an odd and an even number of values count
    images[0, 0], images[1, 1] = 0, 1
    traced = torch.jit.trace(lambda values: median_level(values, action), images, check_trace=False)
    assert torch.equal(traced(images), median_level(images, action))


@pytest.mark.parametrize("action", ["exact", "clamp"])
@pytest.mark.parametrize("value", [0.0, 1.0])
def test_of_nothing_it_is_0(value, action):
    assert median_level(torch.full((2, 1, 3, 3), value), action).flatten().tolist() == [0.0, 0.0]
