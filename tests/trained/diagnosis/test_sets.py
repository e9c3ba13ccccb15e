"""Two sets: the move that was made is found, the right family is named, and where there is none nothing is."""

import os
from dataclasses import replace

import numpy as np
import pytest
import torch
from PIL import Image

import equicolor as ec
from equicolor.data import Column, Held, load
from equicolor.groups import _names
from equicolor.trained import diagnose_sets, plot_sets

CELLS = pytest.mark.skipif(
    not os.path.exists(os.path.join(os.environ.get("EQUICOLOR_DATA", ""), "malaria")), reason="needs the cells"
)


@pytest.fixture(scope="module")
def photos():
    """Images of a few colours each, none of them alike: 240 of 12×12."""
    draws = torch.Generator().manual_seed(3)
    base = torch.rand(240, 3, 3, 3, generator=draws) * torch.tensor([0.7, 0.5, 0.4])[:, None, None] + 0.15
    return torch.nn.functional.interpolate(base, (12, 12), mode="nearest")


@pytest.fixture(scope="module")
def halves(photos):
    return photos[:120], photos[120:]


def found(fits, factor):
    return next(fit for fit in fits if [move.factor for move in fit.moves] == [factor])


@pytest.mark.parametrize("amounts", [{"temp": 0.6}, {"temp": -0.5, "exp": 0.6}])
def test_a_change_of_light_is_found_in_its_own_units(halves, amounts):
    source, target = halves
    group = ec.group("-".join(f"{prefix}3" for prefix in amounts))
    diagnosis = diagnose_sets(source, group.move_by(target, list(amounts.values())))
    assert diagnosis.differ
    assert {move.factor for move in diagnosis.best.moves} == set(amounts)
    for move in diagnosis.best.moves:
        assert move.amount == pytest.approx(amounts[move.factor], abs=0.12)
        assert move.spread == 0
    assert diagnosis.best.explained > 0.9
    assert diagnosis.recommendation.how == "canonicalize"
    assert diagnosis.recommendation.canonicalize == "-".join(move.factor for move in diagnosis.best.moves)


def test_many_lamps_are_a_spread_and_no_shift(halves):
    source, target = halves
    lamps = torch.linspace(-1.2, 1.2, len(target))[:, None]
    diagnosis = diagnose_sets(source, ec.Temperature(3).move_by(target, lamps))
    (move,) = diagnosis.best.moves
    assert move.factor == "temp"
    assert move.amount == pytest.approx(0, abs=0.15)
    assert move.spread == pytest.approx(1.2, abs=0.3)
    assert "±" in str(move)


@pytest.mark.parametrize("amount", [40.0, -40.0])
def test_turned_hues_are_told_from_chance_where_most_of_an_image_is_grey(photos, amount):
    pale = 0.7 * photos.mean(1, keepdim=True) + 0.3 * photos * torch.tensor([1.1, 1.0, 0.9])[:, None, None]
    diagnosis = diagnose_sets(pale[:120], ec.color.shift_hue(pale[120:], amount))
    assert diagnosis.differ
    assert diagnosis.best is None or {"hue"} <= {move.factor for move in diagnosis.best.moves}


def test_a_small_change_of_light_on_images_of_one_hue_is_no_turn_of_hue(photos):
    """On colours of one hue a turn does nearly what light does: what is left tells them apart."""
    bluish = 0.35 + 0.3 * photos * torch.tensor([0.6, 0.7, 1.2])[:, None, None]
    diagnosis = diagnose_sets(bluish[:120], ec.color.shift_temperature(bluish[120:], 0.2))
    assert diagnosis.best.family == "light"
    assert next(move.amount for move in diagnosis.best.moves if move.factor == "temp") == pytest.approx(0.2, abs=0.06)


@pytest.mark.parametrize("turn", [False, True])
def test_grey_images_against_colourful_ones_are_a_matter_of_no_move(photos, turn):
    sets = photos[:120].mean(1, keepdim=True).expand(-1, 3, -1, -1), photos[120:]
    diagnosis = diagnose_sets(*sets[:: -1 if turn else 1])
    assert diagnosis.differ
    assert diagnosis.best is None
    assert not diagnosis.covered
    assert diagnosis.recommendation.augment == "gray"
    assert f"The {'target' if turn else 'source'} has no colour" in diagnosis.recommendation.text


