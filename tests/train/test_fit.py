"""Runs: what they leave behind, and every way to train."""

import json
import re
import subprocess
import sys

import pytest
import torch

import equicolor as ec
from equicolor import fusion
from equicolor.train import Recipe, Run, fit, resume
from equicolor.train._learner import new_model
from runs import SMALL, assert_identical, fail, rows, stop_at, torchrun, weights


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
    assert whole.results["test_b"].keys() == {"loss", "error", "balanced_error"}
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


def test_the_rate_of_every_step_is_the_recipes(tmp_path):
    recipe = SMALL.replace(warmup=3, log_every=1)
    run = fit(recipe, tmp_path / "run", quiet=True)
    rates = [float(row["lr"]) for row in rows(run.folder) if row["lr"]]
    assert rates == [recipe.rate(step, 12) for step in range(12)]


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


def test_accumulation_changes_nothing_but_rounding_and_norms(tmp_path, monkeypatch):
    """Batch norms see the parts of a batch one by one, so here they are frozen."""

    def frozen(self, mode=True):
        self.training = False
        return self

    monkeypatch.setattr(torch.nn.BatchNorm2d, "train", frozen)
    recipe = SMALL.replace(augment="none", iterations=3, precision="64-true")
    one = fit(recipe, tmp_path / "one", quiet=True)
    parts = fit(recipe.replace(accumulate=4), tmp_path / "parts", quiet=True)
    start = new_model(recipe, ec.data.load("digits")).state_dict()
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
    from equicolor.data import Held, ImageSet

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


def test_fused_a_run_learns_the_same_and_goes_on_where_it_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(fusion._pieces, "compiled", lambda piece: piece.graph)  # what they say, in no time
    narrow = {"model": "resnet18", "group": "hue4", "model_options": {"width": 4, "algorithm": "fast"}}
    recipe = SMALL.replace(**narrow, iterations=4, checkpoint_every=2, precision="64-true")
    before = fit(recipe, tmp_path / "before", quiet=True)
    run = fit(recipe.replace(fuse=True), tmp_path / "fused", quiet=True)
    theirs = weights(before.folder)
    assert all(torch.allclose(value, theirs[name], atol=1e-6) for name, value in weights(run.folder).items())
    with pytest.MonkeyPatch.context() as once:
        stop_at(once, 3, fail)
        with pytest.raises(KeyboardInterrupt):
            fit(recipe.replace(fuse=True), tmp_path / "stopped", quiet=True)
    resume(tmp_path / "stopped", quiet=True)
    assert_identical(weights(tmp_path / "stopped"), weights(run.folder))


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
    program = "import sys; sys.modules['lightning'] = None\nfrom equicolor.train import fit"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "pip install 'equicolor[train]'" in run.stderr
