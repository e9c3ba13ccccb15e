"""Training canonicalisers: by themselves, in runs that resume exactly, and around networks that stay as they are."""

import json
import shutil
import signal
import time

import pytest
import torch
from PIL import Image

import equicolor as ec
from equicolor.cli import main
from equicolor.data import load
from equicolor.nn import Canonicalizer
from equicolor.train import Recipe, Run, fit, resume, train_canonicalizer
from equicolor.trained import open_model
from runs import SMALL, assert_identical, fail, last_step, rows, start, stop_at, torchrun
from runs import weights as saved

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


def test_any_folder_of_images_will_do(tmp_path):
    for name in ("a.png", "deep/b.png", "deep/er/c.jpg", ".hidden/d.png", "notes.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        if name.endswith("txt"):
            (tmp_path / name).write_text("no image")
        else:
            Image.new("RGB", (20, 30), (200, 100, 50)).save(tmp_path / name)
    images = ec.data.load_unlabeled(tmp_path, 16)
    assert (len(images), images.classes) == (3, ("image",))
    assert images[:3].images.shape == (3, 3, 16, 16)
    made = Canonicalizer("temp", size=16)
    assert train_canonicalizer(made, tmp_path, steps=2) >= 0
    assert not made.training
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        train_canonicalizer(made, tmp_path / "nowhere", steps=2)
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match=r"empty holds no images: expected files that end in \.bmp"):
        train_canonicalizer(made, tmp_path / "empty", steps=2)
    with pytest.raises(ValueError, match="holds no images to train a canonicaliser on"):
        train_canonicalizer(made, images.subset([]), steps=2)


def test_a_run_says_what_it_is_about_before_the_canonicaliser_and_how_long_that_takes(tmp_path, capsys):
    fit(RECIPE.replace(iterations=1, canonicalizer_steps=8), tmp_path / "run")
    out, err = capsys.readouterr()
    assert "z2cnn (canonicalised by temp-tint) on hue_shift_digits" in " ".join(out.split())
    assert open_model(tmp_path / "run").describe().startswith("z2cnn, canonicalised by temp3-tint3, ")
    said = err.splitlines()
    assert said[0].startswith("training on hue_shift_digits train")
    assert said[1].startswith("training the canonicaliser, 8 steps, will take about ")


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


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """A trained network without a canonicaliser."""
    torch.set_num_threads(1)
    return fit(SMALL.replace(group=None), tmp_path_factory.mktemp("plain") / "run", quiet=True)


def recipe_of(way, plain, moves="temp-tint"):
    """The small recipe by one of the three ways to train a canonicaliser."""
    if way == "around":
        options = {name: value for name, value in SMALL.to_dict().items() if name not in ("model", "group")}
        return Recipe.from_dict({**options, "canonicalize": moves, "around": str(plain.folder)})
    return RECIPE.replace(canonicalizer_training=way, canonicalize=moves)


@pytest.mark.parametrize("moves", ["temp-tint", "hue4"])
@pytest.mark.parametrize("way", ["first", "together", "around"])
def test_a_run_that_was_stopped_ends_as_if_nothing_had_happened(way, moves, plain, tmp_path, monkeypatch):
    recipe = recipe_of(way, plain, moves).replace(epochs=1)
    whole = fit(recipe, tmp_path / "whole", quiet=True)
    with monkeypatch.context() as patch:
        stop_at(patch, 5, fail)
        with pytest.raises(KeyboardInterrupt):
            fit(recipe, tmp_path / "parts", quiet=True)
    parts = resume(tmp_path / "parts", quiet=True)
    assert_identical(saved(parts.folder), saved(whole.folder))
    assert parts.results == whole.results
    assert rows(parts.folder) == rows(whole.folder)


