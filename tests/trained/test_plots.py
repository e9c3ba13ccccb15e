"""Plots: what they show, by what is in them."""

import pytest

from equicolor.trained import plot_curve


def test_a_curve_shows_errors_in_percent_and_the_elements_of_the_group():
    axes = plot_curve("hue", {0.0: 0.1, 180.0: 0.4}, "a title", order=4).axes[0]
    assert axes.lines[0].get_ydata() == pytest.approx([10, 40])
    assert len(axes.lines) == 1 + 5  # 0°, 90°, 180°, 270°, 360°
    assert axes.get_ylim()[1] > 40
    assert axes.get_title() == "a title"


def test_the_axis_of_a_curve_is_what_is_shifted_in_its_unit():
    assert plot_curve("hue", {0.0: 0.1}).axes[0].get_xlabel() == "hue shift in °"
    light = plot_curve("temp", {-1.0: 0.1, 1.0: 0.2}, order=3).axes[0]
    assert light.get_xlabel() == "temperature shift"
    assert len(light.lines) == 1  # the error need not repeat at the elements of a window
