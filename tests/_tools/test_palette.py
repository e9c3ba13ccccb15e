"""The palette: a network has one colour everywhere, and kinds of networks are told apart by the colour-blind, too."""

import itertools
import re
from pathlib import Path

import numpy as np
import pytest

import equicolor.app
from equicolor._tools.palette import COLORS, kind_of, network_color

#: Linear RGB as seen without red, green or blue cones (Machado, Oliveira and Fernandes, 2009).
BLINDNESS = {
    "none": np.eye(3),
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritanopia": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


def lab(color, blindness):
    """Where a colour lies in CIELAB, as it is seen."""
    srgb = np.array([int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)])
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    seen = np.clip(np.asarray(BLINDNESS[blindness]) @ linear, 0, 1)
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    x, y, z = np.cbrt(np.maximum(to_xyz @ seen / (0.9505, 1.0, 1.089), 1e-9))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("blindness", BLINDNESS)
def test_kinds_of_networks_are_told_apart(blindness):
    seen = {kind: lab(color, blindness) for kind, color in COLORS.items()}
    apart = {pair: np.linalg.norm(seen[pair[0]] - seen[pair[1]]) for pair in itertools.combinations(seen, 2)}
    assert min(apart.values()) > 15, min(apart, key=lambda pair: apart[pair])


@pytest.mark.parametrize(
    "labels",
    [
        ("Hue-4", "hue4", "Hue-4, tuned", "Hue-4*", "z2cnn, hue4, 21,768 parameters"),
        ("Z2CNN", "plain", "ResNet18", "z2cnn, no group", "cells, Z2CNN"),
        ("Z2CNN, grey", "gray", "plain, grey"),
        ("hue-jitter", "plain, jitter of light", "ResNet-aug"),
        ("canonical:temp-tint", "canonical light, jitter of light", "canonicalised around plain"),
        ("CEConv-3", "ceconv3", "CEConv-3*"),
        ("Light-3, replicated", "light-3"),
    ],
)
def test_a_network_has_the_same_colour_whatever_table_it_is_in(labels):
    assert len({network_color(label) for label in labels}) == 1


def test_orders_of_a_group_are_shades_of_one_colour():
    shades = [lab(network_color(f"hue{order}"), "none")[0] for order in (3, 4, 6, 12)]
    assert shades == sorted(shades, reverse=True)
    assert len({network_color(f"Hue-{order}") for order in (3, 4, 6, 12)}) == 4


def test_a_network_of_somebody_else_has_a_colour_that_stays():
    assert kind_of("swap3") == "other"
    assert network_color("swap3") == network_color("swap3")


def test_the_page_of_the_app_has_the_same_colours():
    style = (Path(equicolor.app.__file__).parent / "style.css").read_text(encoding="utf-8")
    light = re.search(r":root \{(.*?)\}", style)[1]
    assert f"--ec-plain: {COLORS['plain']}" in light
    assert f"--ec-ours: {COLORS['hue']}" in light
