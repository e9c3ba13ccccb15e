"""Equivariance errors of trained networks: the whole path on embedded digits, and the claims on its numbers."""

import json

import pytest
import torch

from equicolor import cli
from equicolor.color import rotate_rgb
from equicolor.experiments.equivariance import CECONV, HUE_SHIFT, OURS, PLACES, RGB_ROTATION, RotatedRGB

TINY = ["data=hue_shift_digits", "test_splits=test_a", "train_size=64", "test_size=64", "epochs=1", "batch_size=32"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The experiment with networks of two steps; equivariance does not wait for training."""
    folder = tmp_path_factory.mktemp("equivariance")
    changes = [f"{label}:{change}" for label in (OURS, CECONV) for change in TINY]
    assert cli.main(["reproduce", "equivariance", "--quick", "--folder", str(folder), "--reduce", *changes]) == 0
    return folder


@pytest.fixture(scope="module")
def errors(folder):
    """The error by network, move, precision, layer and degrees."""
    records = json.loads((folder / "equivariance" / "metrics.json").read_text())["records"]
    return {(r["network"], r["move"], r["precision"], r["layer"], r["degrees"]): r["error"] for r in records}


@pytest.mark.parametrize("place", ["lifting layer", "first feature map"])  # further on, it depends on what was learned
@pytest.mark.parametrize("degrees", [90.0, 180.0, 270.0])
def test_ceconvs_error_is_more_than_three_orders_of_magnitude_higher(errors, place, degrees):
    ours = errors[OURS, HUE_SHIFT, "float32", PLACES[place][OURS], degrees]
    theirs = errors[CECONV, HUE_SHIFT, "float32", PLACES[place][CECONV], degrees]
    assert 0 < 1000 * ours < theirs


def test_our_error_is_rounding_and_ceconvs_is_not(errors):
    ours = {key: error for key, error in errors.items() if key[0] == OURS}
    assert max(error for key, error in ours.items() if key[2] == "float32") < 1e-5
    assert max(error for key, error in ours.items() if key[2] == "float64") < 1e-14
    for move in (HUE_SHIFT, RGB_ROTATION):
        assert errors[CECONV, move, "float64", "layers.0", 90.0] > 1e-3


def test_the_identity_moves_nothing(errors):
    assert {error for key, error in errors.items() if key[1] == HUE_SHIFT and key[4] == 0} == {0.0}


def test_ceconvs_own_move_is_the_clamped_rotation():
    images = torch.rand(2, 3, 4, 4)
    assert torch.equal(RotatedRGB(4).act_on_images(1, images), rotate_rgb(images, 90))
    assert torch.equal(RotatedRGB(4).act_on_features(1, torch.arange(4)), torch.tensor([1, 2, 3, 0]))


def test_the_table_shows_what_was_reduced_and_the_ratio_beside_the_papers(folder):
    text = (folder / "equivariance" / "table.md").read_text()
    assert "CEConv-4 / Hue-4, float32" in text
    assert "> 1,000" in text
    assert "64 training images" in text
    assert (folder / "equivariance" / "equivariance.png").read_bytes().startswith(b"\x89PNG")


def test_finished_runs_are_not_repeated(folder, monkeypatch):
    def never(*arguments, **keywords):
        raise AssertionError("trained again")

    monkeypatch.setattr("equicolor.comparison._runs.fit", never)
    changes = [f"{OURS}:{change}" for change in TINY]
    command = ["reproduce", "equivariance", "--quick", "--folder", str(folder), "--rows", OURS, "--reduce", *changes]
    assert cli.main([*command, "--debug"]) == 0
