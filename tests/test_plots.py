"""Plots: what they show, by what is in them."""

import numpy as np
import pytest
import torch

from equicolor.plots import contact_sheet, plot_curve


def test_a_curve_shows_errors_in_percent_and_the_elements_of_the_group():
    axes = plot_curve("hue", {0.0: 0.1, 180.0: 0.4}, "a title", order=4).axes[0]
    assert axes.lines[0].get_ydata() == pytest.approx([10, 40])
    assert len(axes.lines) == 1 + 5  # 0°, 90°, 180°, 270°, 360°
    assert axes.get_ylim()[1] > 40
    assert axes.get_title() == "a title"


def test_a_contact_sheet_holds_the_images_in_their_order():
    shades = torch.tensor([10, 200, 90], dtype=torch.uint8)
    images = shades.view(3, 1, 1, 1).expand(-1, 3, 32, 32)
    sheet = np.asarray(contact_sheet(images, [("first", [2, 0]), ("none", []), ("second", [1])]))
    flat = sheet[:, 120, 0]
    assert (flat == 90).sum() == 64  # thumbnails of 64 pixels, the first of each section at the left
    assert (flat == 200).sum() == 64
    assert (sheet[:, 190, 0] == 10).sum() == 64
    assert np.flatnonzero(flat == 90)[0] < np.flatnonzero(flat == 200)[0]


def test_the_axis_of_a_curve_is_what_is_shifted_in_its_unit():
    assert plot_curve("hue", {0.0: 0.1}).axes[0].get_xlabel() == "hue shift in °"
    light = plot_curve("temp", {-1.0: 0.1, 1.0: 0.2}, order=3).axes[0]
    assert light.get_xlabel() == "temperature shift"
    assert len(light.lines) == 1  # the error need not repeat at the elements of a window
