"""Colour shifts by name."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from equicolor import color
from equicolor.data import Shift, hue_coverage

numbers = st.floats(-400, 400, allow_nan=False).map(lambda x: round(x, 3))


@given(st.sampled_from(["hue", "sat", "lum", "temp", "tint", "exp", "hema", "eosin", "dab"]), numbers)
def test_a_shift_prints_a_name_that_reads_back(kind: str, amount: float) -> None:
    shift = Shift.parse(f"{kind}:{amount}")
    assert Shift.parse(str(shift)) == shift
    assert shift.moves[0].low == shift.moves[0].high == amount


@pytest.mark.parametrize(
    ("name", "printed"),
    [
        ("hue:uniform", "hue:0..360"),
        ("hue:0..240", "hue:0..240"),
        ("hue:-30..30, sat:.1", "hue:-30..30,sat:0.1"),
        ("lum:-0.5..0.5:exact", "lum:-0.5..0.5:exact"),
        ("lum:0.5:clamp", "lum:0.5"),
        ("temp:0.30", "temp:0.3"),
        ("temp:-1..1:exact,tint:0.1:clamp", "temp:-1..1,tint:0.1:clamp"),
        ("sat(space=hsv):0.1:exact,exp:1", "sat(space=hsv):0.1:exact,exp:1"),
        ("gain(direction=1:0:-1):0.5", "gain(direction=1.0:0.0:-1.0):0.5"),
        ("hema(matrix=1:0:0/0:1:0/0:0:1):0.5", "hema(matrix=1.0:0.0:0.0/0.0:1.0:0.0/0.0:0.0:1.0):0.5"),
    ],
)
def test_names_have_one_printed_form(name: str, printed: str) -> None:
    assert str(Shift.parse(name)) == printed


@pytest.mark.parametrize(
    "name",
    [
        "hue",
        "hue:",
        "blue:3",
        "sat:uniform",
        "hue:1..",
        "hue:90:exact",
        "hue:90,",
        "",
        "hue:９０",
        "temp:uniform",
        "hema:1:clamp",
        "gain:1",
        "gain(direction=1:0):1",
    ],
)
def test_an_unknown_shift_is_repeated_beside_examples(name: str) -> None:
    with pytest.raises(ValueError, match="hue:uniform") as error:
        Shift.parse(name)
    assert repr(name) in str(error.value)


def test_an_empty_range_and_an_unknown_action_are_refused() -> None:
    with pytest.raises(ValueError, match="is empty"):
        Shift.parse("hue:240..240")
    with pytest.raises(ValueError, match="'clamp', 'exact'"):
        Shift.parse("sat:0.1:wild")


def test_fixed_shifts_are_the_colour_moves() -> None:
    images, rows = torch.rand(4, 3, 5, 5), torch.arange(4)
    assert torch.equal(Shift.parse("hue:120").apply(images, rows, 0), images.roll(1, 1))
    assert torch.equal(Shift.parse("hue:90").apply(images, rows, 0), color.shift_hue(images, 90))
    paper = color.shift_saturation(images, -0.2, action="clamp")
    assert torch.equal(Shift.parse("sat:-0.2").apply(images, rows, 0), paper)
    exact = color.shift_luminance(images, 0.1, action="exact")
    assert torch.equal(Shift.parse("lum:0.1:exact").apply(images, rows, 0), exact)
    both = Shift.parse("hue:90,sat:-0.2").apply(images, rows, 0)
    assert torch.equal(both, color.shift_saturation(color.shift_hue(images, 90), -0.2, action="clamp"))


def test_each_image_draws_its_own_hue_whatever_the_batch() -> None:
    images, rows = torch.rand(1, 3, 4, 4).expand(50, -1, -1, -1), torch.arange(50)
    shift = Shift.parse("hue:uniform")
    whole = shift.apply(images, rows, seed=3)
    order = torch.randperm(50)
    assert torch.allclose(shift.apply(images, rows[order], seed=3), whole[order], atol=1e-6)
    assert len(whole.unique(dim=0)) == 50
    assert not torch.allclose(shift.apply(images, rows, seed=4), whole, atol=1e-2)


def test_a_grey_digit_is_coloured_by_its_hue_times_its_intensity() -> None:
    intensity = torch.rand(20, 1, 6, 6)
    shift = Shift.parse("hue:240..360")
    coloured = shift.apply(intensity.expand(-1, 3, -1, -1), torch.arange(20), seed=0, gray=True)
    hue, saturation, value = color.rgb_to_hsv(coloured).unbind(1)
    drawn = shift.amounts(torch.arange(20), 0)[0]
    assert ((drawn >= 240) & (drawn < 360)).all()
    assert torch.allclose(value, intensity[:, 0])
    assert torch.allclose(saturation, torch.ones_like(saturation))
    assert torch.allclose(hue, drawn.float()[:, None, None].expand_as(hue), atol=1e-2)


def test_a_fixed_hue_colours_grey_images_too() -> None:
    white = torch.ones(2, 3, 1, 1)
    green = Shift.parse("hue:120").apply(white, torch.arange(2), 0, gray=True)
    assert green[0].flatten().tolist() == [0.0, 1.0, 0.0]


@given(st.floats(10, 359).map(round))
def test_hue_coverage_trains_and_tests_on_complementary_arcs(degrees: int) -> None:
    train, test = (Shift.parse(name).amounts(torch.arange(500), 0)[0] for name in hue_coverage(degrees))
    assert train.min() >= 0
    assert train.max() < degrees <= test.min()
    assert test.max() < 360


def test_an_arc_of_the_whole_circle_is_tested_on_the_circle() -> None:
    assert hue_coverage(360) == ("hue:0..360", "hue:0..360")
    with pytest.raises(ValueError, match="at most 360 degrees, got 361"):
        hue_coverage(361)


def test_light_and_stain_are_shifted_by_the_colour_moves() -> None:
    images, rows = torch.rand(4, 3, 5, 5), torch.arange(4)
    assert torch.equal(Shift.parse("temp:0.3").apply(images, rows, 0), color.shift_temperature(images, 0.3))
    clamped = color.shift_tint(images, 0.3, action="clamp")
    assert torch.equal(Shift.parse("tint:0.3:clamp").apply(images, rows, 0), clamped)
    assert torch.equal(Shift.parse("eosin:0.3").apply(images, rows, 0), color.shift_stain(images, [0, 0.3, 0]))
    shift = Shift.parse("temp:-1..1")
    each = color.shift_temperature(images, shift.amounts(rows, 0)[0].float())
    assert torch.equal(shift.apply(images, rows, 0), each)


def test_light_does_not_colour_grey_images() -> None:
    grey = torch.full((2, 3, 1, 1), 0.5)
    both = Shift.parse("exp:1,hue:120").apply(grey, torch.arange(2), 0, gray=True)
    assert both[0].flatten().tolist() == pytest.approx([0, 0.7310586, 0])


@pytest.mark.parametrize("shift", ["hue:1e400", "sat:-1e999", "hue:0..1e400", "hue:90,hue:1e30", "temp:1e7"])
def test_an_amount_beyond_all_measure_is_refused(shift):
    with pytest.raises(ValueError, match="is too large"):
        Shift.parse(shift)
