"""Sorting as an experiment: its measures, and the whole path on embedded digits."""

import json

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from equicolor import cli
from equicolor.color import shift_hue
from equicolor.experiments.sorting import agreement, dominant_hue, neighbour_difference

ANGLES = st.lists(st.floats(0, 360), min_size=2, max_size=20).map(torch.tensor)


@given(degrees=st.floats(0, 359))
def test_the_dominant_hue_turns_with_the_image(degrees):
    images = torch.rand(2, 3, 6, 6, generator=torch.Generator().manual_seed(0)).double()
    images[:, 0] = images[:, 0] * 0.5 + 0.5  # towards red, so that there is a dominant hue
    before, chroma = dominant_hue(images)
    after, same = dominant_hue(shift_hue(images, degrees))
    apart = (after - before - degrees + 180) % 360 - 180
    assert apart.abs().max() < 1e-6
    assert torch.allclose(chroma, same)


@given(hue=ANGLES, turn=st.floats(-360, 360))
def test_angles_that_differ_by_a_constant_agree_wholly(hue, turn):
    resultant, error = agreement(hue + turn, hue)
    assert resultant == pytest.approx(1, abs=1e-6)
    assert error < 0.01


def test_unrelated_angles_are_90_degrees_apart():
    generator = torch.Generator().manual_seed(0)
    found, hue = 360 * torch.rand(2, 20_000, generator=generator)
    resultant, error = agreement(found, hue)
    assert resultant < 0.03
    assert error == pytest.approx(90, abs=2)
    assert neighbour_difference(hue, torch.arange(len(hue))) == pytest.approx(90, abs=2)


def test_a_circle_of_hues_walked_backwards_does_not_agree():
    hue = torch.arange(0, 360, 10.0)
    assert agreement(-hue, hue)[0] < 1e-6


def test_neighbours_in_the_order_of_hues_are_close_across_red_too():
    hue = torch.tensor([350.0, 10.0, 180.0])
    assert neighbour_difference(hue, torch.tensor([0, 1])) == pytest.approx(20, abs=1e-3)


def test_the_quick_version_sorts_by_networks_with_and_without_a_group(tmp_path):
    labels = ("Hue-4", "Z2CNN")
    changes = [f"{row}:{change}" for row in labels for change in ("train_size=64", "epochs=1")]
    command = ["reproduce", "sorting", "--quick", "--folder", str(tmp_path), "--rows", *labels, "--reduce", *changes]
    assert cli.main(command) == 0
    folder = tmp_path / "sorting"
    records = json.loads((folder / "metrics.json").read_text())["records"]
    assert [(r["network"], r["feature"]) for r in records] == [("Hue-4", "map"), ("Hue-4", "mean"), ("Z2CNN", "map")]
    # Equivariance alone, without learning, orders hues better than chance.
    assert records[1]["agreement"] > 0.8
    assert records[1]["neighbours"] < 45 < records[2]["neighbours"]
    assert "agreement" not in records[2]
    for name in ("sorting", "sorted-hue-4", "sorted-z2cnn"):
        assert (folder / f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_without_cifar10_the_full_version_says_what_to_put_where_before_any_training(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("EQUICOLOR_DATA", str(tmp_path / "nothing"))
    assert cli.main(["reproduce", "sorting", "--folder", str(tmp_path)]) == 1
    assert "cifar10 is not there" in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()
