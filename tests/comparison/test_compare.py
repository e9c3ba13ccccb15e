"""``equicolor compare``, as a user types it: the plan, the table, the report, and going on where it stopped."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from equicolor.cli import main
from equicolor.commands._compare import _rows, _to_go_on
from equicolor.comparison import Log, Runner, carry_out, compare, plan
from equicolor.comparison._compare import _grid, _tables
from equicolor.data import Column
from equicolor.train import DivergedError, Run, TrainingError, _data
from equicolor.train._fit import Session
from small import SMALL

TINY = ["--set", "train_size=96", "--set", "test_size=48", "--set", "batch_size=16", "--set", "accelerator=cpu"]
COMMAND = ["compare", "--data", "hue_shift_digits", *TINY, "--epochs", "1", "--seeds", "1", "2"]


def test_the_network_that_errs_least_is_offered_unless_it_has_learnt_nothing(tmp_path):
    records = [
        {"network": "plain", "run": "a", "balanced_error": 0.5},
        {"network": "hue4", "run": "b", "balanced_error": 0.46},
    ]
    assert "hue4 errs least" in _to_go_on(records, tmp_path, None)
    assert "errs least" not in _to_go_on(records, tmp_path, 0.5)


def test_the_command_ends_in_a_conclusion_a_table_a_picture_and_a_report(tmp_path, capsys):
    given = [*COMMAND, "--rows", "plain", "grey", "--folder", str(tmp_path / "found")]
    assert main([*given, "--dry-run"]) == 0
    said = capsys.readouterr().out
    assert "2 networks × 2 seeds = 4 runs. About" in said
    assert "96 images to train on (train), 28×28; tested on test_a 48, test_b 48." in said
    assert not (tmp_path / "found").exists()
    assert main(given) == 0
    said = capsys.readouterr().out
    assert "No network has learnt" in said or "On test_a" in said or "No network differs" in said
    assert "parameters   training time   multiplications" in said
    folder = tmp_path / "found"
    assert {path.name for path in folder.iterdir()} == {
        *("comparison.png", "metrics.csv", "metrics.json", "report.html", "table.md", "runs", "runs.jsonl")
    }
    metrics = json.loads((folder / "metrics.json").read_text())
    assert metrics["conclusion"]
    assert f"--folder {folder}" in metrics["command"]
    with (folder / "metrics.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["network"], row["seed"], row["split"]) for row in rows] == [
        (row, seed, split) for row in ("plain", "gray") for seed in "12" for split in ("test_a", "test_b")
    ]
    first = Run.read(folder / "runs" / rows[0]["run"])
    assert float(rows[0]["balanced_error"]) == first.results["test_a"]["balanced_error"]
    assert metrics["conclusion"][0] in (folder / "report.html").read_text().split("<table>")[0]
    assert metrics["conclusion"][0] in (folder / "table.md").read_text().split("|")[0]


def test_the_same_command_goes_on_and_repeats_nothing(tmp_path, monkeypatch, capsys):
    recipe = SMALL.replace(seeds=[1, 2])
    original, trained = Session._one_step, []

    def stops(self, parts):
        if self.folder == Path():  # a step that is timed beforehand, of no run
            return original(self, parts)
        if len(trained) == 9:  # of six in each run: in the middle of the second
            raise KeyboardInterrupt
        trained.append(self.recipe.seed)
        return original(self, parts)

    with monkeypatch.context() as patch:
        patch.setattr(Session, "_one_step", stops)
        with pytest.raises(KeyboardInterrupt):
            compare(recipe, ["plain", "gray"], tmp_path / "stopped", quiet=True)
    again = plan(recipe, ["plain", "gray"], tmp_path / "stopped")
    assert again.left == {"plain": 1, "gray": 2}
    assert "= 4 runs, 1 of them finished. About" in again.summary
    resumed = compare(recipe, ["plain", "gray"], tmp_path / "stopped", quiet=True)
    whole = compare(recipe, ["plain", "gray"], tmp_path / "whole", quiet=True)
    errors = [[record["balanced_error"] for record in found.records] for found in (resumed, whole)]
    assert errors[0] == errors[1]
    monkeypatch.setattr(Session, "_one_step", stops)
    assert compare(recipe, ["plain", "gray"], tmp_path / "whole", quiet=True).records == whole.records
    capsys.readouterr()


def test_images_that_have_changed_are_not_mixed_with_finished_runs(tmp_path):
    recipe = SMALL.replace(seeds=[1])
    compare(recipe, ["plain"], tmp_path, quiet=True)
    (record,) = tmp_path.glob("runs/*/data.json")
    record.write_text(record.read_text().replace('"count": 96', '"count": 95'))
    with pytest.raises(TrainingError, match="the images have changed"):
        plan(recipe, ["plain", "gray"], tmp_path)


def test_a_row_that_diverges_is_left_out_and_said(tmp_path, monkeypatch):
    original = Session._one_step

    def one_step(self, parts):
        if self.recipe.augment == "gray" and self.folder != Path():  # of a run, not timed beforehand
            raise DivergedError("the loss became nan at step 1")
        return original(self, parts)

    monkeypatch.setattr(Session, "_one_step", one_step)
    found = carry_out(plan(SMALL.replace(seeds=[1]), ["plain", "gray"], tmp_path), Log(quiet=True))
    assert {record["network"] for record in found.records} == {"plain"}
    assert "gray is left out: the loss became nan" in found.notes[0]


def test_a_domain_is_a_column(tmp_path, monkeypatch):
    original = _data.load

    def load(*arguments, **options):
        images = original(*arguments, **options)
        return replace(images, domains=Column.of(["odd" if label % 2 else "even" for label in images.labels]))

    monkeypatch.setattr(_data, "load", load)
    found = compare(SMALL.replace(seeds=[1], test_splits=["test_a"]), ["plain"], tmp_path, quiet=True)
    assert found.tables[0].columns[1:4] == ["test_a", "test_a: even", "test_a: odd"]
    whole, even, odd = ({k: record[k] for k in ("images", "error", "balanced_error")} for record in found.records)
    assert even["images"] + odd["images"] == whole["images"] == 48
    together = (even["error"] * even["images"] + odd["error"] * odd["images"]) / 48
    assert together == pytest.approx(whole["error"])
    measured = json.loads((tmp_path / "runs.jsonl").read_text().splitlines()[-1])
    assert measured["measured"]["test_a: odd"]["balanced_error"] == odd["balanced_error"]
    assert (
        compare(SMALL.replace(seeds=[1], test_splits=["test_a"]), ["plain"], tmp_path, quiet=True).records
        == found.records
    )


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ([], "--data cells/, your own images"),
        (["--data", "digits", "--rows", "plain", "hue-jiter"], "Did you mean 'hue-jitter'?"),
        (["--data", "digits", "--set", "group=hue4"], "is said by the rows"),
        (["--data", "digits", "--seeds", "1", "1"], "seeds must differ"),
        (["--data", "digits", "--seeds", "one"], "whole numbers"),
        (["--data", "digits", "--test", "nowhere"], "nowhere"),
    ],
)
def test_what_cannot_be_compared_is_said_in_one_line(options, says, capsys):
    assert main(["compare", *options]) == 1
    said = capsys.readouterr().err
    assert says in said
    assert len(said.splitlines()) == 1


def test_one_class_alone_is_nothing_to_compare(tmp_path, capsys):
    for name in range(30):
        place = tmp_path / "cells" / "only" / f"{name}.png"
        place.parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (28, 28), (8 * name, 0, 0)).save(place)
    given = ["--data", str(tmp_path / "cells"), "--set", "batch_size=8", "--rows", "plain", "gray"]
    assert main(["compare", *given]) == 1
    assert "images of one class alone, 'only'" in capsys.readouterr().err


def test_tables_stay_narrow_enough_to_be_read(tmp_path):
    planned = plan(SMALL.replace(seeds=[1]), ["plain"], tmp_path)
    (run,) = Runner(tmp_path, Log(quiet=True)).train(planned.rows)["plain"]
    heads = {}
    for count in (1, 2, 4):
        columns = [replace(planned.columns[0], name=f"set {number}") for number in range(count)]
        results = {"plain": [{column.name: {"balanced_error": 0.1, "auc": 0.9} for column in columns}]}
        wide = replace(planned, columns=columns)
        grids = [_grid(wide, metric, results) for metric in ("balanced_error", "auc")]
        heads[count] = [list(table.columns[1:]) for table in _tables(wide, grids, {"plain": [run]})]
    costs = ["parameters", "training time", "multiplications"]
    assert heads[1] == [["set 0", "set 0, AUC", *costs]]
    assert heads[2] == [["set 0", "set 1", *costs], ["set 0", "set 1"]]
    assert heads[4][2] == costs


def test_groups_take_the_place_of_groups():
    rows = _rows([], ["hue3", "lum3"])
    assert [row for row in rows if row in ("hue3", "hue4", "sat3", "lum3")] == ["hue3", "lum3"]
    assert {"plain", "gray", "canonical:temp-tint"} <= set(rows)
    assert _rows(["plain"], ["hue3"]) == ["plain", "hue3"]
    assert _rows(["plain", "hue3"], ["hue3"]) == ["plain", "hue3"]


def test_what_a_report_says_first_is_the_conclusion(tmp_path):
    compare(SMALL.replace(seeds=[1]), ["plain", "gray"], Path(tmp_path), quiet=True)
    text = (tmp_path / "report.html").read_text()
    assert text.index('class="conclusion"') < text.index("<table>") < text.index("<img")
