"""Training: recipes, and runs that resume exactly; what changes the weights of a network is here and nowhere else.

``fit(recipe, folder)`` trains into a folder that holds everything about the run, ``resume(folder)`` goes on with it. A
:class:`Recipe` decides what is computed, :class:`ImageData` which images a step sees, a :class:`Learner` makes losses
of them, and the loop, on Lightning Fabric, does the rest. What is done with a network once it is trained lives in
``trained``; what is trained for a table of the paper, in ``experiments``.

>>> from equicolor.train import Recipe, list_recipes
>>> Recipe.load("hue_shift_mnist:hue3", {"epochs": 1}).group
'hue3'
"""

from equicolor._tools.optional import require

require("lightning", "training")  # a clear word first, instead of a failing import further down

from equicolor.train._canonical import train_canonicalizer  # noqa: E402
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
    "train_canonicalizer",
]
