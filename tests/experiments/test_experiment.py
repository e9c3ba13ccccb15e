"""Settings: rows made from recipes, and training that repeats nothing and goes on where it stopped."""

import pytest
import torch

from equicolor.experiments import Setting, _runs
from equicolor.experiments._experiment import _Clock
from equicolor.experiments._runs import run_folder, run_name
from equicolor.train import TrainingError
from equicolor.train._fit import _Session
from small import small_row


class KilledError(BaseException):
    """As if the process had been killed: nothing catches it."""


def killed_at(monkeypatch, step):
    original = _Session._one_step

    def one_step(self, parts):
        if self.step == step:
            raise KilledError
        return original(self, parts)

    monkeypatch.setattr(_Session, "_one_step", one_step)


def test_a_row_is_a_recipe_with_its_seeds(tmp_path):
    row = Setting(tmp_path).row("Hue-3", "hue_shift_mnist:hue3")
    assert (row.recipe.group, row.recipe.lr, row.reduced) == ("hue3", 1e-4, "")
    assert [recipe.seed for recipe in row.seeded] == [1999, 2000, 2001]


def test_the_quick_version_takes_one_seed_and_its_own_sizes(tmp_path):
    quick = {"train_size": 320, "epochs": 1}
    row = Setting(tmp_path, quick=True).row("Hue-3", "hue_shift_mnist:hue3", {"epochs": 2}, quick)
    assert (row.recipe.train_size, row.recipe.epochs, row.recipe.seeds) == (320, 1, [1999])
    full = Setting(tmp_path).row("Hue-3", "hue_shift_mnist:hue3", {"epochs": 2}, quick)
    assert (full.recipe.train_size, full.recipe.epochs) == (None, 2)


def test_seeds_can_be_chosen(tmp_path):
    assert Setting(tmp_path, quick=True, seeds=(5, 6)).row("Hue-3", "hue_shift_mnist:hue3").recipe.seeds == [5, 6]


def test_what_is_reduced_is_said(tmp_path):
    changes = {"train_size": "20000", "test_size": 500, "seeds": [1999], "lr": "0.01"}
    setting = Setting(tmp_path, reduce={"CEConv-3": changes})
    row = setting.row("CEConv-3", "hue_shift_mnist:ceconv3")
    assert row.reduced == "20,000 training images, 500 testing images, 1 seed, lr 0.01"
    assert (row.recipe.train_size, row.recipe.test_size, row.recipe.seeds, row.recipe.lr) == (20000, 500, [1999], 0.01)
    assert setting.row("Hue-3", "hue_shift_mnist:hue3").reduced == ""


def test_rows_are_chosen_by_label(tmp_path):
    rows = [small_row("Z2CNN"), small_row("Hue-3")]
    assert Setting(tmp_path).chosen(rows) == rows
    assert Setting(tmp_path, only=("Hue-3",)).chosen(rows) == rows[1:]
    for setting in (Setting(tmp_path, only=("Hue-5",)), Setting(tmp_path, reduce={"Hue-5": {"epochs": 1}})):
        with pytest.raises(ValueError, match="no row 'Hue-5': there are Z2CNN, Hue-3"):
            setting.chosen(rows)


def test_runs_that_compute_the_same_share_a_folder():
    recipe = small_row().recipe
    assert run_name(recipe) == run_name(recipe.replace(log_every=7, workers=1, seeds=[3]))
    others = [{"lr": 0.5}, {"seed": 3}, {"group": None}, {"train_size": 32}, {"test_size": 16}, {"epochs": 2}]
    assert len({run_name(recipe), *(run_name(recipe.replace(**change)) for change in others)}) == 1 + len(others)


def test_finished_runs_are_not_repeated(tmp_path, monkeypatch):
    fitted = []
    original = _runs.fit

    def fit(recipe, folder, **options):
        fitted.append(recipe.seed)
        return original(recipe, folder, **options)

    monkeypatch.setattr(_runs, "fit", fit)
    setting, rows = Setting(tmp_path, quiet=True), [small_row(group=None)]
    first = setting.train(rows)
    assert fitted == [1, 2]
    times = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    again = setting.train([small_row(group=None, seeds=[2, 1])])
    assert fitted == [1, 2]
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == times
    assert [run.summary for run in again["Hue-3"]] == [run.summary for run in reversed(first["Hue-3"])]


