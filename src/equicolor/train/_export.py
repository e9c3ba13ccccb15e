"""The end of a run: the trained network and the results, in the folder."""

from pathlib import Path
from typing import Any

import torch

from equicolor._tools.files import write_json
from equicolor.files import save_pretrained
from equicolor.train._checkpoints import Checkpoints, load_checkpoint
from equicolor.train._data import ImageData
from equicolor.train._disk import disk_trouble, resume_command
from equicolor.train._errors import TrainingError
from equicolor.train._learner import new_model, prepared_as
from equicolor.train._recipe import Recipe
from equicolor.train._recipe_files import FORMAT
from equicolor.train._run import MODEL, RESULTS


def export(recipe: Recipe, data: ImageData, checkpoints: Checkpoints, folder: Path) -> None:
    """Writes both from the last checkpoint: whole, also where training was sharded.

    Raises:
        TrainingError: that checkpoint is damaged, or the disk cannot take them.
    """
    path, steps = checkpoints.newest(), data.steps
    state = path and load_checkpoint(path, steps, lambda: torch.load(path, map_location="cpu", weights_only=True))
    if not state or state["step"] < steps:
        raise TrainingError(
            f"the last checkpoint, of step {steps:,}, is damaged: {resume_command(folder)} goes on from the one before"
        )
    model = new_model(recipe, data.train, begins=False)
    model.load_state_dict(state["model"])
    classes = data.train.classes if recipe.task == "classification" else None
    summary = {
        "data": recipe.data,
        "model": recipe.model,
        "group": recipe.group,
        "seed": recipe.seed,
        "parameters": model.num_parameters,
        "steps": state["step"],
        "seconds": round(state["seconds"], 3),
        "images_per_second": round(state["step"] * recipe.batch_size / max(state["seconds"], 1e-9), 1),
        "results": state["results"],
    }
    model.preparation = prepared_as(recipe, data.train)
    about = {"name": recipe.title, "split": recipe.train_split, "images": len(data.train)}
    try:
        save_pretrained(
            model,
            folder / MODEL,
            classes,
            data={**about, "fingerprint": data.train.fingerprint().digest},
            recipe=_published(recipe),
            metrics=state["results"],
            license=recipe.license,
        )
        write_json(folder / RESULTS, summary, durable=True)
    except OSError as error:
        raise disk_trouble(error, folder, "write the trained model into") from error


def _published(recipe: Recipe) -> dict[str, Any]:
    """The recipe without the folders of this machine."""
    values = {"format": FORMAT, **recipe.to_dict()}
    here = ("root", "cache")
    around, weights = (None if path is None else Path(path).name for path in (recipe.around, recipe.weights))
    options = {name: value for name, value in recipe.data_options.items() if name not in here}
    return values | {"data_options": options, "around": around, "weights": weights}
