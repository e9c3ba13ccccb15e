"""A run's folder: what is in it, and the finished run read back from it."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import nn

from equicolor.files import from_pretrained
from equicolor.train._disk import read_json, readable, resume_command
from equicolor.train._errors import TrainingError
from equicolor.train._recipe import Recipe
from equicolor.train._recipe_files import read_recipe_file
from equicolor.train._same_data import Fingerprints, check_data

RECIPE, DATA, ENVIRONMENT, RESULTS = "recipe.yaml", "data.json", "environment.json", "results.json"
MODEL, LOCK = "model", ".lock.partial"


@dataclass(frozen=True)
class Run:
    """A finished training run.

    Attributes:
        folder: where everything about it is.
        recipe: as it was resolved.
        summary: the results with the numbers around them, as in ``results.json``.
        results: the results on each test split, ``{"test": {"loss": ..., "error": ..., "balanced_error": ...}}``;
            errors are fractions, the balanced one is the mean over classes. Two classes have an ``auc`` too.
    """

    folder: Path
    recipe: Recipe
    summary: dict[str, Any]

    @property
    def results(self) -> dict[str, dict[str, float]]:
        """The results of each test split."""
        results: dict[str, dict[str, float]] = self.summary["results"]
        return results

    @property
    def model(self) -> nn.Module:
        """The trained network, read from the folder."""
        return from_pretrained(self.folder / MODEL)

    @property
    def has_model(self) -> bool:
        """Whether the folder still has the trained network; results may be kept without it."""
        return (self.folder / MODEL).is_dir()

    def check_data(self, images: Fingerprints) -> None:
        """Refuses images that are not those the run was trained and tested on.

        Args:
            images: what :meth:`ImageData.fingerprints` gave.

        Raises:
            TrainingError: naming what has changed.
        """
        check_data(self.folder / DATA, images)

    @staticmethod
    def is_begun(folder: str | os.PathLike[str]) -> bool:
        """Whether a folder holds a run, finished or not.

        Args:
            folder: the folder.

        Returns:
            True where it does.
        """
        return (Path(folder) / RECIPE).is_file()

    @staticmethod
    def is_finished(folder: str | os.PathLike[str]) -> bool:
        """Whether a folder holds a run that has its results.

        Args:
            folder: the folder.

        Returns:
            True where it does.
        """
        return (Path(folder) / RESULTS).is_file()

    @classmethod
    def read(cls, folder: str | os.PathLike[str]) -> "Run":
        """Reads the finished run in a folder.

        Args:
            folder: the folder.

        Returns:
            The run.

        Raises:
            TrainingError: there is none.
        """
        folder = Path(folder).expanduser()
        recipe = read_recipe(folder)
        if not cls.is_finished(folder):
            raise TrainingError(f"the run in {folder} is not finished: go on with {resume_command(folder)}")
        return cls(folder, recipe, _read_results(folder))


def read_recipe(folder: Path) -> Recipe:
    """The recipe of the run in a folder."""
    path = folder / RECIPE
    if not path.is_file():
        raise TrainingError(f"there is no run in {folder}: no {RECIPE}")
    todo = f"It says what the run in {folder} computes: put it back from a copy, or start a new run in another folder"
    with readable(path, todo):
        return Recipe.from_dict(read_recipe_file(path))


def _read_results(folder: Path) -> dict[str, Any]:
    path = folder / RESULTS
    todo = f"Move it elsewhere, and {resume_command(folder)} writes it again from the last checkpoint"
    summary = read_json(path, todo)
    with readable(path, todo):
        splits = summary["results"]
        if not isinstance(splits, dict) or not all(isinstance(values, dict) for values in splits.values()):
            raise ValueError("its results are no numbers by name, of each split")
    return summary
