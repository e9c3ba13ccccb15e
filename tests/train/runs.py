"""Small runs for the tests of training, and a way to start them as a process of their own."""

import os
import subprocess
import sys
from pathlib import Path

import torch

from equicolor.train import Recipe

SMALL = Recipe(
    data="hue_shift_digits",
    model="z2cnn",
    group="hue3",
    test_splits=["test_b"],
    data_options={"in_memory": True},
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

PROGRAM = """
import sys
import torch
torch.set_num_threads(1)
from pathlib import Path
import yaml
from equicolor.train import Recipe, TrainingError, fit, resume
folder, recipe = Path(sys.argv[1]), Path(sys.argv[2])
try:
    if (folder / "recipe.yaml").exists():
        resume(folder, quiet=True)
    else:
        fit(Recipe.load(recipe), folder, quiet=True)
except TrainingError as error:
    sys.exit(f"{type(error).__name__}: {error}")
"""


def command(recipe: Recipe, folder: Path, launcher: list[str] | None = None) -> list[str]:
    """What starts, or goes on with, a run in a process of its own."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    given, program = folder.parent / f"{folder.name}.yaml", folder.parent / "program.py"
    given.write_text(recipe.to_yaml())
    program.write_text(PROGRAM)
    return [sys.executable, *(launcher or []), str(program), str(folder), str(given)]


def start(recipe: Recipe, folder: Path, launcher: list[str] | None = None) -> "subprocess.Popen[str]":
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONFAULTHANDLER": "0"}
    return subprocess.Popen(
        command(recipe, folder, launcher), stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    )


def finish(process: "subprocess.Popen[str]") -> None:
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors


def weights(folder: Path) -> dict[str, torch.Tensor]:
    from safetensors.torch import load_file

    return load_file(folder / "model" / "model.safetensors")


def assert_identical(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> None:
    assert one.keys() == other.keys()
    for name, value in one.items():
        assert torch.equal(value, other[name]), name
