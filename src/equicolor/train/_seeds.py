"""One recipe trained with several seeds: a run for each, in a folder of its own, and what they have in common."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev

from equicolor._tools.files import write_json
from equicolor._tools.tables import Table, show_table
from equicolor.train._checkpoints import Checkpoints
from equicolor.train._disk import CHECKPOINTS, disk_trouble, readable, resume_command
from equicolor.train._errors import StoppedError, TrainingError
from equicolor.train._fit import fit, resume
from equicolor.train._recipe import Recipe
from equicolor.train._recipe_files import read_recipe_file, write_recipe_file
from equicolor.train._run import Run

#: The recipe of all seeds, in the folder above their runs; and what they led to.
SEEDS, SUMMARY = "seeds.yaml", "seeds.json"


@dataclass(frozen=True)
class Seeds:
    """The finished runs of several seeds.

    Attributes:
        folder: the folder that holds them.
        runs: by seed.
    """

    folder: Path
    runs: dict[int, Run]

    def values(self, split: str, metric: str) -> list[float]:
        """A metric of a test split, of each seed that has it.

        Args:
            split: the split.
            metric: the name of the metric.

        Returns:
            The values, in the order of the seeds.
        """
        return [run.results[split][metric] for run in self.runs.values() if metric in run.results[split]]

    def summary(self) -> dict[str, dict[str, dict[str, float]]]:
        """The mean and the (sample) deviation over seeds, of each metric of each test split."""
        first = next(iter(self.runs.values()))
        return {
            split: {metric: _spread(self.values(split, metric)) for metric in metrics}
            for split, metrics in first.results.items()
        }

    def table(self) -> Table:
        """A table of the mean ± the deviation, of each test split."""
        first = next(iter(self.runs.values()))
        summary = self.summary()
        metrics = list(dict.fromkeys(metric for values in summary.values() for metric in values))
        rows = [
            (split, *(_shown(metric, values[metric]) if metric in values else "" for metric in metrics))
            for split, values in summary.items()
        ]
        recipe, seeds = first.recipe, ", ".join(map(str, self.runs))
        title = f"{recipe.network} on {recipe.title}, mean ± deviation over seeds {seeds}"
        return Table(title, ("split", *metrics), rows)


def fit_seeds(recipe: Recipe, seeds: Sequence[int], folder: str | os.PathLike[str], *, quiet: bool = False) -> Seeds:
    """Trains by a recipe once for each seed, into ``seed-N`` below a folder.

    Runs of the same recipe and seed that are there already are kept.

    Args:
        recipe: what to train, and how; its seed does not matter.
        seeds: two or more.
        folder: a folder that is new, empty, or that of the same recipe and seeds, which then goes on.
        quiet: show no progress and no tables.

    Returns:
        The finished runs.

    Raises:
        TrainingError: the folder holds something else, or as for :func:`fit`.
    """
    folder = Path(folder).expanduser()
    recipe = recipe.replace(seeds=list(seeds), seed=seeds[0])
    if (folder / SEEDS).is_file():
        if _read(folder) != recipe:
            raise TrainingError(
                f"{folder} holds the runs of another recipe: go on with them by {resume_command(folder)}, or choose "
                "another folder"
            )
        return resume_seeds(folder, quiet=quiet)
    if Run.is_begun(folder) or (folder.is_dir() and any(folder.iterdir())):
        raise TrainingError(f"{folder} is not empty: choose a new folder for the runs")
    try:
        write_recipe_file(folder / SEEDS, recipe.to_yaml())
    except OSError as error:
        raise disk_trouble(error, folder, "write the runs into") from error
    return resume_seeds(folder, quiet=quiet)


def resume_seeds(folder: str | os.PathLike[str], *, quiet: bool = False, restart: bool = False) -> Seeds:
    """Goes on with the runs of several seeds where they stopped.

    Args:
        folder: the folder above the runs.
        quiet: show no progress and no tables.
        restart: as for :func:`resume`.

    Returns:
        The finished runs.

    Raises:
        StoppedError: the run was stopped by Ctrl-C or SIGTERM.
        TrainingError: as for :func:`resume`.
    """
    folder = Path(folder).expanduser()
    recipe = _read(folder)
    runs: dict[int, Run] = {}
    for seed in recipe.seeds:
        place = folder / f"seed-{seed}"
        try:
            if Run.is_finished(place):
                runs[seed] = Run.read(place)
            elif Run.is_begun(place):
                whole = Checkpoints(place / CHECKPOINTS).newest()
                runs[seed] = resume(place, quiet=quiet, restart=restart and whole is None)
            else:
                runs[seed] = fit(recipe.replace(seed=seed), place, quiet=quiet)
        except StoppedError as error:
            stopped = str(error).partition(". Go on with")[0]
            raise StoppedError(f"seed {seed}: {stopped}. Go on with {resume_command(folder)}") from error
    found = Seeds(folder, runs)
    content = {"seeds": {seed: run.results for seed, run in runs.items()}, "summary": found.summary()}
    write_json(folder / SUMMARY, content, durable=True)
    if not quiet:
        show_table(found.table())
    return found


def has_seeds(folder: str | os.PathLike[str]) -> bool:
    """Whether a folder holds the runs of several seeds.

    Args:
        folder: the folder.

    Returns:
        True where it does.
    """
    return (Path(folder).expanduser() / SEEDS).is_file()


def _read(folder: Path) -> Recipe:
    path = folder / SEEDS
    with readable(path, "It says what the runs in this folder compute: put it back from a copy, or choose another"):
        return Recipe.from_dict(read_recipe_file(path))


def _spread(values: Sequence[float]) -> dict[str, float]:
    return {"mean": fmean(values), "deviation": stdev(values) if len(values) > 1 else 0.0}


def _shown(metric: str, spread: dict[str, float]) -> str:
    mean, deviation = spread["mean"], spread["deviation"]
    return f"{mean:.4f} ± {deviation:.4f}" if metric == "loss" else f"{mean:.2%} ± {deviation:.2%}"