@pytest.mark.parametrize("way", ["first", "together", "around"])
def test_a_run_that_was_killed_ends_with_the_same_weights(way, plain, tmp_path):
    recipe = recipe_of(way, plain).replace(batch_size=4, epochs=4, checkpoint_every=3)
    whole = fit(recipe, tmp_path / "whole", quiet=True)
    process = start(recipe, tmp_path / "killed")
    while process.is_alive() and last_step(tmp_path / "killed") < 9:
        time.sleep(0.001)
    process.kill()
    process.join()
    assert process.exitcode == -signal.SIGKILL, "the run was over before it was killed"
    assert_identical(saved(resume(tmp_path / "killed", quiet=True).folder), saved(whole.folder))


@pytest.mark.parametrize("moves", ["temp-tint", "hue4"])
def test_a_network_around_which_a_canonicaliser_learns_stays_as_it_is_bit_for_bit(moves, plain, tmp_path):
    run = fit(recipe_of("around", plain, moves), tmp_path / "run", quiet=True)
    after, before = saved(run.folder), saved(plain.folder)
    network = {name.removeprefix("network."): value for name, value in after.items() if name.startswith("network.")}
    assert any("running_var" in name for name in network)
    assert_identical(network, before)
    fresh = fit(recipe_of("around", plain, moves).replace(lr=1e-9), tmp_path / "fresh", quiet=True)
    assert any(not torch.equal(value, saved(fresh.folder)[name]) for name, value in after.items())


def test_what_learnt_around_a_network_is_saved_with_it(plain, tmp_path):
    run = fit(recipe_of("around", plain), tmp_path / "run", quiet=True)
    images = torch.rand(4, 3, 32, 32)
    canonical = run.model.canonicalizer(images).images
    torch.testing.assert_close(run.model(images), plain.model(canonical))
    card = json.loads((run.folder / "model" / "config.json").read_text())
    assert card["architecture"]["canonicalize"]["group"] == "temp3-tint3"
    assert card["classes"] == json.loads((plain.folder / "model" / "config.json").read_text())["classes"]
    assert (run.recipe.model, run.recipe.group, run.recipe.canonicalizer_training) == ("z2cnn", None, "around")


def test_the_network_is_read_once_when_the_run_begins(plain, tmp_path, monkeypatch):
    moved = tmp_path / "moved"
    shutil.copytree(plain.folder / "model", moved)
    recipe = recipe_of("around", plain).replace(around=str(moved))
    whole = fit(recipe, tmp_path / "whole", quiet=True)
    with monkeypatch.context() as patch:
        stop_at(patch, 5, fail)
        with pytest.raises(KeyboardInterrupt):
            fit(recipe, tmp_path / "parts", quiet=True)
    shutil.rmtree(moved)
    assert_identical(saved(resume(tmp_path / "parts", quiet=True).folder), saved(whole.folder))


def test_together_the_network_teaches_the_canonicaliser_too(plain, tmp_path):
    """From the same start and the same moves, what it has learnt differs with the labels."""
    recipe = recipe_of("together", plain, "hue4").replace(canonicalizer_steps=0, iterations=2)
    run = fit(recipe, tmp_path / "run", quiet=True)
    other = fit(recipe.replace(model_options={"mean": 0.4}), tmp_path / "other", quiet=True)
    own = [value for name, value in saved(run.folder).items() if name.startswith("canonicalizer.scores.1")]
    theirs = [value for name, value in saved(other.folder).items() if name.startswith("canonicalizer.scores.1")]
    assert own
    assert not all(torch.equal(one, two) for one, two in zip(own, theirs, strict=True))