def test_black_images_do_not_have_the_colours_of_others(photos):
    diagnosis = diagnose_sets(torch.zeros(60, 3, 8, 8) + 0.02 * torch.rand(60, 3, 1, 1), photos[:60])
    assert diagnosis.differ
    assert not diagnosis.covered


def test_the_end_of_the_search_is_no_measurement(halves):
    diagnosis = diagnose_sets(halves[0], ec.color.shift_exposure(halves[1], 5.0))
    move = found(diagnosis.moves, "exp").moves[0]
    assert move.at_end
    assert str(move).endswith("or beyond")
    assert not any(each.at_end for fit in diagnosis.moves for each in fit.moves if each.factor == "hue")


def test_of_few_images_it_says_that_they_are_few(photos):
    assert "so few images" in diagnose_sets(photos[:8], photos[8:16]).notes[-1]


def test_two_halves_of_one_set_do_not_differ(halves):
    diagnosis = diagnose_sets(*halves)
    assert not diagnosis.differ
    assert diagnosis.best is None
    assert len(plot_sets(diagnosis).axes) >= 2
    assert diagnosis.moves == diagnosis.families == ()
    assert diagnosis.recommendation.text == "Your sets do not differ in colour; look elsewhere."
    assert diagnosis.recommendation.how is None
    assert diagnosis.recommendation.option == ""


def test_chance_alone_is_seldom_taken_for_a_difference(photos):
    told = [
        diagnose_sets(half[:40], half[40:80], seed=seed).differ for seed in range(12) for half in [_dealt(photos, seed)]
    ]
    assert sum(told) <= 1


def _dealt(photos, seed):
    return photos[torch.randperm(len(photos), generator=torch.Generator().manual_seed(seed))]


def test_on_hue_shifted_digits_hue_is_recommended_over_light():
    diagnosis = ec.diagnose(source="hue_shift_digits:train", target="hue_shift_digits:test_b")
    assert [move.factor for move in diagnosis.best.moves] == ["hue"]
    assert abs(diagnosis.best.moves[0].amount) == pytest.approx(180, abs=15)  # from 0..240 to 240..360
    by_family = {fit.family: fit.explained for fit in diagnosis.families}
    assert by_family["HSL"] > by_family["light"] + 0.1
    assert diagnosis.recommendation.group == "hue4"
    assert diagnosis.recommendation.option == "--group 'hue4'"


def test_a_turn_of_all_hues_is_found_to_the_degree():
    diagnosis = diagnose_sets(load("digits", shift="hue:30"), load("digits", split="test", shift="hue:150"), limit=100)
    assert diagnosis.best.moves[0].amount == pytest.approx(120, abs=3)
    assert diagnosis.recommendation.group == "hue3"


def test_red_digits_against_digits_of_all_hues_are_a_spread_of_hue_all_around():
    diagnosis = diagnose_sets(
        load("digits", shift="hue:0"), load("digits", split="test", shift="hue:uniform"), limit=100
    )
    (move,) = diagnosis.best.moves
    assert move.factor == "hue"
    assert move.spread > 120
    assert diagnosis.recommendation.group == "hue4"


def test_where_the_source_has_all_hues_already_there_is_nothing_to_do():
    colourful, red = load("digits", shift="hue:uniform"), load("digits", split="test", shift="hue:0")
    diagnosis = diagnose_sets(colourful, red, limit=100)
    assert diagnosis.differ
    assert diagnosis.covered
    assert diagnosis.best is None
    assert "has seen them" in diagnosis.recommendation.text


def test_two_halves_of_the_digits_do_not_differ():
    digits = load("hue_shift_digits", split="train")
    assert not diagnose_sets(digits.subset(range(0, 1500, 2)), digits.subset(range(1, 1500, 2))).differ


@CELLS
def test_from_blue_to_pink_cells_light_is_recommended_over_hue():
    diagnosis = ec.diagnose(source="malaria:blue_train", target="malaria:pink_test")
    by_family = {fit.family: fit.explained for fit in diagnosis.families}
    assert by_family["light"] > by_family["HSL"]
    assert found(diagnosis.moves, "temp").explained > found(diagnosis.moves, "hue").explained + 0.2
    assert {"temp", "tint"} <= {move.factor for move in diagnosis.best.moves} <= {"temp", "tint", "exp"}
    amounts = {move.factor: move.amount for move in diagnosis.best.moves}
    assert amounts["temp"] == pytest.approx(0.6, abs=0.1)
    assert amounts["tint"] == pytest.approx(-0.2, abs=0.1)
    assert diagnosis.recommendation.how == "canonicalize"
    assert diagnosis.recommendation.canonicalize.startswith("temp-tint")


