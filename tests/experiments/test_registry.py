"""Experiments: those of the package are found by being there, and another is added from outside."""

from pathlib import Path

import pytest

import equicolor.experiments
from equicolor.cli import main
from equicolor.experiments import (
    Outcome,
    _registry,
    chosen_rows,
    error_table,
    experiment,
    list_experiments,
    new_row,
    register_experiment,
    run_records,
)
from small import SMALL


@pytest.fixture
def outside(monkeypatch):
    """What a test registers is forgotten after it."""
    monkeypatch.setattr(_registry, "_EXPERIMENTS", dict(_registry._EXPERIMENTS))


def test_every_file_without_an_underscore_is_an_experiment():
    files = Path(equicolor.experiments.__file__).parent.glob("[!_]*.py")
    assert {path.stem.replace("_", "-") for path in files} == set(list_experiments())


def test_experiments_are_listed_in_the_order_of_the_paper_then_our_own():
    assert list_experiments() == [
        *("lifting", "invertibility", "equivariance", "mnist", "sample-efficiency", "trajectories", "shapes3d"),
        *("camelyon17", "natural", "small-norb", "imagenet", "segmentation", "sorting", "feature-maps"),
        *("coverage", "frontier", "saturation", "luminance", "windows", "canonical", "stain", "light", "pretrained"),
        "summary",
    ]


def test_an_experiment_of_somebody_else_is_reproduced_like_ours(outside, tmp_path, capsys):
    recipe = tmp_path / "mine.yaml"
    recipe.write_text(SMALL.replace(seeds=[1]).to_yaml())

    @register_experiment("mine", title="My own table", about="Does it work?", quick="As long as ever.")
    def mine(setting, runner):
        rows = chosen_rows(setting, [new_row(setting, "Hue-3", str(recipe))])
        runs = runner.train(rows)
        return Outcome(run_records(runs), [error_table("Error in %", rows, runs, {"test_b": "B"})])

    assert list_experiments()[-1] == "mine"
    assert experiment("mine").run is mine
    assert main(["reproduce", "mine", "--folder", str(tmp_path / "out")]) == 0
    assert "Error in %" in capsys.readouterr().out
    assert "My own table" in (tmp_path / "out" / "mine" / "report.html").read_text()


def test_two_experiments_cannot_have_one_name(outside):
    with pytest.raises(ValueError, match="an experiment 'mnist' already: Generalisation to global hue shift"):
        register_experiment("mnist", title="Another", about="?", quick="?")(lambda setting, runner: Outcome([]))
