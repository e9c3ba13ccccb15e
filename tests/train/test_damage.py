"""Files of a run that are gone, damaged or crafted, and disks that are full: one line says which and what to do."""

import errno
import json
import os
import pickle
import re
import shutil
import subprocess

import pytest
import torch
import yaml

from equicolor.train import TrainingError, fit, resume
from equicolor.train._checkpoints import Checkpoints
from equicolor.train._record import Metrics
from runs import SMALL, assert_identical, fail, rows, stop_at, weights


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """A run that was stopped after its tenth step, with checkpoints of steps 4 and 8."""
    folder = tmp_path_factory.mktemp("begun") / "run"
    with pytest.MonkeyPatch.context() as patch:
        stop_at(patch, 10, fail)
        with pytest.raises(KeyboardInterrupt):
            fit(SMALL, folder, quiet=True)
    return folder


@pytest.fixture
def run(begun, tmp_path):
    """A copy of it, in a folder whose name a shell would take apart."""
    return shutil.copytree(begun, tmp_path / "my run")


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def refused(folder, message, **options):
    """The error of a resumption, which changed no file and is one line."""
    before = contents(folder)
    with pytest.raises(TrainingError, match=message) as caught:
        resume(folder, quiet=True, **options)
    assert contents(folder) == before
    assert "\n" not in str(caught.value)
    return str(caught.value)


# ------------------------------------------------------------------------------------------------ lost checkpoints


@pytest.mark.parametrize("loss", ["damaged", "gone", "folder gone", "set aside"])
def test_a_run_without_a_whole_checkpoint_stops_and_keeps_all_files(loss, run, whole):
    checkpoints = sorted((run / "checkpoints").glob("*.pt"))
    for path in checkpoints:
        if loss == "damaged":
            path.write_bytes(path.read_bytes()[:-1])
        elif loss == "set aside":
            path.rename(f"{path}.damaged")
        else:
            path.unlink()
    if loss == "folder gone":
        (run / "checkpoints").rmdir()
    message = refused(run, "has no checkpoint to go on from")
    assert "Nothing was changed" in message
    assert message.endswith(f"equicolor train --resume '{run}' --restart")
    assert all(path.name in message for path in checkpoints) == (loss in ("damaged", "set aside"))

    metrics = (run / "metrics.csv").read_bytes()
    kept = {path.read_bytes() for path in (run / "checkpoints").glob("*")}
    with pytest.warns(UserWarning, match="is damaged: it is kept") if loss == "damaged" else _no_warning():
        resume(run, quiet=True, restart=True)
    assert (run / "metrics-1.csv").read_bytes() == metrics
    assert kept <= {path.read_bytes() for path in (run / "checkpoints").glob("*.damaged")}
    assert_identical(weights(run), weights(whole.folder))
    assert rows(run) == rows(whole.folder)


def _no_warning():
    import contextlib

    return contextlib.nullcontext()


def test_a_run_that_can_go_on_is_not_begun_again(run):
    message = refused(run, "has a checkpoint of step 8: go on with", restart=True)
    assert "without --restart" in message


def test_a_run_killed_before_its_first_checkpoint_begins_at_its_start(run, whole):
    shutil.rmtree(run / "checkpoints")
    for name in ("metrics.csv", "environment.json"):
        (run / name).unlink()
    assert_identical(weights(resume(run, quiet=True).folder), weights(whole.folder))


# ------------------------------------------------------------------------------------------------ crafted checkpoints


def craft(folder, step, state):
    """Puts something in the place of the newest checkpoint, under a name that fits its contents."""
    checkpoints = Checkpoints(folder / "checkpoints")
    if isinstance(state, bytes):
        checkpoints.partial(step).write_bytes(state)
    else:
        torch.save(state, checkpoints.partial(step))
    return checkpoints.finish(step)


def newest(folder):
    return torch.load(Checkpoints(folder / "checkpoints").newest(), weights_only=True)


@pytest.mark.parametrize("step", [1_000_000, 12, -1, "12", True, None])
def test_a_checkpoint_that_says_another_step_is_no_end_of_the_run(step, run):
    craft(run, 9, {**newest(run), "step": step})
    message = refused(run, "is no checkpoint of this run: it says to be of step")
    assert "Move it elsewhere to go on from the one before" in message
    assert not (run / "model").exists()


def test_a_checkpoint_of_a_step_that_the_run_has_not_is_refused(run):
    craft(run, 1_000_000, {**newest(run), "step": 1_000_000})
    refused(run, "its name of step 1000000, and the run has 12")


class Evil:
    def __reduce__(self):
        return (os.system, ("touch executed",))


@pytest.mark.parametrize(
    "what",
    [
        lambda state: {**state, "results": Evil()},
        lambda state: pickle.dumps(Evil()),
        lambda state: b"no checkpoint",
        lambda state: {"step": 9},
        lambda state: [1, 2],
        lambda state: {**state, "model": {}},
        lambda state: {**state, "seconds": "long"},
        lambda state: {**state, "results": {"test_b": {"error": "0"}}},
    ],
    ids=["code inside", "pickle", "bytes", "step alone", "list", "no weights", "time", "results"],
)
def test_something_else_in_the_place_of_a_checkpoint_is_refused_in_our_own_words(what, run, monkeypatch):
    monkeypatch.chdir(run.parent)
    state = newest(run)
    craft(run, 9, what({**state, "step": 9}))
    message = refused(run, "is no checkpoint of")
    assert "weights_only" not in message
    assert "torch.load" not in message
    assert not (run.parent / "executed").exists()


# ------------------------------------------------------------------------------------------------ damaged records