@CELLS
def test_slides_of_one_stain_do_not_differ():
    assert not ec.diagnose(source="malaria:blue_train", target="malaria:blue_test").differ


def test_slides_are_dealt_whole(photos):
    """Ten slides of a colour of their own: five of them against five is no difference between two labs."""
    digits = load("digits", split="test").sample(200)
    cast = torch.linspace(-0.8, 0.8, 10)
    slides = torch.arange(200) // 20
    images = ec.Temperature(3).move_by(photos[:200], cast[slides][:, None])
    held = replace(
        digits,
        source=Held((255 * images).byte()),
        rows=torch.arange(200),
        original_rows=torch.arange(200),
        gray=False,
        clusters=Column.of([f"slide {number}" for number in slides.tolist()]),
    )
    parts = held.subset(slides % 3 != 1), held.subset(slides % 3 == 1)
    alone = [replace(part, clusters=None) for part in parts]
    assert diagnose_sets(*alone).p_value <= diagnose_sets(*parts).p_value
    few = held.subset(slides < 2), held.subset(slides >= 8)
    assert "too few slides" in diagnose_sets(*few).notes[0]


def test_a_factor_of_ones_own_takes_part(halves, monkeypatch):
    class Swap(ec.Factor):
        prefix, quantity, period = "swap", "channels", 3.0

        def move(self, images, amount):
            return images.roll(round(float(amount)), dims=-3)

    monkeypatch.setitem(_names._FACTORS, "swap", Swap)
    source, target = halves
    diagnosis = diagnose_sets(source, target.roll(1, dims=1))
    assert found(diagnosis.moves, "swap").explained > 0.9
    assert "channels" in {fit.family for fit in diagnosis.families}


def test_folders_need_no_labels_and_nothing_but_images(halves, tmp_path):
    for name, images in zip(("train", "clinic"), (halves[0], ec.Temperature(3).move_by(halves[1], [0.6])), strict=True):
        (tmp_path / name / "deep").mkdir(parents=True)
        for place, image in enumerate(images[:60]):
            array = (255 * image).round().byte().permute(1, 2, 0).numpy()
            Image.fromarray(np.asarray(array)).save(tmp_path / name / ("deep" if place % 2 else "") / f"{place}.png")
        (tmp_path / name / "notes.txt").write_text("no image")
    diagnosis = ec.diagnose(source=tmp_path / "train", target=tmp_path / "clinic")
    assert diagnosis.images == (60, 60)
    assert [move.factor for move in diagnosis.best.moves] == ["temp"]
    assert not any("cannot be read" in note for note in diagnosis.notes)
    (tmp_path / "clinic" / "0.png").write_bytes(b"no image")
    broken = ec.diagnose(source=tmp_path / "train", target=tmp_path / "clinic")
    assert broken.images == (60, 59)
    assert "1 of the files that were looked at cannot be read" in broken.notes[0]


def test_images_are_carried_as_the_best_fit_says_and_always_alike(halves):
    target = ec.Temperature(3).move_by(halves[1], [0.6])
    diagnosis = diagnose_sets(halves[0], target)
    carried = diagnosis.carried(halves[1])
    assert (carried - target).abs().mean() < 0.2 * (halves[1] - target).abs().mean()
    assert diagnose_sets(halves[0], target).summary() == diagnosis.summary()
    assert len(plot_sets(diagnosis).axes) >= 3


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("nowhere/", "there is no folder or file 'nowhere/'"),
        ("malaria2:pink", "there is no folder or file"),
        ("digits:tset", "digits has no split 'tset'"),
        (torch.rand(3, 3, 8, 8), "images has 3 images: colours are compared over 5 at least"),
        (torch.rand(3, 8, 8), r"\(N, 3, H, W\)"),
        (2 * torch.rand(8, 3, 8, 8), r"\[0, 1\]"),
    ],
)
def test_what_is_no_set_is_refused(source, complaint):
    with pytest.raises(ValueError, match=complaint):
        ec.diagnose(source=source, target=torch.rand(8, 3, 8, 8))


def test_two_sets_or_a_network_are_asked_for():
    for arguments in ({}, {"source": "digits"}, {"source": "a", "target": "b", "data": "c"}, {"model": "m"}):
        with pytest.raises(ValueError, match="source and target, or a trained model"):
            ec.diagnose(**arguments)
