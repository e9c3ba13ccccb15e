"""Recipes for images that no recipe was written for."""

from equicolor.train import Recipe, recipe_for

DIGITS = {"data": "digits", "model": "z2cnn"}


def test_few_images_are_trained_on_for_more_epochs():
    small = recipe_for({**DIGITS, "train_size": 64})
    assert (small.epochs, small.iterations, small.batch_size, small.schedule) == (None, 600, 32, "cosine")
    assert recipe_for({**DIGITS, "train_size": 1440, "batch_size": 8}).iterations == 10 * 180


def test_what_is_said_goes_first():
    said = {**DIGITS, "epochs": 3, "batch_size": 128, "schedule": "constant"}
    assert recipe_for(said) == Recipe.from_dict(said)