@pytest.mark.parametrize("way", ["together", "around"])
def test_two_processes_have_the_losses_of_one(way, plain, tmp_path):
    """In double precision, so that nothing but a mistake could make them differ visibly."""
    recipe = recipe_of(way, plain).replace(
        iterations=4, canonicalizer_steps=0, precision="64-true", augment="none", log_every=1
    )
    one = fit(recipe, tmp_path / "one", quiet=True)
    torchrun(recipe, tmp_path / "two", processes=2)
    for here, there in zip(rows(one.folder), rows(tmp_path / "two"), strict=True):
        for name in here:
            assert float(here[name] or 0) == pytest.approx(float(there[name] or 0), abs=1e-6), (name, here, there)
    for name, value in saved(one.folder).items():
        torch.testing.assert_close(saved(tmp_path / "two")[name], value, atol=1e-6, rtol=1e-6)


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


def test_a_frozen_network_behind_a_canonicaliser_stays_in_eval_mode():
    whole = ec.canonicalize(ec.create_model("z2cnn").requires_grad_(False), "temp-tint").train()
    assert whole.canonicalizer.training
    assert not whole.network.training
    whole.network.requires_grad_(True)
    assert whole.train().network.training


BASE = {"data": "digits", "model": "z2cnn", "epochs": 1}


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"canonicalize": "warmth"}, "unknown group 'warmth'"),
        ({"canonicalizer_training": "together"}, "this recipe has none: say which moves"),
        ({"around": "somewhere"}, "this recipe has none: say which moves"),
        ({"canonicalize": "temp", "canonicalizer_training": "around"}, "around takes the folder of a run"),
        ({"canonicalize": "temp", "canonicalizer_training": "together", "around": "x"}, "or together with one"),
        ({"canonicalize": "temp", "canonicalizer_training": "later"}, "unknown canonicalizer_training"),
    ],
)
def test_a_recipe_says_what_is_wrong(fields, message):
    with pytest.raises(ValueError, match=message):
        Recipe.from_dict({**BASE, **fields})


def test_a_recipe_of_before_still_says_whether_the_canonicaliser_learns():
    old = {**BASE, "canonicalize": "temp", "canonicalizer_learns": True}
    assert Recipe.from_dict(old).canonicalizer_training == "together"
    assert Recipe.from_dict({**old, "canonicalizer_learns": False}).canonicalizer_training == "first"


def test_a_network_that_is_another_than_the_recipe_says_is_refused(plain, tmp_path):
    recipe = recipe_of("around", plain)
    with pytest.raises(ValueError, match="another than the recipe's, by mean: leave model"):
        fit(recipe.replace(model_options={"mean": 0.5}), tmp_path / "mean", quiet=True)
    with pytest.raises(FileNotFoundError, match="no folder nowhere"):
        fit(recipe.replace(around="nowhere"), tmp_path / "nowhere", quiet=True)


def test_a_network_of_other_classes_is_refused(plain, tmp_path):
    ec.save_pretrained(plain.model, tmp_path / "other", [f"letter {number}" for number in range(10)])
    with pytest.raises(ValueError, match=r"tells letter 0, .* and the images are of 0, 1, 2"):
        fit(recipe_of("around", plain).replace(around=str(tmp_path / "other")), tmp_path / "run", quiet=True)


def test_a_network_behind_a_canonicaliser_gets_no_second_one(plain, tmp_path):
    canonicalised = fit(recipe_of("first", plain).replace(iterations=1), tmp_path / "run", quiet=True)
    with pytest.raises(ValueError, match="behind a canonicaliser already"):
        recipe_of("around", canonicalised)


def test_from_the_command_line(plain, tmp_path):
    sizes = ["train_size=32", "batch_size=16", "iterations=2", "test_size=32", "loggers=csv", "test_splits=test_b"]
    arguments = ["train", "--data", "hue_shift_digits", "--canonicalize", "temp-tint", "--around", str(plain.folder)]
    arguments += ["--folder", str(tmp_path / "run"), *(word for size in sizes for word in ("--set", size))]
    assert main(arguments) == 0
    run = Run.read(tmp_path / "run")
    assert run.recipe.canonicalizer_training == "around"
    network = {name[8:]: value for name, value in saved(run.folder).items() if name.startswith("network.")}
    assert_identical(network, saved(plain.folder))
