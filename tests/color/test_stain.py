"""Stain: densities add, concentrations scale, and what is decided about black, no dye, and brighter than the lamp."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from equicolor import color

CLOSE = {torch.float32: 2e-6, torch.float64: 1e-13}
shifts = st.lists(st.floats(-1, 1), min_size=3, max_size=3)


def stained(concentrations, dtype=torch.float64):
    """RGB ``(*, 3, 1, 1)`` of mixtures ``(*, 3)``."""
    mixtures = torch.as_tensor(concentrations, dtype=torch.float64)
    return torch.exp(-mixtures @ torch.tensor(color.STAINS, dtype=torch.float64))[..., None, None].to(dtype)


def test_concentrations_are_those_of_the_mixture(dtype):
    mixtures = torch.rand(20, 3, dtype=torch.float64)
    found = color.stain_concentrations(stained(mixtures, dtype))[..., 0, 0]
    torch.testing.assert_close(found.double(), mixtures, rtol=0, atol=CLOSE[dtype])


def test_a_shift_scales_one_dye_and_leaves_the_others():
    mixtures = torch.rand(20, 3, dtype=torch.float64)
    moved = color.stain_concentrations(color.shift_stain(stained(mixtures), [0.5, 0.0, -0.3]))[..., 0, 0]
    expected = mixtures * torch.tensor([math.exp(0.5), 1.0, math.exp(-0.3)], dtype=torch.float64)
    torch.testing.assert_close(moved, expected, rtol=0, atol=1e-12)


@given(shifts, shifts)
def test_on_mixtures_of_the_dyes_it_is_an_action_that_stays_in_range(s, t):
    for dtype, close in CLOSE.items():
        images = stained(torch.rand(2, 8, 3), dtype)
        both = [a + b for a, b in zip(s, t, strict=True)]
        moved = color.shift_stain(images, s)
        assert torch.equal(color.shift_stain(images, [0, 0, 0]), images)
        assert (color.shift_stain(moved, t) - color.shift_stain(images, both)).abs().max() <= close
        assert (color.shift_stain(moved, [-a for a in s]) - images).abs().max() <= close
        assert moved.min() > 0
        assert moved.max() <= 1


def test_one_shift_for_each_image_is_each_image_by_its_own(dtype):
    images, amounts = stained(torch.rand(4, 3), dtype), torch.tensor([[0, 0, 0], [1, 0, 0], [-1, 2, 0], [0, 0.5, -0.5]])
    together = color.shift_stain(images, amounts)
    for image, amount, moved in zip(images, amounts, together, strict=True):
        torch.testing.assert_close(moved, color.shift_stain(image, amount.tolist()), rtol=0, atol=CLOSE[dtype])
    assert torch.equal(together[0], images[0])


def test_black_counts_as_the_darkest_value_and_stays_dark():
    black = torch.zeros(3, 1, 1)
    assert torch.equal(color.shift_stain(black, [0, 0, 0]), black)
    there = color.shift_stain(black, [0.7, 0, 0])
    assert there.max() <= 1e-6
    assert color.shift_stain(black, [-0.7, -0.7, 0]).max() < 2e-3


def test_where_there_is_no_dye_nothing_of_it_is_scaled():
    green = torch.tensor([0.2, 0.9, 0.3], dtype=torch.float64).view(
        3, 1, 1
    )  # eosin takes green: there is less than none
    assert color.stain_concentrations(green)[1].item() < 0
    torch.testing.assert_close(color.shift_stain(green, [0, 1.0, 0]), green)


def test_what_would_be_brighter_than_the_lamp_is_cut_off_at_1():
    cyan = torch.tensor([0.05, 0.9, 0.9], dtype=torch.float64).view(3, 1, 1)
    moved = color.shift_stain(cyan, [-1.0, 0, 0])
    assert moved.max() == 1


@pytest.mark.parametrize("by", [-1e30, -90.0, 0.0, 2.0, 90.0, 1e30])
def test_results_and_gradients_are_finite_for_any_shift_and_colour(by, dtype):
    values = torch.tensor([0.0, 1e-9, 1e-6, 0.3, 1.0], dtype=dtype)
    images = torch.cartesian_prod(values, values, values).T.reshape(1, 3, 5, 25).clone().requires_grad_()
    amounts = torch.tensor([[by, 0.3, -by]], dtype=dtype, requires_grad=True)
    moved = color.shift_stain(images, amounts)
    assert moved.isfinite().all()
    assert moved.min() >= 0
    assert moved.max() <= 1
    torch.autograd.backward(moved.sum())
    assert images.grad.isfinite().all()
    assert amounts.grad.isfinite().all()


def test_an_orbit_is_all_the_combinations(dtype):
    images = stained(torch.rand(2, 3), dtype)
    moves = [[-0.3, 0.0, 0.3], [0.0], [0.0, 0.5]]
    orbit = color.stain_orbit(images, moves)
    assert orbit.shape == (3, 1, 2, 2, 3, 1, 1)
    assert torch.equal(orbit[1, 0, 0], images)
    for i, hema in enumerate(moves[0]):
        for k, dab in enumerate(moves[2]):
            torch.testing.assert_close(
                orbit[i, 0, k], color.shift_stain(images, [hema, 0, dab]), rtol=0, atol=CLOSE[dtype]
            )


def test_a_matrix_of_ones_own_scales_its_own_dyes():
    own = [[0.5, 0.5, 0.5], [0.1, 0.8, 0.1], [0.0, 0.1, 0.9]]
    ink = torch.exp(-torch.tensor(own[0], dtype=torch.float64)).view(3, 1, 1)
    torch.testing.assert_close(color.shift_stain(ink, [math.log(3), 0, 0], own), ink**3)
    louder = [[5 * value for value in row] for row in own]  # the unit of a row does not matter
    noise = stained(torch.rand(4, 3))
    torch.testing.assert_close(
        color.shift_stain(noise, [0.3, -0.2, 0.1], own), color.shift_stain(noise, [0.3, -0.2, 0.1], louder)
    )


def test_bad_shifts_are_refused():
    with pytest.raises(ValueError, match=r"each of three stains.*\(2, 3\), got shape \(2,\)"):
        color.shift_stain(torch.rand(2, 3, 4, 4), torch.zeros(2))
    with pytest.raises(ValueError, match="RGB"):
        color.shift_stain(torch.rand(2, 4, 4, 4), [0, 0, 0])
