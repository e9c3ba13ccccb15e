"""Canonicalised networks and their rivals: what is done to images, and that results outlive the networks."""

import json
import shutil

import torch

from equicolor.cli import main
from equicolor.color import shift_temperature
from equicolor.experiments.canonical import two_lamps

ROWS = ["light, plain", "light, canonicalised", "light, canonicalised around plain"]
SIZES = {"train_size": 32, "test_size": 32, "batch_size": 16, "epochs": 1, "canonicalizer_steps": 1}


def test_two_lamps_move_either_half_of_an_image_the_other_way():
    images = torch.rand(2, 3, 8, 7)
    lit = two_lamps(images, 0.5)
    assert lit.shape == images.shape
    left, right = slice(0, 4), slice(4, 7)
    torch.testing.assert_close(shift_temperature(lit[..., left], -0.5), images[..., left])
    torch.testing.assert_close(shift_temperature(lit[..., right], 0.5), images[..., right])
    assert (lit[:, 0, :, left] >= images[:, 0, :, left]).all()  # redder
    assert (lit[:, 2, :, right] >= images[:, 2, :, right]).all()  # bluer


def test_the_report_is_made_again_from_the_results_alone(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("EQUICOLOR_DATA", str(tmp_path / "nothing"))
    reduce = [f"{row}:{field}={value}" for row in ROWS for field, value in SIZES.items()]
    arguments = ["reproduce", "canonical", "--quick", "--rows", *ROWS, "--reduce", *reduce]
    assert main([*arguments, "--folder", str(tmp_path / "out")]) == 0
    metrics = tmp_path / "out" / "canonical" / "metrics.json"
    records = json.loads(metrics.read_text())["records"]
    assert {record["network"] for record in records} == set(ROWS)
    assert {record.get("light") for record in records} == {None, "any", "one lamp", "two lamps"}
    seen = {r["network"]: r["error"] for r in records if r.get("split") == "test_a"}
    assert {r["network"]: r["error"] for r in records if r.get("light") == "one lamp" and r["move"] == 0} == seen
    assert (tmp_path / "out" / "canonical" / "far-moves.png").is_file()
    shutil.rmtree(tmp_path / "out" / "runs")
    shutil.move(tmp_path / "out", tmp_path / "elsewhere")
    capsys.readouterr()
    assert main([*arguments, "--folder", str(tmp_path / "elsewhere")]) == 0
    assert json.loads((tmp_path / "elsewhere" / "canonical" / "metrics.json").read_text())["records"] == records
