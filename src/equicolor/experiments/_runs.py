"""Training runs, kept by what they compute: experiments that need the same run share it."""

import dataclasses
import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import torch
from torch import Tensor

from equicolor.data import Augment, load, original_file
from equicolor.deploy import optimize_for_inference
from equicolor.experiments._ledger import Ledger
from equicolor.train import Recipe, Run, TrainingError, fit, resume

#: From images to images, ``(B, 3, H, W)`` in [0, 1].
Change: TypeAlias = Callable[[Tensor], Tensor]

#: Fields of a recipe that do not change what a run computes, or that its name shows anyway.
_IMMATERIAL = {"seeds", "seed", "loggers", "log_every", "checkpoint_every", "evaluate_every", "workers"}
_IMMATERIAL |= {"accelerator", "devices", "nodes", "strategy"}


class Runs:
    """The runs of experiments: in ``runs/`` a folder for each that was trained here, in ``runs.jsonl`` results of all.

    Results are enough for most experiments, so they can be published without the networks, which take much room.
    """

    def __init__(self, root: Path) -> None:
        self.folder, self.ledger = root / "runs", Ledger(root / "runs.jsonl")

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

    def trained(self, recipe: Recipe, *, quiet: bool = False) -> Run:
        """The finished run of a recipe: found, resumed or trained."""
        folder = self.of(recipe)
        run = self.finished(recipe)
        if run is None:
            run = resume(folder, quiet=quiet) if Run.is_begun(folder) else fit(recipe, folder, quiet=quiet)
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
        return self._kept(run, f"{split} {shift}", lambda: _error(run, split, shift))

    def error_on(self, run: Run, split: str, name: str, change: Change) -> float:
        """The same on images that are changed in a way that is no shift of a data set; it is kept by this name."""
        return self._kept(run, f"{split} {name}", lambda: _error(run, split, None, change))

    def _kept(self, run: Run, name: str, measure: Callable[[], float]) -> float:
        entry = self.ledger.read().get(run.folder.name)
        if entry is not None and name in entry.shifted:
            return entry.shifted[name]
        self.check_network(run.recipe)
        error = measure()
        self.ledger.append(run.folder.name, shifted={name: error})
        return error


def run_name(recipe: Recipe) -> str:
    """The name of a run, the same for all that compute the same.

    >>> run_name(Recipe(data="digits", model="z2cnn", group="hue4", epochs=1, log_every=7))
    'digits-z2cnn-hue4-8588d421-1999'
    """
    fresh = Recipe(data=recipe.data, model=recipe.model, epochs=recipe.epochs, iterations=recipe.iterations)
    telling = {
        entry.name: value
        for entry in dataclasses.fields(recipe)
        if entry.name not in _IMMATERIAL
        # Only what differs from the default, so that a field that is added later renames nothing.
        and ((value := getattr(recipe, entry.name)) != getattr(fresh, entry.name) or entry.name in ("data", "model"))
    }
    telling |= {"epochs": recipe.epochs, "iterations": recipe.iterations}
    if recipe.around is not None:
        telling["around"] = Path(recipe.around).name  # of a run, which says it all; where it lies does not matter
    if original_file(recipe.data, recipe.data_options.get("root")):
        telling["original"] = True  # the same recipe on other images than the embedded ones
    digest = hashlib.sha256(json.dumps(telling, sort_keys=True).encode()).hexdigest()[:8]
    return f"{recipe.data}-{recipe.model}-{recipe.group or 'conventional'}-{digest}-{recipe.seed}"


@torch.inference_mode()
def _error(run: Run, split: str, shift: str | None, change: Change = lambda images: images) -> float:
    """As in training: what its augmentation does in testing, such as taking the colour away, is done here too."""
    recipe = run.recipe
    size = recipe.test_size
    few = {} if size is None else {"in_memory": False}  # of a set that is rendered, no more than the sample is
    images = load(recipe.data, split=split, **{**recipe.data_options, **few, "shift": shift})
    images = images.sample(size) if size else images
    augment = Augment(recipe.augment, recipe.input_size or images.image_size).eval()
    model = optimize_for_inference(run.model)
    wrong = sum(int((model(augment(change(x))).argmax(1) != labels).sum()) for x, labels in images.batches(256))
    return wrong / len(images)
