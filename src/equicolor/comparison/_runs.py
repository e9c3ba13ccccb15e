"""Training runs, kept by what they compute: experiments that need the same run share it."""

import dataclasses
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, TypeVar

from equicolor._tools.files import digest
from equicolor._tools.progress import progress
from equicolor.comparison._ledger import Entry, Ledger
from equicolor.data import is_own, load, original_file
from equicolor.train import ImageData, Recipe, Run, TrainingError, fit, resume
from equicolor.trained import Change, evaluate

Found = TypeVar("Found", float, dict[str, float])

#: Fields of a recipe that do not change what a run computes, or that its name shows anyway.
_IMMATERIAL = {"seeds", "seed", "loggers", "log_every", "checkpoint_every", "evaluate_every", "workers"}
_IMMATERIAL |= {"accelerator", "devices", "nodes", "strategy", "license"}
#: Names that runs were named by before they were spelled as they are now.
_SPELLED_BEFORE = {"color-jitter": "colour-jitter", "center-crop": "centre-crop"}
_SPELLED_BEFORE |= {"color_of_shapes3d": "colour_of_shapes3d"}


class Runs:
    """The runs of experiments: in ``runs/`` a folder for each that was trained here, in ``runs.jsonl`` results of all.

    Results are enough for most experiments, so they can be published without the networks, which take much room.
    """

    def __init__(self, root: Path, quiet: bool = False) -> None:
        self.folder, self.ledger, self.quiet = root / "runs", Ledger(root / "runs.jsonl"), quiet

    def of(self, recipe: Recipe) -> Path:
        """The folder of a recipe's run, whether or not it is there."""
        return self.folder / run_name(recipe)

    def finished(self, recipe: Recipe) -> Run | None:
        """The run of a recipe, if it has its results."""
        folder = self.of(recipe)
        if Run.is_finished(folder):
            return Run.read(folder)
        entry = self.ledger.read().get(folder.name)
        if entry is None or not entry.summary:
            return None
        return Run(folder, Recipe.from_dict(entry.recipe), entry.summary)

    def trained(self, recipe: Recipe, *, quiet: bool = False, loaded: ImageData | None = None) -> Run:
        """The finished run of a recipe: found, resumed or trained; on images that are loaded already, if they are."""
        folder = self.of(recipe)
        run = self.finished(recipe)
        if run is None:
            options: dict[str, Any] = {"quiet": quiet} if loaded is None else {"quiet": quiet, "loaded": loaded}
            run = resume(folder, **options) if Run.is_begun(folder) else fit(recipe, folder, **options)
        if folder.name not in self.ledger.read():
            self.ledger.append(folder.name, recipe=run.recipe.to_dict(), summary=run.summary)
        return run

    def check_network(self, recipe: Recipe) -> None:
        """Refuses a finished run that has lost its network, or was published without it."""
        run = self.finished(recipe)
        if run is not None and not run.has_model:
            raise TrainingError(
                f"there are the results of the run {run.folder.name} and not its network, which is needed here: choose "
                f"another --folder; or remove {run.folder}, and the lines of the run from {self.ledger.path}, to train "
                "it again"
            )

    def error_under(self, run: Run, split: str, shift: str) -> float:
        """The error of a trained network on a split under a colour shift; measured once, then kept with the run."""
        return self._kept("shifted", run, f"{split} {shift}", lambda: _error(run, split, shift, quiet=self.quiet))

    def error_on(self, run: Run, split: str, name: str, change: Change) -> float:
        """The same on images that are changed in a way that is no shift of a data set; it is kept by this name."""
        return self._kept("shifted", run, f"{split} {name}", lambda: _error(run, split, None, change, self.quiet))

    def measured(self, run: Run, name: str, measure: Callable[[], dict[str, float]]) -> dict[str, float]:
        """Several numbers of a trained network, measured once, then kept with the run by this name."""
        return self._kept("measured", run, name, measure)

    def measured_if_there(
        self, run: Run, name: str, measure: Callable[[], dict[str, float]]
    ) -> dict[str, float] | None:
        """The same; None of a run that was kept without its network before this was measured."""
        known = self.ledger.read().get(run.folder.name, Entry()).measured
        return self.measured(run, name, measure) if name in known or run.has_model else None

    def _kept(self, part: Literal["shifted", "measured"], run: Run, name: str, measure: Callable[[], Found]) -> Found:
        known: dict[str, Found] = getattr(self.ledger.read().get(run.folder.name, Entry()), part)
        if name in known:
            return known[name]
        self.check_network(run.recipe)
        value = measure()
        self.ledger.append(run.folder.name, **{part: {name: value}})
        return value


def run_name(recipe: Recipe) -> str:
    """The name of a run, the same for all that compute the same.

    >>> run_name(Recipe(data="digits", model="z2cnn", group="hue4", epochs=1, log_every=7))
    'digits-z2cnn-hue4-8588d421-1999'
    """
    known = "digits" if is_own(recipe.data) else recipe.data  # files of the user's own have no defaults: all is told
    fresh = Recipe(data=known, model=recipe.model, epochs=recipe.epochs, iterations=recipe.iterations)
    telling = {
        entry.name: value
        for entry in dataclasses.fields(recipe)
        if entry.name not in _IMMATERIAL
        # Only what differs from the default, so that a field that is added later renames nothing.
        and ((value := getattr(recipe, entry.name)) != getattr(fresh, entry.name) or entry.name in ("data", "model"))
    }
    telling |= {"epochs": recipe.epochs, "iterations": recipe.iterations}
    telling |= {name: _as_before(telling[name]) for name in ("data", "augment") if name in telling}
    if recipe.around is not None:
        telling["around"] = Path(recipe.around).name  # of a run, which says it all; where it lies does not matter
    if recipe.weights is not None:
        telling["weights"] = _content(Path(recipe.weights))
    if original_file(recipe.data, recipe.data_options.get("root")):
        telling["original"] = True  # the same recipe on other images than the embedded ones
    digest = hashlib.sha256(json.dumps(telling, sort_keys=True).encode()).hexdigest()[:8]
    model = recipe.model.replace(":", "-")  # not every system has colons in the names of folders
    return f"{_as_before(recipe.data)}-{model}-{recipe.group or 'conventional'}-{digest}-{recipe.seed}"


def _content(weights: Path) -> str:
    """What stands for weights, wherever they lie: of a file its content, of a run, which says it all, the name."""
    return digest(weights)[:16] if weights.is_file() else weights.name


def _as_before(name: str) -> str:
    """A pipeline or a set as it was spelled when runs were first named by it: their names stay what they are."""
    for american, british in _SPELLED_BEFORE.items():
        name = name.replace(american, british)
    return name


def _error(run: Run, split: str, shift: str | None, change: Change | None = None, quiet: bool = False) -> float:
    """Images are changed first, then prepared as the card of the network says."""
    recipe = run.recipe
    size = recipe.test_size
    few = {} if size is None else {"in_memory": False}  # of a set that is rendered, no more than the sample is
    images = load(recipe.data, split=split, **{**recipe.data_options, **few, "shift": shift})
    images = images.sample(size) if size else images
    model = run.model
    if model.preparation is None:
        raise TrainingError(
            f"the card of {run.folder.name} does not say how images are prepared: it was written by an early version. "
            f"Remove {run.folder} to train it again"
        )
    with progress(f"measuring {run.folder.name}", len(images), shown=not quiet) as advance:
        return evaluate(model, images, advance=advance, change=change).error
