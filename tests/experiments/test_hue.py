"""The experiments on hue: five networks on digits and shapes, coverage, sample efficiency; smaller than quick."""

import csv
import json

import pytest

from equicolor import cli
from equicolor.comparison._runs import Runs
from equicolor.experiments import Setting, experiment
from equicolor.experiments._five import FIVE, TUNED, five_rows, tuned_note
from equicolor.train import Recipe

TINY = ("train_size=64", "test_size=32", "epochs=1", "batch_size=32")


def _reproduce(name, folder, rows, *changes):
    reduce = [f"{row}:{change}" for row in rows for change in (*TINY, *changes)]
    command = ["reproduce", name, "--quick", "--folder", str(folder), "--rows", *rows, "--reduce", *reduce]
    assert cli.main(command) == 0
    with (folder / name / "metrics.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize(("name", "splits"), [("mnist", 2), ("shapes3d", 3)])
def test_the_five_networks_end_in_a_report_of_every_split(name, splits, tmp_path, capsys):
    records = _reproduce(name, tmp_path, ["Z2CNN", "Hue-3"])
    assert [record["network"] for record in records] == ["Z2CNN"] * splits + ["Hue-3"] * splits
    shown = capsys.readouterr().out
    assert "64 training images" in shown
    for file in ("report.html", "metrics.json", "table.md", "errors.png"):
        assert (tmp_path / name / file).stat().st_size > 0
    assert json.loads((tmp_path / name / "metrics.json").read_text())["quick"] is True


def test_the_quick_shapes_are_those_of_the_demo_unless_others_are_asked_for(tmp_path):
    wanted = ("Z2CNN", "Hue-3", "Hue-4")
    rows = five_rows(Setting(quick=True), "hue_shift_shapes3d", {}, wanted)
    assert tuple(row.label for row in rows) == wanted
    asked = Setting(quick=True, only=("CEConv-3",))
    assert [row.label for row in five_rows(asked, "hue_shift_shapes3d", {}, wanted)] == ["CEConv-3"]


@pytest.mark.parametrize("recipe", ["hue_shift_mnist", "hue_shift_shapes3d"])
def test_tuned_networks_are_those_of_the_paper_trained_as_long(recipe, tmp_path):
    found = five_rows(Setting(), recipe, {})
    rows = {row.label: row.recipe for row in found}
    assert list(rows) == [*FIVE, *TUNED]
    for label in ("Z2CNN", "Hue-3", "Hue-4"):
        tuned, paper = rows[f"{label}, tuned"], rows[label]
        assert tuned.lr != paper.lr
        for field in ("data", "model", "group", "model_options", "epochs", "train_size", "seeds"):
            assert getattr(tuned, field) == getattr(paper, field)
        (note,) = tuned_note(found)
        assert (f"{label}, tuned takes batches of " in note) == (tuned.batch_size != paper.batch_size)


def test_coverage_tests_on_the_hues_that_were_not_trained_on(tmp_path):
    records = _reproduce("coverage", tmp_path, ["Z2CNN", "Z2CNN, grey"])
    assert [(record["network"], record["arc"]) for record in records] == [
        ("Z2CNN", "360"),
        ("Z2CNN, grey", "360"),
        ("Z2CNN", "10"),
        ("Z2CNN, grey", "10"),
    ]
    kept = Runs(tmp_path).ledger.read()[records[2]["run"]].shifted
    assert kept == {"test hue:10..360": float(records[2]["error_unseen"])}


def test_an_error_under_a_shift_is_that_of_training_under_it_and_is_measured_once(tmp_path):
    options = {"data_options": {"shift": "hue:0..60"}, "test_splits": ["test"], "train_size": 256, "epochs": 1}
    recipe = Recipe(data="digits", model="z2cnn", group="hue3", augment="gray", lr=0.01, loggers=["csv"], **options)
    runs = Runs(tmp_path)
    run = runs.trained(recipe, quiet=True)
    assert runs.error_under(run, "test", "hue:0..60") == pytest.approx(run.results["test"]["error"])
    (run.folder / "model" / "model.safetensors").unlink()
    assert runs.error_under(run, "test", "hue:0..60") == pytest.approx(run.results["test"]["error"])


def test_sample_efficiency_compares_with_z2cnn_at_every_share(tmp_path):
    rows = ["Z2CNN", "Hue-3"]
    reduce = [f"{row}:{change}" for row in rows for change in ("iterations=2", "test_size=32", "batch_size=32")]
    command = ["reproduce", "sample-efficiency", "--quick", "--folder", str(tmp_path), "--rows", *rows]
    assert cli.main([*command, "--reduce", *reduce]) == 0
    records = json.loads((tmp_path / "sample-efficiency" / "metrics.json").read_text())["records"]
    assert {(record["network"], record["share"]) for record in records} == {(row, s) for row in rows for s in (10, 100)}
    sizes = {
        record["share"]: Recipe.load(tmp_path / "runs" / record["run"] / "recipe.yaml").train_size for record in records
    }
    assert sizes == {10: 150, 100: 1500}


@pytest.mark.parametrize("name", ["mnist", "shapes3d", "coverage", "sample-efficiency"])
def test_each_says_what_its_quick_version_is(name):
    assert len(experiment(name).quick) > 20
