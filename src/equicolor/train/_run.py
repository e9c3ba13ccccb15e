"""A run's folder: what is in it, and the finished run read back from it."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml  # type: ignore[import-untyped]
from torch import nn

from equicolor.files import from_pretrained
from equicolor.train._checkpoints import resume_command
from equicolor.train._errors import TrainingError
from equicolor.train._recipe import Recipe

RECIPE, DATA, ENVIRONMENT, RESULTS = "recipe.yaml", "data.json", "environment.json", "results.json"
CHECKPOINTS, MODEL, LOCK = "checkpoints", "model", ".lock.partial"


@dataclass(frozen=True)
class Run:
    """A finished run.

    Attributes:
        folder: where everything about it is.
        recipe: as it was resolved.
        results: of each test split, ``{"test": {"loss": ..., "error": ..., "balanced_error": ...}}``; errors are
            fractions, the balanced one is the mean over classes. Two classes have an ``auc`` too.
        summary: the results with the numbers around them, as in ``results.json``.
    """

    folder: Path
    recipe: Recipe
    summary: dict[str, Any]

    @property
    def results(self) -> dict[str, dict[str, float]]:
        results: dict[str, dict[str, float]] = self.summary["results"]
        return results

    @property
    def model(self) -> nn.Module:
        """The trained network, read from the folder."""
        return from_pretrained(self.folder / MODEL)

    @property
    def has_model(self) -> bool:
        """Whether the folder has the trained network still: results may be kept without it."""
        return (self.folder / MODEL).is_dir()

    @staticmethod
    def is_begun(folder: str | os.PathLike[str]) -> bool:
        """Whether a folder holds a run, finished or not."""
        return (Path(folder) / RECIPE).is_file()

    @staticmethod
    def is_finished(folder: str | os.PathLike[str]) -> bool:
        """Whether a folder holds a run that has its results."""
        return (Path(folder) / RESULTS).is_file()

    @classmethod
    def read(cls, folder: str | os.PathLike[str]) -> "Run":
        """The finished run in a folder."""
        folder = Path(folder).expanduser()
        recipe = read_recipe(folder)
        if not cls.is_finished(folder):
            raise TrainingError(f"the run in {folder} is not finished: go on with {resume_command(folder)}")
        return cls(folder, recipe, json.loads((folder / RESULTS).read_text()))


def read_recipe(folder: Path) -> Recipe:
    """The recipe of the run in a folder."""
    path = folder / RECIPE
    if not path.is_file():
        raise TrainingError(f"there is no run in {folder}: no {RECIPE}")
    return Recipe.from_dict(yaml.safe_load(path.read_text(encoding="utf-8")))
