"""Sorting by hue: exact on the group, exact for smooth features, near for networks."""

import math

import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st

import equicolor as ec
from equicolor.data import load
from equicolor.experiments.invertibility import shapes
from equicolor.trained import fine_features, hue_factor, hue_positions, layer_features, on_hues, penultimate_map


def apart(first, second):
    """Degrees between two angles, in [0, 180]."""
    return ((first - second + 180) % 360 - 180).abs()


def smooth(angles, hues, highest):
    """Features of one image turned by angles, with random harmonics 1 … highest, (B, hues, 5)."""
    m = torch.arange(1, highest + 1, dtype=torch.float64)
    size, phase = torch.rand(5, highest, dtype=torch.float64) + 0.1, 7 * torch.rand(5, highest, dtype=torch.float64)
    places = torch.arange(hues) * 2 * math.pi / hues + angles.deg2rad()[:, None]
    return (size * torch.cos(m * places[..., None, None] + phase)).sum(-1)


@given(st.integers(3, 12), st.lists(st.floats(0, 359.9), min_size=1, max_size=6), st.integers(0, 99))
@example(hues=10, angles=[269.9375], seed=0)  # close to where one band ends
def test_the_place_is_exact_where_features_are_smooth(hues, angles, seed):
    torch.manual_seed(seed)
    angles = torch.tensor([0.0, *angles], dtype=torch.float64)
    positions = hue_positions(smooth(angles, hues, 1), rounds=0)
    assert apart(positions.degrees, angles).max() < 0.05


@given(st.sampled_from(["hue2", "hue3", "hue4", "hue6", "hue4-sat3", "ceconv3"]), st.integers(0, 5))
def test_the_band_is_the_papers_argmin(name, seed):
    torch.manual_seed(seed)
    model = ec.create_model("z2cnn", name, width=4).eval()
    images = torch.rand(3, 3, 28, 28)
    group = model.group
    with torch.no_grad():
        features = model.features(images)
    positions = hue_positions(on_hues(features, group), reference=0, rounds=0)
    hues = hue_factor(group).order
    element = (lambda k: (k, 0)) if "-" in name else (lambda k: k)
    maps = group.split(features)
    for other in range(3):
        one, two = (maps.select(len(group.shape), i).flatten(0, len(group.shape) - 1) for i in (0, other))
        distances = [(group.act_on_features(element(k), one) - two).norm().item() for k in range(hues)]
        assert distances[positions.band[other]] == pytest.approx(min(distances), rel=1e-5)


def test_turning_an_image_by_the_group_moves_it_by_whole_bands():
    model = ec.create_model("z2cnn", "hue6").eval()
    image = torch.rand(1, 3, 28, 28)
    images = torch.cat([ec.color.shift_hue(image, 60.0 * k) for k in range(6)])
    with torch.no_grad():
        positions = hue_positions(fine_features(model.features, images, model.group, 3), substeps=3, rounds=0)
    assert positions.band.tolist() == [0, 1, 2, 3, 4, 5]
    assert apart(positions.degrees, torch.arange(6) * 60.0).max() < 0.1
    assert positions.order.tolist() == [0, 1, 2, 3, 4, 5]
    assert positions.alignment.min() > 0.99


def test_substeps_find_angles_between_the_elements_that_the_elements_alone_do_not():
    torch.manual_seed(0)
    model = ec.create_model("z2cnn", "hue3").eval()
    image = shapes(1)
    angles = torch.linspace(0, 350, 36)
    images = ec.color.shift_hue(image.expand(36, -1, -1, -1), angles)
    error = {}
    for substeps in (1, 4):
        with torch.no_grad():
            features = fine_features(model.features, images, model.group, substeps)
        error[substeps] = apart(hue_positions(features, rounds=0, substeps=substeps).degrees, angles).mean()
    assert error[4] < 3
    assert error[4] < error[1] / 3


def test_different_digits_are_sorted_by_their_hue():
    torch.manual_seed(0)
    digits = load("digits", split="test", shift="hue:uniform").sample(60)
    model = ec.create_model("z2cnn", "hue4").eval()
    with torch.no_grad():
        features = fine_features(model.features, digits[:].images, model.group, 3)
    positions = hue_positions(features, substeps=3)
    hues = digits.shift.amounts(digits.original_rows, digits.seed, digits.draws)[0]
    assert positions.band[0] == 0
    error = apart(positions.degrees - positions.degrees[0], hues - hues[0])
    assert error.median() < 15  # chance is 90


def test_grey_images_have_no_hue_and_come_last():
    model = ec.create_model("z2cnn", "hue4").eval()
    grey = torch.rand(1, 1, 28, 28).expand(-1, 3, -1, -1)
    images = torch.cat([grey, torch.rand(2, 3, 28, 28)])
    with torch.no_grad():
        features = fine_features(model.features, images, model.group)
    positions = hue_positions(features)
    assert positions.degrees.isnan().tolist() == [True, False, False]
    assert positions.order[-1] == 0
    assert positions.band[1] == 0  # the first with a hue is the reference
    with pytest.raises(ValueError, match="image 0 has no hue"):
        hue_positions(features, reference=0)
    with pytest.raises(ValueError, match="all grey"):
        hue_positions(features[:1])


def test_the_penultimate_map_stands_before_the_last_weights():
    images = torch.rand(1, 3, 32, 32)
    for name, layer in (("z2cnn", "layers.18"), ("resnet44", "stages.2.6.activation")):
        model = ec.create_model(name, "hue3", width=4).eval()
        assert penultimate_map(model, images, model.group) == layer
    torch.testing.assert_close(layer_features(model, layer)(images), model.features(images))


def test_a_network_without_hues_cannot_sort():
    for group in (None, ec.Saturation(3), ec.Hue(1)):
        with pytest.raises(ValueError, match="a group with hues"):
            hue_factor(group)