DAMAGE = {
    "empty": b"",
    "list": b"[1, 2]",
    "binary": bytes(range(128, 256)),
    "truncated": b'{"starts": [',
    "huge": b'{"a": "' + b"x" * 300_000,
    "deep": b"[" * 100_000,
    "long": b'{"a": "' + b"x" * 2_000_000 + b'"}',
    "null": b"null",
}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize(
    ("name", "todo"),
    [
        ("recipe.yaml", "put it back from a copy"),
        ("environment.json", "move it elsewhere, and resume again"),
        ("data.json", "move it elsewhere if you know that they are the same"),
        ("metrics.csv", "Move it elsewhere, and resume again"),
    ],
)
def test_a_damaged_file_of_a_run_is_named_with_what_to_do(name, todo, damage, run):
    (run / name).write_bytes(DAMAGE[damage])
    before = contents(run)
    with pytest.raises(TrainingError, match=re.escape(f"{run / name} is damaged (")) as caught:
        resume(run, quiet=True)
    message = str(caught.value)
    assert todo in message
    assert "\n" not in message
    assert len(message) < 1000
    assert contents(run)[name] == before[name]


@pytest.mark.parametrize("damage", [*DAMAGE, "results"])
def test_damaged_results_are_named_and_can_be_written_again(damage, whole, tmp_path):
    folder = shutil.copytree(whole.folder, tmp_path / "run")
    path = folder / "results.json"
    before = path.read_bytes()
    path.write_bytes(DAMAGE.get(damage, b'{"results": [1]}'))
    message = refused(folder, re.escape(f"{path} is damaged ("))
    assert f"Move it elsewhere, and equicolor train --resume {folder} writes it again" in message
    if damage == "results":
        path.unlink()
        resume(folder, quiet=True)
        assert path.read_bytes() == before


@pytest.mark.parametrize("share", [0.3, 0.6, 0.99])
def test_a_recipe_without_its_last_lines_is_not_another_recipe(share, run):
    path = run / "recipe.yaml"
    text = path.read_text()
    path.write_text(text[: int(share * len(text))])
    refused(run, r"recipe\.yaml is damaged \(.*its last lines are missing\)")


def test_a_recipe_with_a_field_of_the_future_is_named(run):
    values = yaml.safe_load((run / "recipe.yaml").read_text())
    (run / "recipe.yaml").write_text(yaml.safe_dump({**values, "magic": 1}))
    refused(run, r"recipe\.yaml is damaged \(unknown field of a recipe 'magic'")


def test_no_line_of_the_metrics_is_dropped_but_half_a_last_one(run, whole):
    path = run / "metrics.csv"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([lines[0], lines[1][:4] + "\n", *lines[2:]]))
    refused(run, r"metrics\.csv is damaged \(line 2 is incomplete\)")
    path.write_text("".join(lines)[:-5])
    resume(run, quiet=True)
    assert rows(run) == rows(whole.folder)


def test_metrics_that_end_before_the_checkpoint_are_named(run):
    path = run / "metrics.csv"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:2]))
    refused(
        run, r"metrics\.csv is damaged \(it ends at step \d+, where the run had recorded step 8\)\. Move it elsewhere"
    )


# ------------------------------------------------------------------------------------------------ full disks


def test_a_disk_that_fills_while_metrics_are_logged_is_named_with_what_to_type(run, whole, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(Metrics, "_write", _full)
        with pytest.raises(TrainingError) as caught:
            resume(run, quiet=True)
    message = str(caught.value)
    assert re.search(rf"cannot log metrics into {re.escape(str(run))}: the disk at /\S* is full\.", message)
    assert message.endswith(
        f"The checkpoint of step 8 is kept: make room, then resume with equicolor train --resume '{run}'"
    )
    resume(run, quiet=True)
    assert_identical(weights(run), weights(whole.folder))
    assert rows(run) == rows(whole.folder)


def _full(*_):
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_logger_that_hides_the_error_of_the_disk_does_not_hide_it_from_the_user(tmp_path, monkeypatch):
    from lightning.fabric.loggers import tensorboard

    metrics = Metrics(tmp_path, ["tensorboard"], ["loss"])
    monkeypatch.setattr(tensorboard.TensorBoardLogger, "experiment", _Broken())
    with pytest.raises(TrainingError, match=r"cannot log metrics into .* is full") as caught:
        metrics.add(1, 0.1, {"loss": 2.24})
    assert "not supported" not in str(caught.value)
    metrics.close(failed=True)


class _Broken:
    add_scalar = staticmethod(_full)
    flush = close = staticmethod(lambda: None)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can mount a small disk")
def test_a_small_disk_is_filled_by_metrics_alone(tmp_path, monkeypatch):
    disk = tmp_path / "small disk"
    disk.mkdir()
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=4m", "none", disk], capture_output=True, check=False
    ).returncode:
        pytest.skip("no disk can be mounted here")
    try:
        recipe = SMALL.replace(group=None, loggers=["csv", "tensorboard"], checkpoint_every=1000, log_every=1)
        stop_at(monkeypatch, 3, lambda session: _fill(disk))
        with pytest.raises(TrainingError) as caught:
            fit(recipe, disk / "run", quiet=True)
        assert f"the disk at {disk} is full" in str(caught.value)
        assert f"resume with equicolor train --resume '{disk / 'run'}'" in str(caught.value)
        (disk / "filler").unlink()
        monkeypatch.undo()
        assert resume(disk / "run", quiet=True).summary["steps"] == 12
    finally:
        subprocess.run(["umount", "-l", disk], check=True)


def _fill(disk):
    with (disk / "filler").open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"x" * 4096)
        except OSError:
            pass


def test_json_records_are_still_what_they_were(run, whole):
    resume(run, quiet=True)
    starts = json.loads((run / "environment.json").read_text())["starts"]
    assert [start["step"] for start in starts] == [0, 8]
