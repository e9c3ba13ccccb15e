"""What a run's folder says about it."""

import subprocess

import pytest

from equicolor._tools.environment import git_commit
from equicolor.train import TrainingError
from equicolor.train._record import Metrics


def lines(folder):
    return (folder / "metrics.csv").read_text().splitlines()


def test_metrics_after_the_step_that_a_run_goes_on_from_are_recorded_again(tmp_path):
    first = Metrics(tmp_path, ["csv"], ["loss", "error"])
    for step in (1, 2, 3):
        first.add(step, step / 10, {"loss": 1 / step})
    before = lines(tmp_path)
    with (tmp_path / "metrics.csv").open("a") as file:
        file.write("2,0.")  # killed inside a line
    second = Metrics(tmp_path, ["csv"], ["loss", "error"], start=2)
    assert lines(tmp_path) == before[:3]
    second.add(3, 0.3, {"loss": 1 / 3})
    assert lines(tmp_path) == before


def test_the_commit_of_a_folder_is_known_and_changes_are_marked(tmp_path):
    def git(*command):
        identity = ["-c", "user.name=a", "-c", "user.email=a@b.c"]
        subprocess.run(["git", "-C", tmp_path, *identity, *command], check=True, capture_output=True)

    git("init")
    (tmp_path / "file").write_text("one")
    git("add", ".")
    git("commit", "-m", "first")
    commit = git_commit(tmp_path)
    assert len(commit) == 40
    (tmp_path / "file").write_text("two")
    assert git_commit(tmp_path) == f"{commit}+changes"


def test_outside_of_git_there_is_no_commit(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert git_commit(tmp_path) is None


def test_a_logger_whose_package_is_missing_is_named(tmp_path, monkeypatch):
    import lightning.pytorch.loggers as loggers

    def missing(**options):
        raise ModuleNotFoundError("No module named 'wandb'")

    monkeypatch.setattr(loggers, "WandbLogger", missing)
    with pytest.raises(TrainingError, match=r"'wandb' needs a package that is not installed"):
        Metrics(tmp_path, ["wandb"], [])
