"""What stops a run, with which words, and what is kept."""

import errno
import math
import signal
import time

import pytest
import torch

from equicolor.train import DivergedError, StoppedError, TrainingError, fit, resume
from equicolor.train import _fit as fit_module
from equicolor.train._checkpoints import Checkpoints
from runs import SMALL, assert_identical, finish, last_step, rows, start, stop_at, weights


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
@pytest.mark.parametrize("step", [5, 6], ids=["between two lines of metrics", "at one"])
def test_a_signal_stops_with_a_checkpoint_and_says_how_to_go_on(number, step, tmp_path, whole, monkeypatch):
    folder = tmp_path / "run"
    with monkeypatch.context() as patch:
        stop_at(patch, step - 1, lambda session: signal.raise_signal(number))
        with pytest.raises(StoppedError, match=f"step {step} of 12.*equicolor train --resume {folder}"):
            fit(SMALL, folder, quiet=True)
    assert Checkpoints(folder / "checkpoints").latest_step() == step
    assert_identical(weights(resume(folder, quiet=True).folder), weights(whole.folder))
    assert rows(folder) == rows(whole.folder)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_diverging_loss_stops_the_run_at_its_step_and_keeps_the_last_good_checkpoint(value, tmp_path, monkeypatch):
    original = fit_module.Learner.training_step

    def training_step(self, batch, draw):
        loss = original(self, batch, draw)
        return loss * value if draw == 6 else loss

    monkeypatch.setattr(fit_module.Learner, "training_step", training_step)
    with pytest.raises(DivergedError, match=r"at step 7\b.*checkpoint, of step 4"):
        fit(SMALL, tmp_path / "run", quiet=True)
    newest = Checkpoints(tmp_path / "run" / "checkpoints").newest()
    state = torch.load(newest, weights_only=True)["model"]
    assert all(torch.isfinite(value).all() for value in state.values())


def test_weights_that_are_not_finite_are_not_saved(tmp_path, monkeypatch):
    def spoil(session):
        next(iter(session.model.parameters())).grad = None
        with torch.no_grad():
            session.learner.model.module.layers[-1].running_var.fill_(math.inf)

    stop_at(monkeypatch, 7, spoil)
    with pytest.raises(DivergedError, match=r"after step 8.*of step 4"):
        fit(SMALL, tmp_path / "run", quiet=True)


def test_a_run_is_never_overwritten(whole, tmp_path):
    with pytest.raises(TrainingError, match=r"holds a run already.*--resume"):
        fit(SMALL, whole.folder, quiet=True)
    (tmp_path / "mine.txt").write_text("keep")
    with pytest.raises(TrainingError, match="not empty"):
        fit(SMALL, tmp_path, quiet=True)
    assert (tmp_path / "mine.txt").read_text() == "keep"


def test_two_processes_do_not_train_in_one_folder(tmp_path):
    recipe = SMALL.replace(iterations=100_000, checkpoint_every=1)
    process = start(recipe, tmp_path / "run")
    try:
        while process.is_alive() and last_step(tmp_path / "run") < 1:
            time.sleep(0.01)
        with pytest.raises(TrainingError, match="another process is training in"):
            resume(tmp_path / "run", quiet=True)
    finally:
        process.kill()
        process.join()


def test_a_folder_that_cannot_be_written_fails_before_anything_is_computed(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(fit_module.Session, "_build", lambda self: pytest.fail("computed"))
    with pytest.raises(TrainingError, match="cannot write the run into"):
        fit(SMALL, tmp_path / "file" / "run", quiet=True)

    def refuse(**arguments):
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(fit_module.tempfile, "TemporaryFile", refuse)
    with pytest.raises(TrainingError, match="read-only"):
        fit(SMALL, tmp_path / "run", quiet=True)


def test_a_disk_without_room_for_checkpoints_fails_at_the_start(tmp_path, monkeypatch):
    usage = type("Usage", (), {"free": 1000})
    monkeypatch.setattr(fit_module.shutil, "disk_usage", lambda folder: usage)
    monkeypatch.setattr(fit_module.Session, "_train", lambda self: pytest.fail("trained"))
    with pytest.raises(TrainingError, match="too few for the checkpoints"):
        fit(SMALL, tmp_path / "run", quiet=True)


def test_a_disk_that_fills_up_later_keeps_the_last_checkpoint_and_the_run_goes_on(tmp_path, whole):
    """A limit on the size of files stands for a full disk."""
    folder = tmp_path / "run"
    process = start(SMALL, folder, largest_file=20_000)
    process.join()
    assert process.exitcode == 1
    message = folder.with_suffix(".error").read_text()
    assert "cannot write the checkpoint of step 4" in message
    assert "The checkpoint of step 0 is kept: make room, then resume" in message
    assert not list((folder / "checkpoints").glob("*.partial"))
    finish(start(SMALL, folder))
    assert_identical(weights(folder), weights(whole.folder))


def test_resuming_where_there_is_no_run_says_so(tmp_path):
    with pytest.raises(TrainingError, match="there is no run in"):
        resume(tmp_path)


def test_a_failure_before_training_leaves_no_run_behind(tmp_path):
    with pytest.raises(ValueError, match="mean takes one number or three"):
        fit(SMALL.replace(model_options={"mean": [0.5, 0.5]}), tmp_path / "run", quiet=True)
    assert list((tmp_path / "run").iterdir()) == []
