"""Plots: what they show, by what is in them."""

import pytest

from equicolor._tools.palette import COLORS
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


def test_the_plain_network_is_drawn_beside_in_its_own_colour():
    against = {"z2cnn, no group": {0.0: 0.0, 180.0: 0.6}}
    axes = plot_curve("hue", {0.0: 0.0, 180.0: 0.0}, network="z2cnn, hue4", against=against).axes[0]
    assert [line.get_color() for line in axes.lines] == [COLORS["hue"], COLORS["plain"]]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["z2cnn, hue4", "z2cnn, no group"]
    assert axes.get_ylim()[1] > 60


def test_several_sets_of_one_network_have_its_colour_and_lines_of_their_own():
    curves = {"pink": {0.0: 0.1, 1.0: 0.2}, "blue": {0.0: 0.2, 1.0: 0.3}}
    pink, blue = plot_curve("temp", curves, network="plain").axes[0].lines
    assert pink.get_color() == blue.get_color() == COLORS["plain"]
    assert pink.get_linestyle() != blue.get_linestyle()
    assert [pink.get_label(), blue.get_label()] == ["pink", "blue"]
