"""What a network was trained on is what it is evaluated on: every variant of every recipe, for two steps."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from equicolor import commands
from equicolor.data import Description, Files, Held, Raw, Request, Split, _registry, load
from equicolor.data.augment import steps_of
from equicolor.models import is_from_elsewhere
from equicolor.train import Recipe, fit, list_recipes
from equicolor.trained import open_model, predict, set_batches
from original_formats import write_image

#: The short way of everything that a recipe says about how long, how wide and how many.
SHORT = {
    "iterations": 2,
    "batch_size": 4,
    "train_size": 8,
    "test_size": 12,
    "evaluate_every": 0,
    "canonicalizer_steps": 1,
    "workers": 0,
    "loggers": ["csv"],
    "accelerator": "cpu",
    "lr": 1e-3,
}
CLASSES = ("ape", "bee", "cat")


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Photographs that are not square, each of another colour."""
    folder = tmp_path_factory.mktemp("pictures")
    for number in range(24):
        colour = (10 * number, 250 - 10 * number, 80 * (number % 3))
        write_image(folder / f"{number}.png", (44, 36), None if number % 2 else colour)
    return folder


@pytest.fixture
def stand_ins(pictures: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the place of every set that has to be downloaded, a few pictures, read and cut as photographs are."""

    def read(request: Request) -> Raw:
        labels = torch.arange(24) % 3
        ink = (torch.arange(request.how.size**2) % 3 == 0).byte().view(1, 1, request.how.size, -1)
        files = Files(pictures, [f"{number}.png" for number in range(24)], request.how)
        return Raw(files, labels, CLASSES, masks=Held(ink.repeat(24, 1, 1, 1)) if request.masks else None)

    def stand_in(description: Description) -> Description:
        splits = {name: Split(split.part, shift=split.shift) for name, split in description.splits.items()}
        return replace(description, reader=read, splits=splits, signs=(), hub=None, remotes=(), gray=False)

    for name, description in _registry.DATASETS.items():
        if description.source == "files" and description.look is None:
            monkeypatch.setitem(_registry.DATASETS, name, stand_in(description))


def short(name: str) -> Recipe:
    """A variant of a recipe, on small images with a narrow network."""
    recipe = Recipe.load(name)
    own = recipe.data_options.get("image_size") or _registry.DATASETS[recipe.data].image_size
    sizes = {"data_options.image_size": 32} if own > 32 else {}
    sizes |= {"input_size": 28} if recipe.input_size else {}
    sizes |= {"model": "resnet18"} if is_from_elsewhere(recipe.model) else {}
    return Recipe.load(name, {**SHORT, **sizes, "model_options.width": 4})


@pytest.mark.usefixtures("stand_ins")
@pytest.mark.parametrize("name", [f"{name}:{variant}" for name, those in list_recipes().items() for variant in those])
def test_evaluate_prints_what_the_results_of_the_run_say(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    recipe = short(name)
    fit(recipe, "run", quiet=True)
    results = json.loads(Path("run/results.json").read_text())["results"]
    opened = open_model("run", "cpu")
    for split in recipe.test_splits:
        found = commands.evaluate("run", data=recipe.data, split=split, limit=recipe.test_size, device="cpu")
        assert found.error == pytest.approx(results[split]["error"], abs=1e-7)
        assert f"{results[split]['error']:.2%}" in capsys.readouterr().out
    if recipe.task == "classification":
        split = recipe.test_splits[0]
        assert _loss(opened, recipe, split) == pytest.approx(results[split]["loss"], rel=1e-5)
    assert opened.preparation.gray == ("gray" in steps_of(recipe.augment))
    assert opened.card.metrics == results
    assert opened.card.recipe["augment"] == recipe.augment


def _loss(opened, recipe, split):
    """From the probabilities that ``predict`` gives: errors of two steps may agree by chance, these do not."""
    plan = opened.preparation
    images = load(recipe.data, split=split, image_size=plan.side, fit=plan.fit).sample(recipe.test_size)
    said = torch.stack([each.probabilities for each in predict(opened.model, set_batches(images, 12), opened.classes)])
    return float(-said[torch.arange(len(images)), images.labels].log().mean())
