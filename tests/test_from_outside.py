"""The doors of the house: a group, a network, a data set, an experiment and a command are added from outside."""

import csv
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import equicolor

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def equipped(tmp_path_factory):
    """``equicolor …`` where the package of ``stranger.py`` is installed, which names it as a plugin."""
    site = tmp_path_factory.mktemp("site")
    for name in ("stranger.py", "stranger.yaml"):
        shutil.copy(HERE / name, site)
    about = site / "stranger-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: stranger\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[equicolor.plugins]\nstranger = stranger\n")
    path = os.pathsep.join([str(site), str(Path(equicolor.__file__).parents[1])])

    def run(*arguments):
        environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", "PYTHONUTF8": "1", "COLUMNS": "200"}
        command = [sys.executable, "-m", "equicolor", *map(str, arguments)]
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            encoding="utf-8",
            cwd=site,
            env=environment,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def test_a_command_is_one_function(equipped):
    assert "greet" in equipped("--help")
    assert equipped("greet", "you", "--times", 2) == "hello hello you\n"


def test_a_network_a_group_and_a_data_set_are_listed_among_ours(equipped):
    assert "thumb" in equipped("models", "--groups", "none", "blue3")
    assert "squares" in equipped("data")


def test_an_experiment_trains_the_network_on_the_group_on_the_data_and_what_it_saved_is_opened(equipped, tmp_path):
    assert "Blue-3" in equipped("reproduce", "brightness", "--folder", tmp_path)
    assert "Dark or bright?" in (tmp_path / "brightness" / "report.html").read_text(encoding="utf-8")
    (card,) = tmp_path.rglob("config.json")
    assert json.loads(card.read_text())["architecture"]["group"] == "blue3"
    equipped("evaluate", card.parent, "--data", "squares", "--curve", "blue", "--folder", tmp_path / "evaluated")
    (curve,) = (tmp_path / "evaluated").glob("*-curve.csv")
    with curve.open(newline="", encoding="utf-8") as file:
        errors = {float(row["shift"]): float(row["error"]) for row in csv.DictReader(file)}
    assert min(errors) == -1.5  # three steps
    assert errors[0] < 0.1
