"""Training canonicalisers: by themselves, in runs that resume exactly, and around networks that stay as they are."""

import json

import pytest
import torch

import equicolor as ec
from equicolor.data import load
from equicolor.nn import Canonicalizer
from equicolor.train import Recipe, fit, resume, train_canonicalizer
from runs import SMALL, fail, stop_at

RECIPE = SMALL.replace(group=None, canonicalize="temp-tint", canonicalizer_steps=3)


def weights(run):
    return run.model.state_dict()


def test_it_learns_to_find_moves_of_light():
    images = load("hue_shift_digits", split="train").sample(256)
    made = Canonicalizer("temp", size=16)
    batch = ec.color.as_images(images.fetch(range(64)).images)
    amounts = torch.linspace(-1, 1, 64)[:, None]
    loss = train_canonicalizer(made, images, steps=120, batch_size=64)
    moved = made.group.move_by(batch, amounts)
    before, after = amounts, made(moved).move - made(batch).move
    assert (after - amounts).square().mean() < 0.5 * before.square().mean()
    assert loss < 0.3


def test_it_learns_that_images_as_they_are_have_not_been_turned():
    red = torch.rand(64, 3, 16, 16) * torch.tensor([1.0, 0.3, 0.3]).view(3, 1, 1)
    made = Canonicalizer("hue4", size=16)
    optimizer = torch.optim.Adam(made.parameters(), 1e-2)
    for _ in range(30):
        made.train().loss(red, torch.zeros(64, 1)).backward()
        optimizer.step()
        optimizer.zero_grad()
    canonical, move = made.eval()(made.group.act_on_images(1, red))
    assert (move == 90).float().mean() > 0.9
    torch.testing.assert_close(canonical[move[:, 0] == 90], red[move[:, 0] == 90], atol=1e-5, rtol=0)


def test_its_training_is_a_function_of_the_seed():
    images, states = load("hue_shift_digits", split="train").sample(64), []
    for seed in (1, 1, 2):
        torch.manual_seed(0)
        made = Canonicalizer("temp-tint", size=16)
        torch.rand(seed)  # what is drawn elsewhere does not matter
        train_canonicalizer(made, images, steps=3, batch_size=32, seed=seed)
        states.append(made.state_dict())
    same, other = (all(torch.equal(states[0][name], state[name]) for name in state) for state in states[1:])
    assert same
    assert not other


def test_around_a_network_that_stays_as_it_is():
    network = ec.create_model("z2cnn").requires_grad_(False).eval()
    before = {name: value.clone() for name, value in network.state_dict().items()}
    whole = ec.canonicalize(network, "temp-tint", size=16)
    images = load("hue_shift_digits", split="train").sample(128)
    train_canonicalizer(whole.canonicalizer, images, steps=120, batch_size=64)
    assert all(torch.equal(value, before[name]) for name, value in network.state_dict().items())
    batch = ec.color.as_images(images.fetch(range(64)).images)
    still = whole.canonicalizer(batch).move[:, 0].mean()
    moved = whole.canonicalizer(whole.canonicalizer.group.move_by(batch, [1.0, 0.0])).move[:, 0].mean()
    assert still.abs() < 0.15  # no move, on the average, of images as they are
    assert moved > 0.3


@pytest.mark.parametrize("learns", [False, True], ids=["frozen", "together"])
def test_a_run_that_was_stopped_ends_as_if_nothing_had_happened(learns, tmp_path, monkeypatch):
    recipe = RECIPE.replace(canonicalizer_learns=learns, epochs=1)
    whole = fit(recipe, tmp_path / "whole", quiet=True)
    with monkeypatch.context() as patch:
        stop_at(patch, 5, fail)
        with pytest.raises(KeyboardInterrupt):
            fit(recipe, tmp_path / "parts", quiet=True)
    parts = resume(tmp_path / "parts", quiet=True)
    assert all(torch.equal(value, weights(parts)[name]) for name, value in weights(whole).items())
    assert parts.results == whole.results


def test_a_frozen_canonicaliser_is_what_its_own_training_made_of_it(tmp_path):
    run = fit(RECIPE.replace(epochs=1), tmp_path / "run", quiet=True)
    other = fit(RECIPE.replace(epochs=1, lr=0.001), tmp_path / "other", quiet=True)
    own = [
        {name: value for name, value in weights(r).items() if name.startswith("canonicalizer.")} for r in (run, other)
    ]
    assert own[0]
    assert all(torch.equal(value, own[1][name]) for name, value in own[0].items())
    assert run.model.config["canonicalize"]["group"] == "temp3-tint3"
    card = json.loads((run.folder / "model" / "config.json").read_text())
    assert card["architecture"]["canonicalize"]["mode"] == "continuous"


def test_a_recipe_says_what_is_wrong():
    with pytest.raises(ValueError, match="unknown group 'warmth'"):
        Recipe.from_dict({"data": "digits", "model": "z2cnn", "epochs": 1, "canonicalize": "warmth"})
