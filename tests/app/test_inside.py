"""A look inside: rows move with the colours, layers have names, channels are those in which something happens."""

import torch

import equicolor as ec
from equicolor.app._inside import layers_of, look_inside, move_of, usual_layer
from equicolor.app._layers import LIFT, layer_names
from equicolor.app._rows import rows
from equicolor.app._tab_inside import inside_page
from equicolor.measure import layer_outputs
from equicolor.trained import matching_rows


def test_a_turn_by_one_element_moves_every_row_by_one_place_in_every_layer(stage, cube):
    network = stage["Hue-4"]
    for layer in layers_of(network, cube):
        found = look_inside(network, cube, 90.0, layer).matches
        assert all(match.same for match in found), layer
        assert [match.row for match in found] == [1, 2, 3, 0], layer


def test_no_turn_moves_nothing_and_half_an_element_leaves_no_map_the_same(stage, cube):
    layer = "after the second convolution, rectified"
    assert [match.row for match in look_inside(stage["Hue-4"], cube, 0.0, layer).matches] == [0, 1, 2, 3]
    assert not any(match.same for match in look_inside(stage["Hue-4"], cube, 45.0, layer).matches)


def test_rows_of_a_gray_image_are_all_alike_and_stay_where_they_are():
    maps = torch.rand(1, 3, 5, 5).expand(4, -1, -1, -1)
    assert [match.row for match in matching_rows(maps, maps)] == [0, 1, 2, 3]


def test_the_channels_that_are_shown_are_those_in_which_most_happens(stage, cube):
    network, layer = stage["Hue-4"], "after the third convolution, rectified"
    shown, every = (look_inside(network, cube, 90.0, layer, channels=count) for count in (3, 100))
    happens = torch.cat([every.before, every.after]).transpose(0, 1).flatten(1).std(1)
    assert set(shown.channels) == set(happens.topk(3).indices.tolist())


def test_layers_have_names_that_say_where_they_are():
    model = ec.create_model("resnet18", "hue3").eval()
    names = layer_names(model, layer_outputs(model, torch.rand(1, 3, 32, 32)), 3)
    assert next(iter(names)) == LIFT
    assert "after the first convolution" in names
    assert len(set(names.values())) == len(names)
    assert any(name.startswith("after the 12th convolution") for name in names)


def test_of_the_plain_network_there_is_one_row_which_changes(stage, cube):
    page = inside_page(stage, cube, "Plain", 180.0, usual_layer(layers_of(stage["Plain"], cube)))
    assert "one row, and it changes" in page


def test_a_canonicalised_network_is_moved_by_light_and_shows_what_it_makes_of_it(stage, cube):
    network = stage["Light, canonicalised"]
    assert move_of(network).prefix == "temp"
    seen = look_inside(network, cube, 0.8, usual_layer(layers_of(network, cube)))
    assert torch.allclose(*seen.canonical, atol=0.05)
    assert "canonicaliser" in rows(seen, "temperature", "0.8")
