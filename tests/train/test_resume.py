"""Exact resumption: stopping a run changes nothing."""

import errno
import random
import signal
import time

import pytest

from equicolor.train import Recipe, Run, TrainingError, fit, resume
from equicolor.train import _fit as fit_module
from runs import SMALL, assert_identical, fail, finish, last_step, rows, start, stop_at, weights


def test_a_run_killed_at_random_moments_ends_with_the_same_weights(tmp_path):
    """SIGKILL, at moments that none of our code can notice: inside epochs, inside the writing of a checkpoint too."""
    recipe = SMALL.replace(group=None, train_size=100, batch_size=4, epochs=8, checkpoint_every=3, lr=0.01)
    expected = fit(recipe, tmp_path / "whole", quiet=True)
    moments, folder, steps = random.Random(2025), tmp_path / "killed", []
    for _ in range(5):
        process = start(recipe, folder)
        reached = (steps[-1] if steps else -1) + moments.choice([1, 6, 15, 25])
        while process.is_alive() and last_step(folder) < reached:
            time.sleep(0.001)
        time.sleep(moments.uniform(0, 0.03))  # anywhere in the steps and the writing that follow
        process.kill()
        process.join()
        assert process.exitcode == -signal.SIGKILL, "the run was over before it was killed"
        steps.append(last_step(folder))
    finish(start(recipe, folder))
    assert len(set(steps)) == 5
    assert any(step % 25 for step in steps)
    assert_identical(weights(folder), weights(expected.folder))
    assert Run.read(folder).results == expected.results
    assert rows(folder) == rows(expected.folder)


@pytest.mark.parametrize("step", [0, 3, 5, 11])
def test_a_run_stopped_before_any_step_ends_with_the_same_weights_and_metrics(step, tmp_path, whole, monkeypatch):
    with monkeypatch.context() as patch:
        stop_at(patch, step, fail)
        with pytest.raises(KeyboardInterrupt):
            fit(SMALL, tmp_path / "run", quiet=True)
    run = resume(tmp_path / "run", quiet=True)
    assert_identical(weights(run.folder), weights(whole.folder))
    assert rows(run.folder) == rows(whole.folder)


@pytest.mark.parametrize(
    "changes",
    [
        {"accumulate": 2, "clip": 0.5},
        {"optimizer": "adam", "optimizer_options": "{}", "lr": 0.001},
        {"precision": "bf16-mixed", "channels_last": False},
        {"workers": 2},
    ],
    ids=["accumulation and clipping", "adam", "mixed precision", "workers"],
)
def test_resumption_is_exact_for_every_way_to_train(changes, tmp_path, monkeypatch):
    changes = {**changes, "iterations": 7}
    recipe = Recipe.from_dict({**SMALL.to_dict(), "epochs": None, **changes})
    expected = fit(recipe, tmp_path / "whole", quiet=True)
    with monkeypatch.context() as patch:
        stop_at(patch, 6, fail)
        with pytest.raises(KeyboardInterrupt):
            fit(recipe, tmp_path / "run", quiet=True)
    assert_identical(weights(resume(tmp_path / "run", quiet=True).folder), weights(expected.folder))


def test_a_damaged_checkpoint_is_not_picked_up(tmp_path, whole, monkeypatch):
    folder = tmp_path / "run"
    with monkeypatch.context() as patch:
        stop_at(patch, 10, fail)
        with pytest.raises(KeyboardInterrupt):
            fit(SMALL, folder, quiet=True)
    newest = max((folder / "checkpoints").iterdir())
    assert newest.name.startswith("step-000000008")
    newest.write_bytes(newest.read_bytes()[:-1000])
    (folder / "checkpoints" / "step-000000010.partial").write_bytes(b"half")
    with pytest.warns(UserWarning, match=f"{newest.name} is damaged.*goes on from step 4"):
        run = resume(folder, quiet=True)
    assert_identical(weights(run.folder), weights(whole.folder))
    assert not list((folder / "checkpoints").glob("*.partial"))
    assert list((folder / "checkpoints").glob("*.damaged"))


def test_a_checkpoint_damaged_at_the_very_end_does_not_pass_for_an_earlier_network(tmp_path, whole, monkeypatch):
    folder, export = tmp_path / "run", fit_module.Session._export

    def damage_and_export(self):
        newest = self.checkpoints.newest()
        newest.write_bytes(newest.read_bytes()[:-1])
        export(self)

    with monkeypatch.context() as patch:
        patch.setattr(fit_module.Session, "_export", damage_and_export)
        with pytest.raises(TrainingError, match=f"of step 12, is damaged: equicolor train --resume {folder}"):
            fit(SMALL, folder, quiet=True)
    with pytest.warns(UserWarning, match="goes on from step 8"):
        assert_identical(weights(resume(folder, quiet=True).folder), weights(whole.folder))


def test_a_disk_that_cannot_read_the_checkpoint_now_leaves_the_run_as_it_was(tmp_path, whole, monkeypatch):
    folder = tmp_path / "run"
    with monkeypatch.context() as patch:
        stop_at(patch, 10, fail)
        with pytest.raises(KeyboardInterrupt):
            fit(SMALL, folder, quiet=True)
    before = sorted((folder / "checkpoints").iterdir())

    def unreadable(path):
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr("equicolor.train._checkpoints.digest", unreadable)
        with pytest.raises(TrainingError, match=r"cannot read the checkpoint .*Input/output error.*try again"):
            resume(folder, quiet=True)
    assert sorted((folder / "checkpoints").iterdir()) == before
    assert_identical(weights(resume(folder, quiet=True).folder), weights(whole.folder))


def test_resuming_a_finished_run_changes_nothing(whole):
    before = {path: path.stat().st_mtime_ns for path in whole.folder.rglob("*")}
    assert resume(whole.folder) == whole
    assert before == {path: path.stat().st_mtime_ns for path in whole.folder.rglob("*")}


def test_the_last_two_checkpoints_are_kept(whole):
    names = sorted(path.name[:14] for path in (whole.folder / "checkpoints").iterdir())
    assert names == ["step-000000008", "step-000000012"]
