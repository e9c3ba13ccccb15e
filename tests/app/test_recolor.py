"""What the first tab computes: moves, answers, curves, bars."""

import pytest
import torch

from equicolor.app._bars import bars
from equicolor.app._chart import chart
from equicolor.app._moves import all_moves, moved
from equicolor.app._networks import set_stage
from equicolor.app._recolor import Recolored
from equicolor.app._tab_recolor import Recolor
from equicolor.groups import registered_factors, rgb_factors

MOVES = all_moves()


def test_there_is_a_slider_for_every_registered_move_of_rgb():
    assert set(MOVES) == set(rgb_factors()) <= set(registered_factors())
    assert {"hue", "sat", "lum", "temp", "tint", "exp"} <= set(MOVES)


@pytest.mark.parametrize("prefix", list(MOVES))
def test_a_curve_begins_and_ends_where_its_slider_does_and_stops_at_no_move(prefix):
    move = MOVES[prefix]
    places = move.places()
    assert (places[0], places[-1]) == (move.low, move.high)
    assert 0.0 in places.tolist()
    assert places.diff().min() > 0


def test_sliders_at_rest_leave_the_image_as_it_is(cube):
    image = cube.tensor()
    assert torch.equal(moved(image, dict.fromkeys(MOVES, 0.0)), image)


@pytest.mark.parametrize("turn", [90.0, 180.0, 270.0])
def test_ours_holds_at_the_elements_of_its_group(stage, cube, turn):
    answers = Recolored()
    still, turned = (answers.answer(stage["Hue-4"], cube, {"hue": far}, MOVES["hue"]) for far in (0.0, turn))
    assert torch.allclose(still.probabilities, turned.probabilities, atol=1e-4)


def test_the_plain_network_loses_what_ours_keeps(stage, cube):
    answers = Recolored()
    plain, ours = (answers.answer(stage[name], cube, {"hue": 180.0}, MOVES["hue"]) for name in ("Plain", "Hue-4"))
    assert (plain.says, ours.says) == ("capsule", "cube")
    assert ours.curve.min() > 0.8
    assert plain.curve.min() < 0.1


def test_the_network_for_light_keeps_what_the_plain_one_loses(stage, cube):
    answers = Recolored()
    titles = ("Plain", "Light, canonicalised")
    plain, ours = (answers.answer(stage[title], cube, {"temp": 1.0}, MOVES["temp"]) for title in titles)
    assert plain.says != "cube"
    assert ours.says == "cube"


def test_the_curve_has_the_value_of_the_bars_where_the_slider_stands(stage, cube):
    move = MOVES["hue"]
    answer = Recolored().answer(stage["Plain"], cube, {"hue": 90.0, "temp": 0.5}, move)
    place = move.places().tolist().index(90.0)
    assert torch.isclose(answer.curve[place], answer.probabilities[answer.truth], atol=1e-4)


def test_sliding_along_a_curve_computes_it_once(stage, cube, monkeypatch):
    answers, network = Recolored(), stage["Plain"]
    seen = []
    ask = network.probabilities
    monkeypatch.setattr(network, "probabilities", lambda images: seen.append(len(images)) or ask(images))
    for far in (0.0, 10.0, 20.0):
        answers.answer(network, cube, {"hue": far}, MOVES["hue"])
    assert seen.count(MOVES["hue"].points + 1) == 1


def test_where_nobody_knows_the_class_the_one_first_named_is_followed(stage, cube):
    from dataclasses import replace

    unknown = replace(cube, label=None)
    answer = Recolored().answer(stage["Hue-4"], unknown, {"hue": 180.0}, MOVES["hue"], "I do not know")
    assert answer.network.classes[answer.truth] == "cube"


def test_names_are_escaped(stage, cube):
    from dataclasses import replace

    shown = Recolor(stage).shown(replace(cube, name="<script>"), "Hue-4", "cube", "hue", *(0.0 for _ in MOVES))
    assert "<script>" not in "".join(shown)


def test_bars_and_chart_have_all_networks_and_the_position(stage, cube):
    answers = [Recolored().answer(stage[name], cube, {"hue": 90.0}, MOVES["hue"]) for name in ("Plain", "Hue-4")]
    page = bars(answers, "Plain")
    assert page.count('class="ec-bar') - page.count('class="ec-bars"') == 8
    drawn = chart(answers, MOVES["hue"], 90.0, "Plain")
    assert drawn.count("<polyline") == 2
    assert 'x1="155.5"' in drawn  # a quarter of the way from 54 to 460


def test_a_network_of_other_classes_stands_alone_and_beside_is_checked(tmp_path):
    import equicolor as ec

    other = ec.create_model("z2cnn", num_classes=3).eval()
    ec.save_pretrained(other, tmp_path / "three", classes=["a", "b", "c"])
    alone = set_stage(str(tmp_path / "three"))
    assert alone.plain is None
    assert [network.title for network in alone.networks] == ["three"]
    with pytest.raises(ValueError, match="know the same classes"):
        set_stage(str(tmp_path / "three"), beside="equicolor/shapes-plain")
    with pytest.raises(ValueError, match="give that one first"):
        set_stage(beside="equicolor/shapes-plain")


def test_a_network_of_the_same_classes_stands_beside_the_plain_one():
    stage = set_stage("equicolor/shapes-hue4")
    assert [network.title for network in stage.networks] == ["Plain", "Hue-4"]
    assert [network.title for network in set_stage("equicolor/cells-gains").networks] == ["cells-plain", "cells-gains"]
