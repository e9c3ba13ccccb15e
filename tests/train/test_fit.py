"""Runs: what they leave behind, what stops them, and that stopping changes nothing."""

import csv
import errno
import json
import math
import random
import re
import signal
import subprocess
import sys
import time

import pytest
import torch

import equicolor as ec
from equicolor.train import DivergedError, Recipe, Run, StoppedError, TrainingError, fit, resume
from equicolor.train import _fit as fit_module
from equicolor.train._checkpoints import Checkpoints
from runs import SMALL, assert_identical, fail, finish, start, stop_at, torchrun, weights


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The small run, never interrupted."""
    torch.set_num_threads(1)  # as the tests have, which come after this
    return fit(SMALL, tmp_path_factory.mktemp("whole") / "run", quiet=True)


def rows(folder):
    with (folder / "metrics.csv").open() as file:
        return [{k: v for k, v in row.items() if k != "images_per_second"} for row in csv.DictReader(file)]


# -------------------------------------------------------------------------------------------------- what a run leaves


def test_a_run_leaves_everything_needed_to_understand_and_repeat_it(whole):
    assert Recipe.load(whole.folder / "recipe.yaml") == SMALL
    (begun,) = json.loads((whole.folder / "environment.json").read_text())["starts"]
    release, _, build = torch.__version__.partition("+")
    assert begun["packages"]["torch"] in (release, f"{release}+{build}")  # some wheels leave the build out
    assert begun["command"]
    assert "equicolor" in begun["git"]
    assert [row["step"] for row in rows(whole.folder)] == ["2", "4", "6", "8", "10", "12", "12"]
    recorded = json.loads((whole.folder / "data.json").read_text())
    assert recorded["training"]["train"]["count"] == 96
    assert recorded["testing"]["test_b"]["classes"] == list("0123456789")
    assert whole.results["test_b"].keys() == {"loss", "error"}
    assert whole == Run.read(whole.folder)


def test_the_exported_model_has_the_reported_error(whole):
    model = ec.from_pretrained(whole.folder / "model")
    images, labels = ec.data.load("hue_shift_digits", split="test_b")[:]
    with torch.no_grad():
        wrong = (model(images).argmax(1) != labels).float().mean()
    assert whole.results["test_b"]["error"] == pytest.approx(float(wrong), abs=1e-6)


def test_training_lowers_the_loss(tmp_path):
    run = fit(SMALL.replace(augment="none", train_size=160, epochs=4), tmp_path / "run", quiet=True)
    losses = [float(row["loss"]) for row in rows(run.folder) if row["loss"]]
    assert losses[-1] < 0.7 * losses[0]


def test_tensorboard_has_the_metrics_of_the_csv(tmp_path):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    run = fit(SMALL.replace(loggers=["csv", "tensorboard"], iterations=4), tmp_path / "run", quiet=True)
    events = EventAccumulator(str(run.folder / "tensorboard")).Reload()
    assert [event.step for event in events.Scalars("loss")] == [2, 4]
    assert events.Scalars("test_b_error")[0].value == pytest.approx(run.results["test_b"]["error"])


def test_the_table_at_the_end_names_splits_and_errors(tmp_path, capsys):
    run = fit(SMALL.replace(iterations=2), tmp_path / "run")
    printed = capsys.readouterr()
    assert "test_b" in printed.out
    assert f"{run.results['test_b']['error']:.2%}" in printed.out
    assert "error on test_b" in printed.err


def test_a_terminal_shows_loss_error_speed_and_the_time_left(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")  # what makes rich take a captured stream for a terminal
    monkeypatch.setenv("COLUMNS", "160")
    fit(SMALL.replace(iterations=4), tmp_path / "run")
    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", capsys.readouterr().err)
    assert re.search(r"4/4 loss \d+\.\d{4}  error \d+\.\d\d%  [\d,]+ images/s \S+ left \S+", shown)


# -------------------------------------------------------------------------------------------------- exact resumption


def test_a_run_killed_at_random_moments_ends_with_the_same_weights(tmp_path):
    """SIGKILL, at moments that none of our code can notice: inside epochs, inside the writing of a checkpoint too."""
    recipe = SMALL.replace(group=None, train_size=100, batch_size=4, epochs=8, checkpoint_every=3, lr=0.01)
    expected = fit(recipe, tmp_path / "whole", quiet=True)
    moments, folder, steps = random.Random(2025), tmp_path / "killed", []
    for _ in range(5):
        process = start(recipe, folder)
        reached = (steps[-1] if steps else -1) + moments.choice([1, 6, 15, 25])
        while process.is_alive() and _last_step(folder) < reached:
            time.sleep(0.001)
        time.sleep(moments.uniform(0, 0.03))  # anywhere in the steps and the writing that follow
        process.kill()
        process.join()
        assert process.exitcode == -signal.SIGKILL, "the run was over before it was killed"
        steps.append(_last_step(folder))
    finish(start(recipe, folder))
    assert len(set(steps)) == 5
    assert any(step % 25 for step in steps)
    assert_identical(weights(folder), weights(expected.folder))
    assert Run.read(folder).results == expected.results
    assert rows(folder) == rows(expected.folder)


def _last_step(folder):
    step = Checkpoints(folder / "checkpoints").latest_step()
    return -1 if step is None else step


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
    folder, export = tmp_path / "run", fit_module._Session._export

    def damage_and_export(self):
        newest = self.checkpoints.newest()
        newest.write_bytes(newest.read_bytes()[:-1])
        export(self)

    with monkeypatch.context() as patch:
        patch.setattr(fit_module._Session, "_export", damage_and_export)
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
        patch.setattr("equicolor.train._checkpoints._sha256", unreadable)
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


# -------------------------------------------------------------------------------------------------- what stops a run


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
def test_a_signal_stops_with_a_checkpoint_and_says_how_to_go_on(number, tmp_path, whole, monkeypatch):
    folder = tmp_path / "run"
    with monkeypatch.context() as patch:
        stop_at(patch, 5, lambda session: signal.raise_signal(number))
        with pytest.raises(StoppedError, match=f"step 6 of 12.*equicolor train --resume {folder}"):
            fit(SMALL, folder, quiet=True)
    assert Checkpoints(folder / "checkpoints").latest_step() == 6
    assert_identical(weights(resume(folder, quiet=True).folder), weights(whole.folder))


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
        while process.is_alive() and _last_step(tmp_path / "run") < 1:
            time.sleep(0.01)
        with pytest.raises(TrainingError, match="another process is training in"):
            resume(tmp_path / "run", quiet=True)
    finally:
        process.kill()
        process.join()


def test_a_folder_that_cannot_be_written_fails_before_anything_is_computed(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(fit_module._Session, "_build", lambda self: pytest.fail("computed"))
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
    monkeypatch.setattr(fit_module._Session, "_train", lambda self: pytest.fail("trained"))
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
    with pytest.raises(TypeError, match="no option 'nonsense'"):
        fit(SMALL.replace(model_options={"nonsense": 1}), tmp_path / "run", quiet=True)
    assert list((tmp_path / "run").iterdir()) == []


# -------------------------------------------------------------------------------------------------- ways to train


def test_accumulation_changes_nothing_but_rounding_and_norms(tmp_path, monkeypatch):
    """Batch norms see the parts of a batch one by one, so here they are frozen."""

    def frozen(self, mode=True):
        self.training = False
        return self

    monkeypatch.setattr(torch.nn.BatchNorm2d, "train", frozen)
    recipe = SMALL.replace(augment="none", iterations=3, precision="64-true")
    one = fit(recipe, tmp_path / "one", quiet=True)
    parts = fit(recipe.replace(accumulate=4), tmp_path / "parts", quiet=True)
    start = fit_module.new_model(recipe, ec.data.load("digits")).state_dict()
    moved = [name for name, value in weights(one.folder).items() if not torch.equal(value, start[name])]
    assert moved
    for name, value in weights(one.folder).items():
        torch.testing.assert_close(weights(parts.folder)[name], value, atol=1e-6, rtol=1e-6)


def test_the_random_numbers_of_the_caller_go_on_undisturbed(tmp_path):
    torch.manual_seed(3)
    expected = torch.rand(3)
    torch.manual_seed(3)
    fit(SMALL.replace(iterations=1), tmp_path / "run", quiet=True)
    assert torch.equal(torch.rand(3), expected)
    assert not torch.are_deterministic_algorithms_enabled()


def test_segmentation_learns_masks(tmp_path, monkeypatch):
    """Squares of colour on grey: the segmenter finds them."""
    from equicolor.data._imageset import ImageSet
    from equicolor.data._sources import Held

    masks = torch.zeros(32, 1, 24, 24, dtype=torch.uint8)
    for index in range(32):
        masks[index, :, index % 12 : index % 12 + 10, 6:16] = 1
    images = (
        torch.full((32, 3, 24, 24), 90, dtype=torch.uint8) + masks * torch.tensor([150, 20, 0])[:, None, None].byte()
    )
    squares = ImageSet(
        "caltech101",
        "train",
        source=Held(images),
        masks=Held(masks),
        rows=torch.arange(32),
        original_rows=torch.arange(32),
        labels=torch.zeros(32, dtype=torch.long),
        classes=("square",),
        task="segmentation",
    )
    monkeypatch.setattr("equicolor.train._data.load", lambda name, **options: squares)
    recipe = Recipe(
        "caltech101",
        "segmenter",
        group="hue3",
        task="segmentation",
        model_options={"width": 16},
        epochs=10,
        batch_size=4,
        lr=0.003,
        augment="flip",
        loggers=["csv"],
        accelerator="cpu",
    )
    run = fit(recipe, tmp_path / "run", quiet=True)
    assert run.results["test"].keys() == {"loss", "error", "iou"}
    assert run.results["test"]["error"] < masks.float().mean() / 2  # calling all of it background has the mean


def test_compiling_is_asked_of_the_network(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(torch.nn.Module, "compile", lambda self: asked.append(type(self).__name__))
    fit(SMALL.replace(iterations=1, compile=True), tmp_path / "run", quiet=True)
    assert asked == ["Z2CNN"]


def test_filters_are_channels_last_unless_told_otherwise(tmp_path, monkeypatch):
    seen = {}

    def look(session):
        strides = [p for p in session.model.parameters() if p.dim() == 4 and min(p.shape[1:]) > 1]
        seen[session.recipe.channels_last] = all(
            p.is_contiguous(memory_format=torch.channels_last) and not p.is_contiguous() for p in strides
        )

    stop_at(monkeypatch, 0, look)
    fit(SMALL.replace(iterations=1), tmp_path / "one", quiet=True)
    fit(SMALL.replace(iterations=1, channels_last=False), tmp_path / "other", quiet=True)
    assert seen == {True: True, False: False}


# -------------------------------------------------------------------------------------------------- many processes


def test_two_processes_have_the_losses_of_one(tmp_path):
    """gloo on this machine: the same global batch, divided, with batch norms over all of it; in double precision, so
    that nothing but a mistake could make them differ visibly."""
    recipe = SMALL.replace(
        augment="none", log_every=1, iterations=6, test_splits=["test_a", "test_b"], precision="64-true", clip=1.0
    )
    one = fit(recipe, tmp_path / "one", quiet=True)
    torchrun(recipe, tmp_path / "two", processes=2)
    two = Run.read(tmp_path / "two")
    assert len(rows(two.folder)) == len(rows(one.folder)) == 7
    for here, there in zip(rows(one.folder), rows(two.folder), strict=True):
        for name in here:
            assert float(here[name] or 0) == pytest.approx(float(there[name] or 0), abs=1e-6), (name, here, there)
    for name, value in weights(one.folder).items():
        torch.testing.assert_close(weights(two.folder)[name], value, atol=1e-6, rtol=1e-6)


def test_without_the_extra_the_error_says_what_to_install():
    program = "import sys; sys.modules['lightning'] = None\nimport equicolor.train"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "pip install 'equicolor[train]'" in run.stderr
