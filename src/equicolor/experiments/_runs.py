"""Training runs, kept by what they compute: experiments that need the same run share it."""

import dataclasses
import hashlib
import json
from pathlib import Path

import torch

from equicolor._tools.files import write_text
from equicolor.data import Augment, load, original_file
from equicolor.deploy import optimize_for_inference
from equicolor.train import Recipe, Run, TrainingError, fit, resume
from equicolor.train._run import MODEL, RECIPE, RESULTS

#: Fields of a recipe that do not change what a run computes, or that its folder's name shows anyway.
_IMMATERIAL = {"seeds", "seed", "loggers", "log_every", "checkpoint_every", "evaluate_every", "workers"}
_IMMATERIAL |= {"accelerator", "devices", "nodes", "strategy"}


def run_name(recipe: Recipe) -> str:
    """The name of a run's folder, the same for all that compute the same.

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
    if original_file(recipe.data, recipe.data_options.get("root")):
        telling["original"] = True  # the same recipe on other images than the embedded ones
    digest = hashlib.sha256(json.dumps(telling, sort_keys=True).encode()).hexdigest()[:8]
    return f"{recipe.data}-{recipe.model}-{recipe.group or 'conventional'}-{digest}-{recipe.seed}"


def is_finished(recipe: Recipe, root: Path) -> bool:
    """Whether the run of a recipe has its results."""
    return (run_folder(recipe, root) / RESULTS).is_file()


def run_folder(recipe: Recipe, root: Path) -> Path:
    """Where the run of a recipe is, or will be."""
    return root / "runs" / run_name(recipe)


def trained(recipe: Recipe, root: Path, *, quiet: bool = False) -> Run:
    """The finished run of a recipe: found, resumed or trained.

    Args:
        recipe: what to train.
        root: the folder that runs are kept in.
        quiet: no progress.
    """
    folder = run_folder(recipe, root)
    return resume(folder, quiet=quiet) if (folder / RECIPE).is_file() else fit(recipe, folder, quiet=quiet)


def needs_network(folder: Path) -> None:
    """Refuses a finished run that has lost its network, or was published without it."""
    if (folder / RESULTS).is_file() and not (folder / MODEL).is_dir():
        raise TrainingError(
            f"{folder} has the results of a run and not its network, which is needed here: choose another "
            "--folder, or remove this one to train it again"
        )


def error_under(run: Run, split: str, shift: str) -> float:
    """The error of a trained network on a split under a colour shift; measured once, then kept with the run."""
    path = run.folder / "shifted.json"
    known: dict[str, float] = json.loads(path.read_text()) if path.is_file() else {}
    name = f"{split} {shift}"
    if name not in known:
        needs_network(run.folder)
        known[name] = _error(run, split, shift)
        write_text(path, json.dumps(known, indent=1) + "\n")
    return known[name]


@torch.inference_mode()
def _error(run: Run, split: str, shift: str) -> float:
    """As in training: what its augmentation does in testing, such as taking the colour away, is done here too."""
    recipe = run.recipe
    images = load(recipe.data, split=split, **{**recipe.data_options, "shift": shift})
    images = images.sample(recipe.test_size) if recipe.test_size else images
    augment = Augment(recipe.augment, recipe.input_size or images.image_size).eval()
    model = optimize_for_inference(run.model)
    wrong = sum(int((model(augment(x)).argmax(1) != labels).sum()) for x, labels in images.batches(256))
    return wrong / len(images)
