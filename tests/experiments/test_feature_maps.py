"""Feature maps as pictures: which maps correspond, and the whole path with barely trained networks."""

import json

import pytest
import torch

import equicolor as ec
from equicolor import cli
from equicolor.experiments.feature_maps import correspondence, maps

TINY = ["data=hue_shift_digits", "test_splits=test_a", "train_size=64", "test_size=64", "epochs=1", "batch_size=32"]


@pytest.mark.parametrize("layer", ["lift", "layers.0", "layers.3"])
def test_the_maps_of_a_moved_image_are_those_of_the_image_permuted(layer):
    torch.manual_seed(0)
    found = maps(ec.create_model("z2cnn", "hue4"), ec.Hue(4), torch.rand(3, 28, 28), layer)
    assert found.shift == [1, 2, 3, 0]
    assert (found.moved - found.still[found.shift]).norm() < 1e-5 * found.still.norm()
    assert (found.moved - found.still).norm() > 1e-2 * found.still.norm()


@pytest.mark.parametrize("name", ["sat3", "lum3"])
def test_the_lift_to_a_truncated_group_shifts_where_the_window_knows(name):
    torch.manual_seed(0)
    found = maps(ec.create_model("z2cnn", name), ec.group(name), torch.rand(3, 28, 28), "lift")
    assert found.shift == [1, 2, None]
    assert (found.moved[:2] - found.still[1:]).abs().max() < 1e-5
    assert found.error < 1e-6


def test_correspondence_is_the_action_on_features():
    features = torch.rand(12, 2)
    group = ec.group("hue4-sat3")
    rows = correspondence(group, (1, -1))
    moved = group.act_on_features((1, -1), features)
    for row, source in enumerate(rows):
        assert torch.equal(moved[row], torch.zeros(2) if source is None else features[source])


def test_the_quick_version_draws_every_network(tmp_path):
    changes = [f"{label}:{change}" for label in ("Hue-4", "CEConv-4") for change in TINY]
    assert cli.main(["reproduce", "feature-maps", "--quick", "--folder", str(tmp_path), "--reduce", *changes]) == 0
    folder = tmp_path / "feature-maps"
    records = json.loads((folder / "metrics.json").read_text())["records"]
    errors = {(r["network"], r["layer"]): r["error"] for r in records}
    assert max(error for (network, _), error in errors.items() if network == "Hue-4") < 1e-5
    assert errors["CEConv-4", "layers.0"] > 1e-3
    for network in ("hue-4", "ceconv-4", "sat-3", "lum-3"):
        assert (folder / f"feature-maps-{network}.png").read_bytes().startswith(b"\x89PNG")
    assert "64 training images" in (folder / "table.md").read_text()
