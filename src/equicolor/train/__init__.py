"""Training: recipes, and runs that resume exactly; what changes the weights of a network is here and nowhere else.

``fit(recipe, folder)`` trains into a folder that holds everything about the run, ``resume(folder)`` goes on with it. A
:class:`Recipe` decides what is computed, :class:`ImageData` which images a step sees, a :class:`Learner` makes losses
of them, and the loop, on Lightning Fabric, does the rest. What is done with a network once it is trained lives in
``trained``; what is trained for a table of the paper, in ``experiments``.

>>> from equicolor.train import Recipe, list_recipes
>>> Recipe.load("hue_shift_mnist:hue3", {"epochs": 1}).group
'hue3'
"""

from typing import TYPE_CHECKING

from equicolor._tools.later import later

if TYPE_CHECKING:
    from equicolor.train._canonical import train_canonicalizer
    from equicolor.train._data import ImageData, StepSampler
    from equicolor.train._dry_run import Plan, dry_run
    from equicolor.train._errors import DivergedError, StoppedError, TrainingError
    from equicolor.train._estimate import expected_seconds
    from equicolor.train._fit import fit, resume
    from equicolor.train._learner import Learner
    from equicolor.train._own import recipe_for
    from equicolor.train._recipe import Recipe, meant
    from equicolor.train._recipe_files import list_recipes
    from equicolor.train._run import Run
    from equicolor.train._seeds import Seeds, fit_seeds, has_seeds, resume_seeds

__all__ = [
    "DivergedError",
    "ImageData",
    "Learner",
    "Plan",
    "Recipe",
    "Run",
    "Seeds",
    "StepSampler",
    "StoppedError",
    "TrainingError",
    "dry_run",
    "expected_seconds",
    "fit",
    "fit_seeds",
    "has_seeds",
    "list_recipes",
    "meant",
    "recipe_for",
    "resume",
    "resume_seeds",
    "train_canonicalizer",
]

if not TYPE_CHECKING:  # Lightning takes as long to import as PyTorch, and a recipe needs none of it
    __getattr__, __dir__ = later(
        __name__,
        {
            "equicolor.train._canonical": ("train_canonicalizer",),
            "equicolor.train._data": ("ImageData", "StepSampler"),
            "equicolor.train._dry_run": ("Plan", "dry_run"),
            "equicolor.train._errors": ("DivergedError", "StoppedError", "TrainingError"),
            "equicolor.train._estimate": ("expected_seconds",),
            "equicolor.train._fit": ("fit", "resume"),
            "equicolor.train._learner": ("Learner",),
            "equicolor.train._own": ("recipe_for",),
            "equicolor.train._recipe": ("Recipe", "meant"),
            "equicolor.train._recipe_files": ("list_recipes",),
            "equicolor.train._run": ("Run",),
            "equicolor.train._seeds": ("Seeds", "fit_seeds", "has_seeds", "resume_seeds"),
        },
    )
