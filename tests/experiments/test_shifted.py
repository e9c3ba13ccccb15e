"""Exact against clamped action: how errors under shifts are averaged and compared, and CIFAR-10 with them."""

import os
from dataclasses import replace

import pytest

from equicolor.cli import main
from equicolor.experiments import saturation
from equicolor.experiments._shifted import Part, _tables
from small import SMALL, made_up, small_row

PART = Part("toy", "Toys", "hue_shift_digits", {}, {"test_a": "A/A", "test_b": "A/B"}, 10)


@pytest.fixture
def few_images(monkeypatch):
    for part in ("_SHAPES", "_CIFAR"):
        monkeypatch.setattr(saturation, part, replace(getattr(saturation, part), images=16))


def point(network, seed, action, shift, error):
    return {"network": network, "seed": seed, "action": action, "shift": shift, "error": error}


def compared(seeds_of_exact=(1, 2)):
    """Two networks: the exact one's error is half of the clamped one's, which is 10 % and 20 % for seeds 1, 2."""
    seeds = {"X-clamp": (1, 2), "X-exact": seeds_of_exact}
    scale = {"X-clamp": 0.1, "X-exact": 0.05}
    runs = {
        label: [made_up(SMALL.replace(seed=seed), scale[label] * seed) for seed in those]
        for label, those in seeds.items()
    }
    curves = [
        point(label, seed, action, shift, scale[label] * seed + 0.1 * abs(shift))
        for label, those in seeds.items()
        for seed in those
        for action, shifts in {"clamp": (-0.1, 0.0, 0.3), "exact": (-0.4, 0.0, 0.4)}.items()
        for shift in shifts
    ]
    return _tables(PART, [small_row("X-clamp"), small_row("X-exact")], runs, curves)


def test_errors_under_shifts_are_means_over_the_shifts_that_move_anything():
    errors, _ = compared()
    assert errors.columns == ["network", "A/A", "A/B", "clamped shifts", "exact shifts", "seeds", "parameters"]
    assert errors.rows[0] == ["X-clamp", "15.00 (7.07)", "16.00 (7.07)", "17.00 (7.07)", "19.00 (7.07)", "2", "12,345"]


def test_actions_are_compared_seed_by_seed():
    _, difference = compared()
    # -5 for seed 1 and -10 for seed 2: the deviation is that of the difference, not of the errors.
    assert difference.rows == [["X-exact – X-clamp", *["-7.50 (3.54)"] * 4]]


def test_only_seeds_that_both_have_are_compared():
    _, difference = compared(seeds_of_exact=(2, 3))
    assert difference.rows == [["X-exact – X-clamp", *["-10.00"] * 4]]
    _, difference = compared(seeds_of_exact=(3,))
    assert difference.rows == [["X-exact – X-clamp", "", "", "", ""]]


def test_a_network_without_its_counterpart_is_not_compared():
    runs = {"X-exact": [made_up(SMALL, 0.1)]}
    curves = [point("X-exact", SMALL.seed, action, 0.1, 0.2) for action in ("clamp", "exact")]
    assert len(_tables(PART, [small_row("X-exact")], runs, curves)) == 1


@pytest.mark.skipif(not os.environ.get("EQUICOLOR_DATA"), reason="needs CIFAR-10 in EQUICOLOR_DATA")
def test_cifar10_is_trained_as_it_is_and_tested_under_shifts(tmp_path, few_images, capsys):
    row = "CIFAR-Sat-3-exact"
    sizes = [f"{row}:{change}" for change in ("train_size=32", "test_size=32", "batch_size=16", "seeds=1")]
    assert main(["reproduce", "saturation", "--rows", row, "--reduce", *sizes, "--folder", str(tmp_path)]) == 0
    assert "CIFAR-10: error in %" in capsys.readouterr().out
    assert (tmp_path / "saturation" / "saturation-cifar10.png").is_file()


def test_without_cifar10_the_shapes_go_on_and_the_rest_is_said(tmp_path, few_images, monkeypatch, capsys):
    monkeypatch.setenv("EQUICOLOR_DATA", str(tmp_path / "nothing"))
    sizes = [f"Z2CNN:{change}" for change in ("train_size=32", "test_size=32", "batch_size=16", "seeds=1")]
    assert main(["reproduce", "saturation", "--rows", "Z2CNN", "--reduce", *sizes, "--folder", str(tmp_path)]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "CIFAR-10 is left out. cifar10 is not there. Put into" in shown
    assert "Embedded shapes: error in %" in shown
