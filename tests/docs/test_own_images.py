"""README, "Your own images": its commands go all the way, with a network of the zoo and with a pretrained one."""

import json
import re
import shlex
from pathlib import Path

import pytest

from by_hand import by_hand, rows
from cells import CLASSES, cells
from equicolor import cli
from pretrained_weights import NAME, lite0_safetensors

README = Path(__file__).parents[2] / "README.md"
LABS = ("lab1", "lab2", "lab3")
#: What makes it quick: as little of everything as will do. The last of two options counts.
LITTLE = "--epochs 1 --image-size 28 --set batch_size=8 --set canonicalizer_steps=1"
QUICK = {"compare": f"--rows plain canonical:temp-tint --seeds 1 {LITTLE}", "train": LITTLE}


def commands(*, pretrained):
    """Those of the README, word by word."""
    section = README.read_text(encoding="utf-8").partition("## Your own images")[2].partition("\n## ")[0]
    blocks = re.findall(r"```sh\n(.*?)```", section, re.DOTALL)
    assert len(blocks) == 2
    return [shlex.split(line, comments=True)[1:] for line in blocks[pretrained].splitlines()]


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for seed, place in enumerate(("cells/train", "cells/test_blue", "cells/test_pink", *LABS, "photos")):
        cells(tmp_path / place, seed, count=8)
    return tmp_path


def numbers_agree(folder):
    """What evaluate says of three labs is what plain PyTorch finds in the probabilities that it saved."""
    for lab in LABS:
        found = json.loads((folder / f"{lab}-all.json").read_text())["metrics"]
        expected = by_hand(folder / f"{lab}-all-predictions.csv", CLASSES, 1)
        assert {name: found[name]["value"] for name in expected} == pytest.approx(expected, abs=1e-6)


def test_from_folders_to_predictions_with_a_network_of_the_zoo(home, capsys):
    for words in commands(pretrained=False):
        assert cli.main([*words, *QUICK.get(words[0], "").split()]) == 0, capsys.readouterr().err
    said = capsys.readouterr().out
    for expected in ("cells: 24 images", "2 networks × 1 seed = 2 runs", "Report: comparison/report.html", "lab3"):
        assert expected in said
    numbers_agree(home / "evaluation")
    predicted = rows(home / "predictions.csv")
    assert len(predicted) == 8
    assert all(float(row["p(healthy)"]) + float(row["p(sick)"]) == pytest.approx(1, abs=1e-5) for row in predicted)


def go_pretrained(home, *names):
    """The commands of these names, with weights that can be had here."""
    weights = ["--set", f"weights={lite0_safetensors(home)}"]
    for words in commands(pretrained=True):
        if words[0] in names:
            here = [NAME if word == "timm:resnet18" else word for word in words]
            assert cli.main([*here, *QUICK.get(words[0], "").split(), *(weights if NAME in here else ())]) == 0


def test_pretrained_networks_are_compared_and_begin_with_the_same_weights(home, capsys):
    go_pretrained(home, "compare")
    said = capsys.readouterr()
    assert "2 networks × 1 seed = 2 runs" in said.out
    assert said.err.count("note: the classifier 'classifier' starts anew") == 1
    runs = {row["run"] for row in rows(home / "pretrained" / "metrics.csv")}
    assert all((home / "pretrained" / "runs" / run / "model" / "model.safetensors").is_file() for run in runs)
    assert not any(":" in run for run in runs)
    assert f"equicolor predict {Path('pretrained') / 'runs'}" in said.out


def test_from_folders_to_predictions_with_a_pretrained_network(home):
    go_pretrained(home, "train", "evaluate", "predict")
    numbers_agree(home / "evaluation")
    assert len(rows(home / "pretrained.csv")) == 8
    assert (home / "runs" / "pretrained" / "model" / "README.md").is_file()
