"""Training: recipes, runs that resume exactly, and the Lightning modules they are made of.

>>> from equicolor.train import Recipe, list_recipes
>>> Recipe.load("hue_shift_mnist:hue3", {"epochs": 1}).group
'hue3'

``fit(recipe, folder)`` trains into a folder that holds everything about the run, ``resume(folder)`` goes on with it.
"""

from equicolor._tools.optional import require

require("lightning", "training")  # a clear word first, instead of a failing import further down

from equicolor.train._data import ImageData, StepSampler  # noqa: E402
from equicolor.train._errors import DivergedError, StoppedError, TrainingError  # noqa: E402
from equicolor.train._fit import fit, resume  # noqa: E402
from equicolor.train._learner import Learner  # noqa: E402
from equicolor.train._recipe import Recipe, list_recipes  # noqa: E402
from equicolor.train._run import Run  # noqa: E402

__all__ = [
    "DivergedError",
    "ImageData",
    "Learner",
    "Recipe",
    "Run",
    "StepSampler",
    "StoppedError",
    "TrainingError",
    "fit",
    "list_recipes",
    "resume",
]
