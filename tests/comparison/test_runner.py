"""Training that repeats nothing and goes on where it stopped; runs that are kept by what they compute."""

import re
from pathlib import Path

import pytest
import torch
from PIL import Image

from equicolor.comparison import Log, Runner, _runs
from equicolor.comparison._ledger import Ledger
from equicolor.comparison._runs import Runs, run_name
from equicolor.train import Recipe, TrainingError
from equicolor.train._fit import Session
from small import small_row

QUIET = Log(quiet=True)


class KilledError(BaseException):
    """As if the process had been killed: nothing catches it."""


def killed_at(monkeypatch, step):
    original = Session._one_step

    def one_step(self, parts):
        if self.step == step:
            raise KilledError
        return original(self, parts)

    monkeypatch.setattr(Session, "_one_step", one_step)


def test_runs_that_compute_the_same_share_a_folder():
    recipe = small_row().recipe
    assert run_name(recipe) == run_name(recipe.replace(log_every=7, workers=1, seeds=[3]))
    others = [{"lr": 0.5}, {"seed": 3}, {"group": None}, {"train_size": 32}, {"test_size": 16}, {"epochs": 2}]
    assert len({run_name(recipe), *(run_name(recipe.replace(**change)) for change in others)}) == 1 + len(others)


def test_where_the_network_lies_around_which_a_canonicaliser_learns_does_not_matter():
    recipe = small_row(group=None).recipe.replace(canonicalize="temp-tint")
    names = [run_name(recipe.replace(around=place)) for place in ("here/run-1", "there/run-1", "here/run-2")]
    assert names[0] == names[1]
    assert len({run_name(recipe), *names}) == 3


def test_runs_that_begin_with_the_same_weights_share_a_name_wherever_these_lie(tmp_path):
    recipe, files = (
        small_row(group=None).recipe.replace(model="timm:resnet18", model_options={}),
        [tmp_path / name for name in "abc"],
    )
    for file, content in zip(files, (b"one", b"one", b"other"), strict=True):
        file.write_bytes(content)
    names = [run_name(recipe.replace(weights=str(file))) for file in files]
    assert names[0] == names[1]
    folders = [run_name(recipe.replace(weights=place)) for place in ("here/run-1", "there/run-1", "here/run-2")]
    assert folders[0] == folders[1]
    assert len({run_name(recipe), *names, *folders}) == 5


def test_runs_on_the_original_images_are_others_than_on_embedded_ones(tmp_path, monkeypatch):
    monkeypatch.setenv("EQUICOLOR_DATA", str(tmp_path))
    shapes, digits = (small_row().recipe.replace(data=data) for data in ("hue_shift_shapes3d", "hue_shift_digits"))
    names = run_name(shapes), run_name(digits)
    (tmp_path / "3dshapes.h5").touch()
    assert run_name(shapes) != names[0]
    assert run_name(digits) == names[1]


def test_finished_runs_are_not_repeated(tmp_path, monkeypatch):
    fitted = []
    original = _runs.fit

    def fit(recipe, folder, **options):
        fitted.append(recipe.seed)
        return original(recipe, folder, **options)

    monkeypatch.setattr(_runs, "fit", fit)
    runner, rows = Runner(tmp_path, QUIET), [small_row(group=None)]
    first = runner.train(rows)
    assert fitted == [1, 2]
    times = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    again = runner.train([small_row(group=None, seeds=[2, 1])])
    assert fitted == [1, 2]
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == times
    assert [run.summary for run in again["Hue-3"]] == [run.summary for run in reversed(first["Hue-3"])]


def test_training_goes_on_where_it_was_killed(tmp_path, monkeypatch):
    row = small_row(seeds=[7])
    with monkeypatch.context() as patch:
        killed_at(patch, 5)
        with pytest.raises(KilledError):
            Runner(tmp_path / "killed", QUIET).train([row])
    folder = Runs(tmp_path / "killed").of(row.seeded[0])
    assert (folder / "recipe.yaml").is_file()
    assert not (folder / "results.json").exists()
    with monkeypatch.context() as patch:
        killed_at(patch, 3)  # would stop it again if it began anew: the checkpoint is of step 4
        (resumed,) = Runner(tmp_path / "killed", QUIET).train([row])["Hue-3"]
    (whole,) = Runner(tmp_path / "whole", QUIET).train([row])["Hue-3"]
    assert resumed.results == whole.results
    theirs = whole.model.state_dict()
    assert all(torch.equal(value, theirs[name]) for name, value in resumed.model.state_dict().items())


def test_a_run_whose_network_was_removed_is_an_error_only_where_it_is_needed(tmp_path):
    row, runner = small_row(group=None, seeds=[1]), Runner(tmp_path, QUIET)
    (run,) = runner.train([row])["Hue-3"]
    (run.folder / "model").rename(tmp_path / "elsewhere")
    assert runner.train([row])["Hue-3"][0].results == run.results
    with pytest.raises(TrainingError, match="not its network"):
        runner.train([row], weights=True)
    fresh = small_row("Z2CNN", group=None, seeds=[2])
    with pytest.raises(TrainingError, match="not its network"):
        runner.train([fresh, row], weights=True)
    assert not Runs(tmp_path).of(fresh.seeded[0]).exists()  # it is said before anything is trained


def test_progress_says_which_run_and_how_much_time_is_left(tmp_path, capsys):
    Runner(tmp_path).train([small_row(group=None)])
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("[")]
    assert lines[0].startswith("[1/2] Hue-3, seed 1")
    assert lines[1].startswith("[2/2] Hue-3, seed 2 (about ")


def test_runs_on_files_of_the_users_own_are_told_by_their_place_and_splits(tmp_path):
    for split in ("train", "test_a", "test_b"):
        for name in ("bright", "dark"):
            (tmp_path / "cells" / split / name).mkdir(parents=True)
            Image.new("RGB", (8, 8)).save(tmp_path / "cells" / split / name / "0.png")
    recipe = small_row().recipe.replace(data=str(tmp_path / "cells"))
    others = [recipe.replace(test_splits=["test_a"]), recipe.replace(**{"data_options.image_size": 4})]
    assert len({run_name(each) for each in (recipe, *others)}) == 3


def test_runs_that_were_named_in_british_spelling_keep_their_names():
    published = Ledger(Path(__file__).parents[2] / "results" / "runs.jsonl").read()
    spelled = {name: entry.recipe for name, entry in published.items() if re.search("colour|centre", str(entry.recipe))}
    assert spelled
    for name, fields in list(spelled.items())[::3]:
        assert run_name(Recipe.from_dict(fields)) == name
