import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import equicolor as ec
from equicolor.models import make_kit


@pytest.mark.parametrize(
    ("group", "paper", "fast"),
    [
        (None, [64, 128, 256, 512], [64, 128, 256, 512]),
        ("hue3", [36, 73, 147, 295], [40, 72, 144, 296]),
        ("hue4", [32, 64, 128, 256], [32, 64, 128, 256]),
        ("hue4-sat3", [18, 36, 73, 147], [16, 40, 72, 144]),
        ("ceconv3", [55, 110, 221, 443], [56, 112, 224, 440]),
    ],
)
def test_widths_follow_the_rules_of_the_paper_and_of_speed(group, paper, fast):
    assert make_kit(group, "paper").widths([64, 128, 256, 512]) == paper
    assert make_kit(group, "fast").widths([64, 128, 256, 512]) == fast
    assert make_kit(group, 63).widths([64, 128, 256, 512]) == [63, 126, 252, 504]


@given(n=st.integers(1, 40), width=st.integers(1, 2048))
def test_fast_widths_are_the_nearest_multiples_of_eight_and_never_none(n, width):
    (fast,) = make_kit(ec.Hue(n), "fast").widths([width])
    assert fast % 8 == 0
    assert fast >= 8
    assert abs(fast - width / math.sqrt(n)) <= 4 or fast == 8


@given(n=st.integers(1, 400), width=st.integers(1, 2048))
def test_no_width_is_zero(n, width):
    assert make_kit(ec.Hue(n)).widths([width])[0] >= 1


@pytest.mark.parametrize("width", ["wide", 0, -8, True, 1.5])
def test_an_unknown_width_is_refused(width):
    with pytest.raises(ValueError, match="width must be 'paper', 'fast' or"):
        make_kit("hue4", width)
    with pytest.raises(ValueError, match="width must be 'paper', 'fast' or"):
        ec.create_model("z2cnn", "hue4", width=width)
