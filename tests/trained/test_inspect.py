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


@pytest.mark.parametrize(("network", "layer"), [("z2cnn", "layers.2"), ("resnet18", "stem.2")])
def test_an_early_layer_is_the_default(network, layer):
    seen = inspect_model(ec.create_model(network, "hue3"), torch.rand(3, 32, 32))
    assert f"layer {layer} under hue3" in seen.title
    assert min(seen.maps.shape[2:]) >= 26


def test_moving_the_colours_moves_the_rows_of_a_group_network():
    seen = inspect_model(ec.create_model("z2cnn", "hue4"), torch.rand(3, 28, 28))
    assert [match.row for match in seen.matches] == [1, 2, 3, 0]
    assert all(match.same for match in seen.matches)
    assert seen.said()[0].startswith("Moved by hue +90°: The maps are the same, in other rows")
    torch.testing.assert_close(seen.after[0], seen.maps[1], atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(seen.after_images[0], seen.images[1], atol=1e-5, rtol=0)


def test_the_same_map_has_the_same_frame_on_both_sides():
    seen = inspect_model(ec.create_model("z2cnn", "hue3"), torch.rand(3, 28, 28), channels=2)
    sides = plot_inspection(seen).subfigs[0].subfigs
    before, after = ([axes.spines["left"].get_edgecolor() for axes in side.axes] for side in sides)
    rows = list(range(0, 9, 3))
    assert [len(side.axes) for side in sides] == [9, 9]
    assert len({before[row] for row in rows}) == 3
    assert [after[row] for row in rows] == [before[row] for row in (3, 6, 0)]
    numbers = [axes.texts[0].get_text() for axes in sides[1].axes[::3]]
    assert numbers == ["2", "3", "1"]


def test_the_layer_chart_appears_only_where_layers_differ():
    image = torch.rand(3, 28, 28)
    exact = inspect_model(ec.create_model("z2cnn", "hue3"), image, channels=2)
    assert exact.is_exact
    assert "which is rounding" in exact.said()[-1]
    alike = inspect_model(ec.create_model("z2cnn", None), image, channels=2)
    assert not alike.is_exact
    window = inspect_model(ec.create_model("z2cnn", "sat3(step=1.5)"), image, channels=2)
    for seen, charts in ((exact, 0), (alike, 0), (window, 1)):
        assert seen.has_story == bool(charts)
        parts = plot_inspection(seen).subfigs
        assert len(parts) == 1 + charts
        if charts:
            assert len(parts[1].axes[0].patches) == len(seen.errors)
    assert not alike.matches  # nothing is framed where there is no group
    assert any(not match.same for match in window.matches)  # what came in at the edge


def test_wrong_layers_and_numbers_of_channels_are_refused():
    model, image = ec.create_model("z2cnn", "hue3"), torch.rand(3, 28, 28)
    with pytest.raises(ValueError, match="no layer 'x' in this network"):
        inspect_model(model, image, layer="x")
    with pytest.raises(ValueError, match="no feature map under each of 3"):
        inspect_model(model, image, layer="head.2")
    with pytest.raises(ValueError, match="channels must be positive"):
        inspect_model(model, image, channels=0)
