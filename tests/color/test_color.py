"""Colour moves: exact where they can be, group actions where they claim to be, finite gradients everywhere."""

import colorsys
import itertools

import kornia
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.autograd import forward_ad

from equicolor import color
from equicolor.color import (
    hsl_to_rgb,
    hsv_to_rgb,
    orbit,
    rgb_to_hsl,
    rgb_to_hsv,
    rotate_rgb,
    shift_hue,
    shift_luminance,
    shift_saturation,
)

HALF = [torch.float16, torch.bfloat16]
SPACES = ["hsl", "hsv"]
SHIFTS = [shift_saturation, shift_luminance]
#: How far a round trip may end from where it began.
CLOSE = {torch.float32: 1e-6, torch.float64: 1e-14}

degrees = st.floats(-1000, 1000, allow_nan=False) | st.integers(-24, 24).map(lambda twelfth: 30.0 * twelfth)
amounts = st.floats(-1, 1, allow_nan=False)
channels = st.floats(0, 1, width=32)
pixels = st.tuples(channels, channels, channels)


def pixel(*rgb: float, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.tensor(rgb, dtype=dtype).view(3, 1, 1)


def cube(dtype: torch.dtype) -> Tensor:
    """The whole RGB cube: a grid with its corners, random colours, and colours close to black, white and grey."""
    generator = torch.Generator().manual_seed(1)
    steps = torch.linspace(0, 1, 18, dtype=torch.float64).tolist()
    grid = torch.tensor(list(itertools.product(steps, repeat=3)), dtype=torch.float64).T.reshape(3, -1, 18)
    noise = torch.rand(4, 3, 120, 18, generator=generator, dtype=torch.float64)
    grey = (noise[3, :1] + 1e-6 * (noise[0] - 0.5)).clamp(0, 1)
    return torch.cat([grid, noise[0], noise[1] ** 12, 1 - noise[2] ** 12, grey], dim=1).to(dtype)


def corners(dtype: torch.dtype) -> Tensor:
    """Black, white, greys, and all ties between two channels."""
    values = [0.0, 0.3, 0.5, 1.0]
    return torch.tensor(list(itertools.product(values, repeat=3)), dtype=dtype).T.reshape(3, 8, 8)


# ---------------------------------------------------------------------------------------------- colour spaces


@pytest.mark.parametrize(
    ("ours", "theirs", "order"),
    [(rgb_to_hsl, colorsys.rgb_to_hls, (0, 2, 1)), (rgb_to_hsv, colorsys.rgb_to_hsv, (0, 1, 2))],
)
def test_conversion_agrees_with_colorsys_on_a_grid(ours, theirs, order):
    steps = torch.linspace(0, 1, 11, dtype=torch.float64).tolist()
    for rgb in itertools.product(steps, repeat=3):
        expected = [theirs(*rgb)[i] for i in order]
        hue, second, third = ours(pixel(*rgb)).flatten().tolist()
        assert (hue / 360 - expected[0] + 0.5) % 1 - 0.5 == pytest.approx(0, abs=1e-12)
        # colorsys divides rounding error by rounding error at white
        assert [second, third] == pytest.approx(expected[1:], abs=1e-12) or rgb == (1, 1, 1)


def test_conversion_agrees_with_kornia(dtype):
    images = torch.rand(2, 3, 9, 7, dtype=dtype)
    for ours, theirs, order in (
        (rgb_to_hsl, kornia.color.rgb_to_hls, [0, 2, 1]),
        (rgb_to_hsv, kornia.color.rgb_to_hsv, [0, 1, 2]),
    ):
        expected = theirs(images)[:, order]
        expected[:, 0] = torch.rad2deg(expected[:, 0])
        torch.testing.assert_close(ours(images), expected, atol=2e-4, rtol=1e-5)
    torch.testing.assert_close(hsv_to_rgb(rgb_to_hsv(images)), kornia.color.hsv_to_rgb(kornia.color.rgb_to_hsv(images)))


@pytest.mark.parametrize(("there", "back"), [(rgb_to_hsl, hsl_to_rgb), (rgb_to_hsv, hsv_to_rgb)])
def test_a_round_trip_restores_the_whole_cube(there, back, dtype):
    images = cube(dtype)
    assert (back(there(images)) - images).abs().max() <= CLOSE[dtype]


def test_hue_lies_in_one_turn_and_saturation_and_luminance_in_the_unit_interval(dtype):
    for convert in (rgb_to_hsl, rgb_to_hsv):
        hue, saturation, luminance = convert(cube(dtype)).unbind(0)
        assert hue.min() >= 0
        assert hue.max() < 360
        for value in (saturation, luminance):
            assert value.min() >= 0
            assert value.max() <= 1


def test_a_hue_too_small_to_stand_beside_360_is_zero():
    hue = rgb_to_hsl(pixel(1.0, 0.0, 1e-9, dtype=torch.float32))[0]
    assert 0 <= hue.item() < 360


# ---------------------------------------------------------------------------------------------- hue


def test_the_identity_is_bit_exact(dtype):
    images = cube(dtype)
    assert torch.equal(shift_hue(images, 0), images)
    assert torch.equal(shift_hue(images, -720), images)
    for shift, action, space in itertools.product(SHIFTS, ("exact", "clamp"), SPACES):
        assert torch.equal(shift(images, 0.0, action, space), images)


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_shifting_hue_by_120_degrees_permutes_rgb(kind):
    images = torch.rand(2, 3, 5, 4, dtype=torch.float64).to(kind)
    for turns, shift in ((1, 120), (2, 240), (1, 480), (2, -120)):
        expected = images.roll(turns, dims=1)
        assert torch.equal(shift_hue(images, shift), expected)
        assert torch.equal(shift_hue(images, torch.full((2,), float(shift))), expected)


@given(degrees)
def test_a_hue_shift_there_and_back_restores_the_whole_cube(shift):
    for dtype, close in CLOSE.items():
        images = cube(dtype)
        assert (shift_hue(shift_hue(images, shift), -shift) - images).abs().max() <= close


@given(pixels, degrees, degrees)
def test_hue_shifts_compose(rgb, first, second):
    image = pixel(*rgb)
    torch.testing.assert_close(
        shift_hue(shift_hue(image, first), second), shift_hue(image, first + second), atol=1e-10, rtol=0
    )


@given(degrees)
def test_a_hue_shift_turns_the_hue_and_nothing_else(shift):
    images = cube(torch.float64)
    before, after = rgb_to_hsl(images), rgb_to_hsl(shift_hue(images, shift))
    coloured = (images.amax(0) - images.amin(0)) > 1e-3
    turned = (after[0] - before[0] - shift + 180) % 360 - 180
    assert turned[coloured].abs().max() < 1e-8
    assert (after[2] - before[2]).abs().max() < 1e-12
    assert (shift_hue(images, shift).amax(0) - images.amax(0)).abs().max() < 1e-12
    assert (shift_hue(images, shift).amin(0) - images.amin(0)).abs().max() < 1e-12


@given(degrees)
def test_a_hue_shift_agrees_with_going_through_hsl(shift):
    images = torch.rand(3, 8, 8, dtype=torch.float64)
    hsl = rgb_to_hsl(images)
    hsl[0] += shift
    torch.testing.assert_close(shift_hue(images, shift), hsl_to_rgb(hsl), atol=1e-10, rtol=0)


def test_ceconvs_rotation_is_a_hue_shift_for_multiples_of_120_degrees_only():
    images = torch.rand(3, 16, 16, dtype=torch.float64)
    for shift in (0, 120, 240):
        assert torch.equal(rotate_rgb(images, shift), shift_hue(images, shift))
    assert (rotate_rgb(images, 90) - shift_hue(images, 90)).abs().max() > 0.1
    turned = rotate_rgb(images, 90, clamp=False)
    torch.testing.assert_close(rotate_rgb(images, 90), turned.clamp(0, 1))
    torch.testing.assert_close(turned.sum(0), images.sum(0))


# ---------------------------------------------------------------------------------------------- saturation, luminance


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("shift", SHIFTS)
@given(pixels, amounts, amounts)
def test_exact_shifts_obey_the_axioms_of_a_group_action(shift, space, rgb, first, second):
    image = pixel(*rgb)
    once = shift(shift(image, first, "exact", space), second, "exact", space)
    torch.testing.assert_close(once, shift(image, first + second, "exact", space), atol=1e-12, rtol=0)
    assert torch.equal(shift(image, 0.0, "exact", space), image)


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize("amount", [0.1, 0.4, -1.0])
def test_exact_shifts_there_and_back_restore_the_whole_cube(shift, space, amount, dtype):
    images = cube(dtype)
    restored = shift(shift(images, amount, "exact", space), -amount, "exact", space)
    assert (restored - images).abs().max() <= CLOSE[dtype]


@pytest.mark.parametrize("space", SPACES)
@given(channels, amounts, amounts)
def test_exact_shifts_keep_greys_grey(space, value, saturation, luminance):
    grey = pixel(value, value, value)
    assert torch.equal(shift_saturation(grey, saturation, "exact", space), grey)
    moved = shift_luminance(grey, luminance, "exact", space)
    assert torch.equal(moved, moved[:1].expand(3, 1, 1))


@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize("space", SPACES)
def test_exact_shifts_keep_black_and_white_and_never_leave_the_cube(shift, space, dtype):
    black, white = torch.zeros(3, 1, 1, dtype=dtype), torch.ones(3, 1, 1, dtype=dtype)
    for amount in (-1000.0, -3.0, 2.0, 1000.0):
        assert torch.equal(shift(black, amount, "exact", space), black)
        assert torch.equal(shift(white, amount, "exact", space), white)
        moved = shift(cube(dtype), amount, "exact", space)
        assert moved.isfinite().all()
        assert moved.min() >= -1e-6
        assert moved.max() <= 1 + 1e-6


@given(st.floats(0.05, 0.95), st.floats(-2, 2))
def test_an_exact_shift_is_the_moebius_map_of_design(value, shift):
    k = torch.tensor(shift, dtype=torch.float64).exp()
    expected = k * value / (1 + (k - 1) * value)
    image = hsl_to_rgb(pixel(200.0, value, 0.4))
    torch.testing.assert_close(rgb_to_hsl(shift_saturation(image, shift))[1, 0, 0], expected)
    image = hsl_to_rgb(pixel(200.0, 0.4, value))
    torch.testing.assert_close(rgb_to_hsl(shift_luminance(image, shift))[2, 0, 0], expected)


def test_a_clamped_shift_adds_and_clips():
    image = hsl_to_rgb(pixel(40.0, 0.5, 0.5))
    for amount, expected in ((0.2, 0.7), (0.9, 1.0), (-0.9, 0.0)):
        assert rgb_to_hsl(shift_saturation(image, amount, "clamp"))[1].item() == pytest.approx(expected)
        assert rgb_to_hsl(shift_luminance(image, amount, "clamp"))[2].item() == pytest.approx(expected)
    image = hsv_to_rgb(pixel(40.0, 0.5, 0.5))
    assert rgb_to_hsv(shift_saturation(image, 0.2, "clamp", "hsv"))[1].item() == pytest.approx(0.7)
    assert rgb_to_hsv(shift_luminance(image, 0.2, "clamp", "hsv"))[2].item() == pytest.approx(0.7)


def test_a_clamped_shift_is_no_group_action_where_it_clips():
    image = hsl_to_rgb(pixel(40.0, 0.9, 0.9))
    for shift in SHIFTS:
        restored = shift(shift(image, 0.4, "clamp"), -0.4, "clamp")
        assert (restored - image).abs().max() > 0.02


def test_a_clamped_shift_turns_greys_red_and_forgets_them():
    grey = pixel(0.5, 0.5, 0.5)
    red = shift_saturation(grey, 0.4, "clamp")
    torch.testing.assert_close(red, pixel(0.7, 0.3, 0.3))
    greyed = shift_saturation(pixel(0.2, 0.4, 0.3), -1.0, "clamp")
    assert rgb_to_hsl(shift_saturation(greyed, 0.5, "clamp"))[0].item() == pytest.approx(0)


def test_saturation_shifts_differ_between_hsl_and_hsv_and_hue_shifts_do_not():
    image = pixel(0.8, 0.4, 0.3)
    assert not torch.allclose(shift_saturation(image, 0.3, space="hsl"), shift_saturation(image, 0.3, space="hsv"))
    hsl, hsv = rgb_to_hsl(image), rgb_to_hsv(image)
    hsl[0] += 77
    hsv[0] += 77
    torch.testing.assert_close(hsl_to_rgb(hsl), hsv_to_rgb(hsv))


# ---------------------------------------------------------------------------------------------- batches, dtypes, orbits


@pytest.mark.parametrize("kind", [*HALF, torch.float32, torch.float64])
def test_dtype_and_shape_are_kept_and_half_precision_is_rounded_once(kind):
    images = torch.rand(2, 2, 3, 4, 5, dtype=torch.float64).to(kind)
    for move in (lambda x: shift_hue(x, 33), lambda x: shift_saturation(x, 0.3), lambda x: shift_luminance(x, 0.3)):
        moved = move(images)
        assert moved.dtype == kind
        assert moved.shape == images.shape
        if kind in HALF:
            assert torch.equal(moved, move(images.float()).to(kind))


@given(st.lists(st.floats(-400, 400), min_size=3, max_size=3))
def test_one_shift_for_each_image_agrees_with_one_by_one(shifts):
    images = torch.rand(3, 3, 4, 5, dtype=torch.float64)
    each = torch.tensor(shifts, dtype=torch.float64)
    expected = torch.stack([shift_hue(image, s) for image, s in zip(images, shifts, strict=True)])
    torch.testing.assert_close(shift_hue(images, each), expected, atol=1e-12, rtol=0)
    for shift, action, space in itertools.product(SHIFTS, ("exact", "clamp"), SPACES):
        expected = torch.stack([shift(i, s / 400, action, space) for i, s in zip(images, shifts, strict=True)])
        torch.testing.assert_close(shift(images, each / 400, action, space), expected, atol=1e-12, rtol=0)


def test_one_shift_for_all_may_be_a_tensor():
    images = torch.rand(2, 3, 4, 5)
    for shift in (shift_hue, *SHIFTS):
        torch.testing.assert_close(shift(images, torch.tensor(0.3)), shift(images, 0.3))


def test_hue_stays_below_one_turn_in_half_precision():
    for kind in HALF:
        assert rgb_to_hsl(pixel(1.0, 0.0, 1e-3).to(kind))[0].item() < 360


def test_an_orbit_holds_every_combination_of_moves(dtype):
    images = torch.rand(2, 3, 4, 5, dtype=dtype)
    hues, saturations, luminances = [0.0, 50.0, 120.0], [-0.5, 0.0], [0.0, 0.2, 0.7]
    for space, action in itertools.product(SPACES, ("exact", "clamp")):
        moved = orbit(images, hues, saturations, luminances, action, action, space)
        for (i, h), (j, s), (k, v) in itertools.product(*map(enumerate, (hues, saturations, luminances))):
            expected = shift_luminance(shift_saturation(shift_hue(images, h), s, action, space), v, action, space)
            torch.testing.assert_close(moved[i, j, k], expected, atol=2e-6, rtol=0)
        assert torch.equal(moved[0, 1, 0], images)
        assert torch.equal(moved[2, 1, 0], images.roll(1, dims=1))


def test_in_an_orbit_a_saturated_grey_is_a_turned_red():
    moved = orbit(pixel(0.5, 0.5, 0.5), [0.0, 120.0], [0.0, 0.4], saturation_action="clamp")
    torch.testing.assert_close(moved[0, 1, 0], pixel(0.7, 0.3, 0.3))
    torch.testing.assert_close(moved[1, 1, 0], pixel(0.3, 0.7, 0.3))


# ---------------------------------------------------------------------------------------------- gradients

MOVES = {
    "hue": lambda x: shift_hue(x, 75.0),
    "batched hue": lambda x: shift_hue(x[None], torch.tensor([75.0])),
    **{
        f"{shift.__name__} {action} {space}": lambda x, s=shift, a=action, p=space: s(x, 0.3, a, p)
        for shift, action, space in itertools.product(SHIFTS, ("exact", "clamp"), SPACES)
    },
    "orbit": lambda x: orbit(x, [0, 90], [-0.4, 0, 0.4], [0, 0.4]),
    "to hsl": rgb_to_hsl,
    "to hsv": rgb_to_hsv,
    "to hsl and back": lambda x: hsl_to_rgb(rgb_to_hsl(x)),
}


@pytest.mark.parametrize("move", MOVES.values(), ids=MOVES.keys())
def test_gradients_are_finite_for_greys_black_white_and_ties(move, dtype):
    for images in (corners(dtype), corners(dtype) * 1e-30, 1 - corners(dtype) * 1e-7, corners(dtype) * 1e-45):
        images.requires_grad_()
        move(images).sum().backward()
        assert images.grad.isfinite().all()


@pytest.mark.parametrize("move", MOVES.values(), ids=MOVES.keys())
def test_gradients_are_right_for_ordinary_colours(move):
    images = torch.tensor([[0.31, 0.66], [0.52, 0.45], [0.2, 0.6]], dtype=torch.float64).view(3, 1, 2).requires_grad_()
    assert torch.autograd.gradcheck(move, images)


def test_what_is_differentiated_has_the_same_values_and_the_gradient_of_the_hue_at_every_tie(dtype):
    for images in (cube(dtype), corners(dtype)):
        for shift in (17.0, 301.0, *range(0, 360, 30)):
            still, followed = shift_hue(images, shift), shift_hue(images.clone().requires_grad_(), shift)
            torch.testing.assert_close(followed.detach(), still, atol=CLOSE[dtype], rtol=0)
    red = pixel(0.8, 0.2, 0.2, dtype=dtype)  # green and blue are equal: the hue is linear there, and no modulus
    towards = pixel(0.0, 1.0, 0.0, dtype=dtype)
    with forward_ad.dual_level():
        forwards = forward_ad.unpack_dual(shift_hue(forward_ad.make_dual(red, towards), 30)).tangent
    backwards = torch.autograd.functional.jvp(lambda image: shift_hue(image, 30), red, towards)[1]
    torch.testing.assert_close(forwards, backwards)
    assert backwards[1].item() == pytest.approx(1.25)  # between 1, where green grows, and 1.5, where it shrinks


def test_a_learned_shift_gets_a_gradient_even_where_it_is_exact():
    images = torch.rand(2, 3, 4, 4, dtype=torch.float64)
    for shift, start in ((shift_hue, 120.0), (shift_saturation, 0.0), (shift_luminance, 0.0)):
        learned = torch.full((2,), start, dtype=torch.float64, requires_grad=True)
        moved = shift(images, learned)
        assert torch.equal(moved, images.roll(1, dims=1) if shift is shift_hue else images)
        moved.square().sum().backward()
        assert (learned.grad != 0).all()


@pytest.mark.parametrize("shift", [shift_saturation, shift_luminance])
def test_a_learned_shift_of_nothing_has_the_right_gradient(shift):
    images = torch.rand(2, 3, 3, 3, dtype=torch.float64).mul(0.8).add(0.1)
    amounts = torch.zeros(2, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda by: shift(images, by), amounts)


def test_hue_saturation_and_luminance_at_once_are_one_after_the_other(dtype):
    images = torch.rand(4, 3, 4, 4, dtype=dtype)
    hue, sat, lum = (scale * torch.randn(4, dtype=dtype) for scale in (90, 0.5, 0.5))
    for action in ("exact", "clamp"):
        together = color.shift_hsl(images, hue, sat, lum, action, action)
        expected = shift_luminance(shift_saturation(images, sat, action), lum, action)
        torch.testing.assert_close(together, shift_hue(expected, hue), rtol=0, atol=1e-5)
    moved = color.shift_hsl(images, hue, torch.zeros(4, dtype=dtype), luminance=0.0)
    assert torch.equal(moved, shift_hue(images, hue))
