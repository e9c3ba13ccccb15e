"""Small runs for the tests of training, also in processes of their own that can be killed."""

import csv
import multiprocessing
import os
import signal
import subprocess
import sys
from pathlib import Path

import torch

from equicolor.train import Recipe, TrainingError, _fit, fit, resume
from equicolor.train._checkpoints import Checkpoints

SMALL = Recipe(
    data="hue_shift_digits",
    model="z2cnn",
    group="hue3",
    test_splits=["test_b"],
    train_size=96,
    augment="crop+flip",
    optimizer="sgd",
    optimizer_options={"momentum": 0.9},
    lr=0.05,
    schedule="cosine",
    epochs=2,
    batch_size=16,
    checkpoint_every=4,
    log_every=2,
    evaluate_every=0,
    loggers=["csv"],
    accelerator="cpu",
)

# A server that has imported everything forks a fresh process in no time: what is tested is the killing, not importing.
_processes = multiprocessing.get_context("spawn" if sys.platform == "win32" else "forkserver")
_processes.set_forkserver_preload(["equicolor.train", "torchmetrics", "sklearn.datasets", "kornia.augmentation"])


def start(recipe, folder, largest_file=None):
    """Starts a run, or goes on with it, in a process of its own; what goes wrong is written beside its folder."""
    process = _processes.Process(target=_fit_or_resume, args=(recipe.to_dict(), folder, largest_file), daemon=False)
    process.start()
    return process


def _fit_or_resume(recipe, folder, largest_file):
    torch.set_num_threads(1)
    if largest_file is not None:
        _limit_files_after_the_start(largest_file)
    try:
        if (folder / "recipe.yaml").exists():
            resume(folder, quiet=True)
        else:
            fit(Recipe.from_dict(recipe), folder, quiet=True)
    except TrainingError as error:
        folder.with_suffix(".error").write_text(f"{type(error).__name__}: {error}")
        sys.exit(1)


def _limit_files_after_the_start(largest):
    """Once training is under way no file can grow beyond ``largest`` bytes: writing ends in the middle."""
    import resource

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    one_step = _fit.Session._one_step

    def limited(self, parts):
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest, resource.RLIM_INFINITY))
        return one_step(self, parts)

    _fit.Session._one_step = limited


def stop_at(monkeypatch, step, action):
    """Does something in the middle of a run, before a step."""
    original = _fit.Session._one_step

    def one_step(self, parts):
        if self.step == step:
            action(self)
        return original(self, parts)

    monkeypatch.setattr(_fit.Session, "_one_step", one_step)


def fail(session):
    raise KeyboardInterrupt


def finish(process):
    process.join(timeout=300)
    assert process.exitcode == 0


def torchrun(recipe: Recipe, folder: Path, processes: int) -> None:
    """A run by several processes of this machine."""
    program = "import sys; from equicolor.train import Recipe, fit; fit(Recipe.load(sys.argv[1]), sys.argv[2])"
    script, given = folder.with_suffix(".py"), folder.with_suffix(".yaml")
    script.write_text(program)
    given.write_text(recipe.to_yaml())
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={processes}"]
    run = subprocess.run(
        [*command, str(script), str(given), str(folder)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert run.returncode == 0, run.stderr


def rows(folder: Path) -> list[dict[str, str]]:
    """The lines of a run's metrics, without what differs every time."""
    with (folder / "metrics.csv").open() as file:
        return [{k: v for k, v in row.items() if k != "images_per_second"} for row in csv.DictReader(file)]


def last_step(folder: Path) -> int:
    """Of the newest checkpoint; -1 where there is none."""
    step = Checkpoints(folder / "checkpoints").latest_step()
    return -1 if step is None else step


def weights(folder: Path) -> dict[str, torch.Tensor]:
    """Of the exported network."""
    from safetensors.torch import load_file

    return load_file(folder / "model" / "model.safetensors")


def assert_identical(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> None:
    """Bit for bit."""
    assert one.keys() == other.keys()
    for name, value in one.items():
        assert torch.equal(value, other[name]), name
