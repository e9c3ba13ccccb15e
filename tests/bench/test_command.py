"""``equicolor bench`` as a user runs it."""

import json

import numpy as np
import pytest
from PIL import Image

from equicolor import cli

TINY = [
    "--networks",
    "z2cnn",
    "--groups",
    "hue2",
    "--batch",
    "2",
    "--rounds",
    "1",
    "--modes",
    "eager",
    "--threads",
    "1",
]


def test_one_command_measures_all_parts_and_writes_json_and_a_plot(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("EQUICOLOR_DATA", raising=False)
    assert cli.main(["bench", "--quick", *TINY, "--folder", str(tmp_path / "out")]) == 0
    results = json.loads((tmp_path / "out" / "bench.json").read_text())
    assert results["command"] == f"equicolor bench --quick {' '.join(sorted_like_the_command(TINY))}"
    assert [(r["group"], r["phase"]) for r in results["networks"]] == [
        (None, "training"),
        ("hue2", "training"),
        (None, "inference"),
        ("hue2", "inference"),
    ]
    assert {r["group"] for r in results["layers"]} == {"hue2"}
    assert results["layers_summary"]["timings"] == 2 * len(results["layers"])
    assert len(results["lift"]) == 4
    assert len(results["data"]) == 2
    assert results["machine"]["threads"] == 1
    with Image.open(tmp_path / "out" / "cost.png") as picture:
        assert np.asarray(picture.convert("L")).std() > 5
    printed = capsys.readouterr()
    for words in (
        "z2cnn, training step",
        "z2cnn, inference",
        "auto against",
        "Lift to hue4",
        "Lift, one element",
        "Load, augment and lift",
    ):
        assert words in printed.out
    assert "This was the quick version" in printed.out
    assert "bench.json" in printed.err


def sorted_like_the_command(words):
    """Lists first, then numbers."""
    return ["--networks", "z2cnn", "--groups", "hue2", "--modes", "eager", "--rounds", "1", "--batch", "2", *words[-2:]]


def test_a_part_alone_leaves_out_the_rest(tmp_path):
    assert cli.main(["bench", "--parts", "lift", *TINY, "--folder", str(tmp_path)]) == 0
    assert [each.name for each in tmp_path.iterdir()] == ["bench.json"]
    assert not {"networks", "layers", "data"} & set(json.loads((tmp_path / "bench.json").read_text()))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--parts speed", "--parts takes some of networks, canonical, layers, lift, data, got 'speed'"),
        ("--modes fast", "--modes takes some of eager, compiled, got 'fast'"),
        ("--networks segmenter", "--networks takes some of resnet18, resnet34"),
        ("--groups purple3", "unknown group 'purple3'"),
        ("--floor --parts lift", "--floor is measured of networks in eager mode"),
        ("--calibrate --parts lift", "--calibrate measures layers: leave out --parts"),
        ("--fused --modes compiled", "--fused is measured of networks in eager mode"),
        ("--floor --modes compiled", "--floor is measured of networks in eager mode"),
        ("--rounds 0", "--rounds must be positive, got 0"),
        ("--device gpu9", "device 'gpu9' cannot be used"),
    ],
)
def test_mistakes_are_found_before_anything_is_measured(arguments, message, capsys, tmp_path):
    assert cli.main(["bench", *arguments.split(), "--folder", str(tmp_path / "out")]) == 1
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_calibrated_constants_are_written_and_it_says_how_to_use_them(tmp_path, monkeypatch, capsys):
    # At every size, in no time: the direct way takes half as long.
    monkeypatch.setattr("equicolor.bench.layers._seconds", lambda *_, **__: {"direct": 1.0, "fast": 2.0})
    assert cli.main(["bench", "--calibrate", "--groups", "hue4", "--folder", str(tmp_path)]) == 0
    found = json.loads((tmp_path / "calibration.json").read_text())
    assert found["mean_loss"] < 0.5 * found["mean_loss_before"]
    assert f"export EQUICOLOR_CALIBRATION={tmp_path / 'calibration.json'}" in capsys.readouterr().out.replace("\n", "")
