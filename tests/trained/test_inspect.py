"""Inspection: the maps of every element, the errors of every layer, also of networks without a group."""

import pytest
import torch

import equicolor as ec
from equicolor.trained import inspect_model, plot_inspection


def test_the_maps_are_those_of_the_layer_under_every_element():
    model = ec.create_model("z2cnn", "hue3").eval()
    image = torch.rand(3, 28, 28)
    seen = inspect_model(model, image, layer="layers.0", channels=4)
    with torch.no_grad():
        expected = model.layers[0](model.lift(image[None]))
    torch.testing.assert_close(seen.maps, expected[:, list(seen.channels)])
    torch.testing.assert_close(seen.images[1], ec.color.shift_hue(image, 120))
    assert seen.elements == ("hue +0°", "hue +120°", "hue +240°")
    assert list(seen.errors)[-1] == "output"
    assert max(float(error.max()) for error in seen.errors.values()) < 1e-5


def test_a_conventional_network_is_shown_what_it_makes_of_moved_images():
    model = ec.create_model("z2cnn", None).eval()
    image = torch.rand(3, 28, 28)
    seen = inspect_model(model, image, layer="layers.0", group="hue4")
    with torch.no_grad():
        expected = model.layers[0](ec.color.shift_hue(image, 180)[None])
    torch.testing.assert_close(seen.maps[2], expected[0, list(seen.channels)])
    assert seen.errors["output"][1] > 1e-4  # it is not invariant


def test_the_last_map_that_can_be_looked_at_is_the_default():
    seen = inspect_model(ec.create_model("z2cnn", "hue3"), torch.rand(3, 28, 28))
    assert seen.maps.shape[2:] == (4, 4)


def test_the_picture_has_a_row_for_each_element_and_a_bar_for_each_layer():
    seen = inspect_model(ec.create_model("z2cnn", "hue3"), torch.rand(3, 28, 28), channels=2)
    top, bottom = plot_inspection(seen).subfigs
    assert len(top.axes) == 3 * (1 + 2)
    assert len(bottom.axes[0].patches) == len(seen.errors)


def test_wrong_layers_and_numbers_of_channels_are_refused():
    model, image = ec.create_model("z2cnn", "hue3"), torch.rand(3, 28, 28)
    with pytest.raises(ValueError, match="no layer 'x' in this network"):
        inspect_model(model, image, layer="x")
    with pytest.raises(ValueError, match="no feature map under each of 3"):
        inspect_model(model, image, layer="head.2")
    with pytest.raises(ValueError, match="channels must be positive"):
        inspect_model(model, image, channels=0)