def test_training_goes_on_where_it_was_killed(tmp_path, monkeypatch):
    row = small_row(seeds=[7])
    with monkeypatch.context() as patch:
        killed_at(patch, 5)
        with pytest.raises(KilledError):
            Setting(tmp_path / "killed", quiet=True).train([row])
    folder = run_folder(row.seeded[0], tmp_path / "killed")
    assert (folder / "recipe.yaml").is_file()
    assert not (folder / "results.json").exists()
    with monkeypatch.context() as patch:
        killed_at(patch, 3)  # would stop it again if it began anew: the checkpoint is of step 4
        (resumed,) = Setting(tmp_path / "killed", quiet=True).train([row])["Hue-3"]
    (whole,) = Setting(tmp_path / "whole", quiet=True).train([row])["Hue-3"]
    assert resumed.results == whole.results
    theirs = whole.model.state_dict()
    assert all(torch.equal(value, theirs[name]) for name, value in resumed.model.state_dict().items())


def test_a_run_whose_network_was_removed_is_an_error_only_where_it_is_needed(tmp_path):
    row, setting = small_row(group=None, seeds=[1]), Setting(tmp_path, quiet=True)
    (run,) = setting.train([row])["Hue-3"]
    (run.folder / "model").rename(tmp_path / "elsewhere")
    assert setting.train([row])["Hue-3"][0].results == run.results
    with pytest.raises(TrainingError, match="not its network"):
        setting.train([row], weights=True)
    fresh = small_row("Z2CNN", group=None, seeds=[2])
    with pytest.raises(TrainingError, match="not its network"):
        setting.train([fresh, row], weights=True)
    assert not run_folder(fresh.seeded[0], tmp_path).exists()  # it is said before anything is trained


def test_progress_says_which_run_and_how_much_time_is_left(tmp_path, capsys):
    Setting(tmp_path).train([small_row(group=None)])
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("[")]
    assert lines[0].startswith("[1/2] Hue-3, seed 1")
    assert lines[1].startswith("[2/2] Hue-3, seed 2 (about ")


def test_the_time_left_is_told_from_runs_of_the_same_kind():
    clock = _Clock(["", "", "hue4", "hue4", "hue8"])
    assert clock.left(0) == ""
    clock.took(0, 10.0)
    clock.took(2, 40.0)
    assert clock.left(3) == " (about 65 s left)"  # 40 for a hue4, the mean of 25 for a kind not seen yet
    clock.took(3, 400.0)
    assert clock.left(2) == " (about 10 min left)"


def test_finished_runs_take_no_more_time():
    clock = _Clock(["hue4"] * 4, finished=[False, True, True, False])
    clock.took(0, 40.0)
    assert clock.left(3) == clock.left(1) == " (about 40 s left)"


def test_runs_on_the_original_images_are_others_than_on_embedded_ones(tmp_path, monkeypatch):
    monkeypatch.setenv("EQUICOLOR_DATA", str(tmp_path))
    shapes, digits = (small_row().recipe.replace(data=data) for data in ("hue_shift_shapes3d", "hue_shift_digits"))
    names = run_name(shapes), run_name(digits)
    (tmp_path / "3dshapes.h5").touch()
    assert run_name(shapes) != names[0]
    assert run_name(digits) == names[1]


def test_an_experiment_of_one_network_each_refuses_several_seeds(tmp_path):
    Setting(tmp_path, seeds=(5,), reduce={"Hue-3": {"seeds": [7]}}).single_seed()
    for setting in (Setting(tmp_path, seeds=(5, 6)), Setting(tmp_path, reduce={"Hue-3": {"seeds": [5, 6]}})):
        with pytest.raises(ValueError, match="networks of one seed, got 5, 6"):
            setting.single_seed()
