"""Runs for the tests of experiments: made up, or so small that they take a second."""

from dataclasses import replace
from pathlib import Path

from equicolor.experiments import Row, Runner
from equicolor.train import Recipe, Run

SMALL = Recipe(
    data="hue_shift_digits",
    model="z2cnn",
    group="hue3",
    test_splits=["test_a", "test_b"],
    train_size=96,
    test_size=48,
    epochs=1,
    batch_size=16,
    checkpoint_every=2,
    evaluate_every=0,
    loggers=["csv"],
    accelerator="cpu",
    seeds=[1, 2],
)


def made_up(recipe, error, **more):
    """A finished run that nobody trained: this error on the first test split, 1 % more on each of the next."""
    results = {split: {"error": error + 0.01 * k, **more} for k, split in enumerate(recipe.test_splits)}
    return Run(Path("runs/made-up"), recipe, {"results": results, "parameters": 12345, "steps": 6, "seconds": 1.0})


class MadeUp(Runner):
    """A runner whose training takes no time: seed k of the n-th row has an error of n + k/10 %."""

    def train(self, rows, *, weights=False):
        return {
            row.label: [made_up(recipe, (number + k / 10) / 100, iou=0.5) for k, recipe in enumerate(row.seeded)]
            for number, row in enumerate(rows)
        }


def small_row(label="Hue-3", **changes):
    return Row(label, replace(SMALL, **changes))
