"""Recipes: the paper's hyperparameters, and any of them changed."""

import itertools
import re
import subprocess
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import equicolor as ec
from convert_networks import torchvision_models
from equicolor.models import is_from_elsewhere
from equicolor.train import Recipe, list_recipes
from equicolor.train._recipe_files import paper_recipes

EVERY = [
    name if not variant else f"{name}:{variant}" for name, more in list_recipes().items() for variant in ("", *more)
]

#: The paper's appendix, experiment by experiment.
APPENDIX = {
    "hue_shift_mnist:z2cnn": {"optimizer": "adam", "lr": 1e-3, "epochs": 5, "batch_size": 128},
    "hue_shift_mnist:hue4": {"optimizer": "adam", "lr": 1e-4, "epochs": 5, "batch_size": 128},
    "hue_shift_mnist:hue3": {"optimizer": "adam", "lr": 1e-4, "epochs": 5, "batch_size": 128},
    "hue_shift_shapes3d:z2cnn": {"optimizer": "adam", "lr": 1e-3, "epochs": 5, "batch_size": 128},
    "hue_shift_shapes3d:hue3": {"optimizer": "adam", "lr": 1e-4, "epochs": 5, "batch_size": 128},
    "hue_shift_shapes3d:resnet18": {"optimizer": "sgd", "lr": 1e-2, "iterations": 100_000, "batch_size": 128},
    "camelyon17": {"optimizer": "adam", "lr": 1e-2, "iterations": 10_000, "batch_size": 32, "model": "resnet50"},
    "cifar10": {"optimizer": "sgd", "lr": 1e-1, "schedule": "cosine", "epochs": 300, "batch_size": 128},
    "cifar100": {"optimizer": "sgd", "lr": 1e-1, "schedule": "cosine", "epochs": 300, "batch_size": 128},
    "caltech101": {"optimizer": "adam", "lr": 1e-2, "epochs": 300, "batch_size": 16, "model": "resnet18"},
    "stl10": {"optimizer": "adam", "lr": 1e-2, "epochs": 300, "batch_size": 16, "model": "resnet18"},
    "stanford_cars": {"optimizer": "adam", "lr": 1e-2, "epochs": 300, "batch_size": 16, "model": "resnet18"},
    "oxford_pets": {"optimizer": "adam", "lr": 1e-2, "epochs": 300, "batch_size": 16, "model": "resnet18"},
    "small_norb": {"optimizer": "adam", "lr": 1e-2, "epochs": 300, "batch_size": 16, "model": "resnet18"},
    "imagenet": {"optimizer": "adam", "lr": 1e-3, "epochs": 100, "batch_size": 64, "model": "resnet18"},
}


@pytest.mark.parametrize("name", APPENDIX)
def test_recipes_hold_the_hyperparameters_of_the_appendix(name):
    recipe = Recipe.load(name)
    assert {field: getattr(recipe, field) for field in APPENDIX[name]} == APPENDIX[name]


#: What says which experiment it is: nothing that could be from elsewhere.
UNSOURCED = {"data", "task", "variants"}


@pytest.mark.parametrize("name", list_recipes())
def test_recipes_say_where_each_value_is_from(name):
    lines = paper_recipes()[name].read_text().splitlines()
    head = " ".join(line.lstrip("# ") for line in itertools.takewhile(lambda line: line.startswith("#"), lines))
    if re.search("not from the paper", head, re.IGNORECASE):
        assert name not in {each.split(":")[0] for each in APPENDIX}
        return
    values = [line for line in lines if re.match(r"\w+:", line) and line.split(":")[0] not in UNSOURCED]
    assert values
    assert not [line for line in values if not re.search("# (paper|code|ours)", line)]


def test_recipes_hold_the_seeds_of_the_paper():
    for name in ("hue_shift_mnist", "hue_shift_shapes3d", "cifar10"):
        assert Recipe.load(name).seeds == [1999, 2000, 2001]
    assert Recipe.load("camelyon17").seeds == [1997, 1998, 1999, 2000, 2001]
    assert Recipe.load("imagenet").seeds == [1999]


def test_every_recipe_names_a_network_that_can_be_built():
    recipes = [Recipe.load(name) for name in EVERY]
    networks = {(recipe.model, recipe.group, str(recipe.model_options)): recipe for recipe in recipes}
    for recipe in networks.values():
        elsewhere = is_from_elsewhere(recipe.model)
        if elsewhere:
            torchvision_models()
        options = {"pretrained": False} if elsewhere else {}
        model = ec.create_model(recipe.model, group=recipe.group, **recipe.model_options, **options)
        assert model.config["name"] == recipe.model


@pytest.mark.parametrize(
    ("name", "classes", "size"),
    [
        ("hue_shift_mnist:z2cnn", 10, 22_130),
        ("hue_shift_mnist:hue3", 10, 22_658),
        ("hue_shift_mnist:hue4", 10, 25_690),
        ("hue_shift_mnist:ceconv3", 10, 28_739),
        ("hue_shift_shapes3d:hue3", 4, 19_478),
        ("hue_shift_shapes3d:hue4", 4, 21_832),
    ],
)
def test_the_networks_of_recipes_have_the_sizes_of_the_paper(name, classes, size):
    recipe = Recipe.load(name)
    model = ec.create_model(recipe.model, group=recipe.group, num_classes=classes, **recipe.model_options)
    assert model.num_parameters == size


@pytest.mark.parametrize("name", EVERY)
def test_a_recipe_survives_being_written(name, tmp_path):
    recipe = Recipe.load(name)
    (tmp_path / "recipe.yaml").write_text(recipe.to_yaml())
    assert Recipe.load(tmp_path / "recipe.yaml") == recipe


def test_any_field_can_be_changed_also_by_text_as_on_a_command_line():
    changes = {
        "lr": "1e-3",
        "batch_size": "64",
        "compile": "true",
        "group": "null",
        "test_splits": "[test_a]",
        "clip": "1",
        "model_options.bias": "false",
        "precision": "bf16-mixed",
    }
    recipe = Recipe.load("hue_shift_mnist", changes)
    assert (recipe.lr, recipe.batch_size, recipe.compile, recipe.group) == (1e-3, 64, True, None)
    assert (recipe.test_splits, recipe.clip) == (["test_a"], 1.0)
    assert recipe.model_options == {"bias": False}


def test_a_recipe_needs_no_more_than_data_a_network_and_how_long():
    recipe = Recipe.from_dict(
        {"data": "hue_shift_digits", "model": "z2cnn", "epochs": "2", "model_options.bias": "true"}
    )
    assert recipe.test_splits == ["test_a", "test_b"]
    assert recipe.model_options == {"bias": True}
    with pytest.raises(ValueError, match="by epochs or by iterations"):
        Recipe.from_dict({"data": "digits", "model": "z2cnn"})
    with pytest.raises(ValueError, match="a recipe needs data and model"):
        Recipe.from_dict({"epochs": 1})


def test_the_recipes_that_the_documentation_names_are_there():
    text = (Path(ec.__file__).parents[2] / "docs" / "training.md").read_text()
    named = re.findall(r"--recipe (\S+)|Recipe\.load\(\"(\S+?)\"", text)
    assert len(named) >= 3
    for one, other in named:
        Recipe.load(one or other)


def test_options_that_are_not_named_stay_as_they_are():
    recipe = Recipe.load("cifar10", {"optimizer_options": {"nesterov": True}})
    assert recipe.optimizer_options == {"momentum": 0.9, "nesterov": True}


def test_another_optimizer_does_not_take_the_options_of_the_one_before():
    base = Recipe.load("hue_shift_mnist")
    assert base.optimizer_options == {"betas": [0.9, 0.999]}
    assert Recipe.load("hue_shift_mnist", {"optimizer": "adam"}).optimizer_options == base.optimizer_options
    assert Recipe.load("hue_shift_mnist", {"optimizer": "sgd"}).optimizer_options == {}
    own = {"optimizer_options.momentum": 0.9, "optimizer": "sgd"}
    assert Recipe.load("hue_shift_mnist", own).optimizer_options == {"momentum": 0.9}


def test_saying_how_long_in_iterations_replaces_epochs():
    recipe = Recipe.load("hue_shift_mnist", {"iterations": 10})
    assert (recipe.epochs, recipe.iterations) == (None, 10)
    assert recipe.replace(epochs=2).iterations is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"learning_rate": 1}, "unknown field of a recipe 'learning_rate'"),
        ({"data": "mnits"}, "Did you mean 'mnist'"),
        ({"model": "resnet45"}, "Did you mean 'resnet"),
        ({"test_splits": ["test"]}, "unknown split of hue_shift_mnist 'test'"),
        ({"lr": "fast"}, "lr of a recipe must be a number, got 'fast'"),
        ({"batch_size": 0}, "batch_size of a recipe must be positive, got 0"),
        ({"batch_size": 2.5}, "batch_size of a recipe must be a whole number"),
        ({"compile": 1}, "compile of a recipe must be true or false"),
        ({"compile": True, "fuse": True}, "compiles all of a network, fuse: true what stands between: choose one"),
        ({"lr": float("nan")}, "lr of a recipe must be positive"),
        ({"seed": -1}, "seed of a recipe cannot be negative"),
        ({"optimizer": "sdg"}, "Did you mean 'sgd'"),
        ({"precision": "fp16"}, "unknown precision of a recipe"),
        ({"loggers": ["wand"]}, "Did you mean 'wandb'"),
        ({"augment": "blur"}, "unknown augmentation 'blur'"),
        ({"epochs": 1, "iterations": 1}, "one of the two"),
        ({"input_size": 20}, "does not: load the images in the size wanted"),
    ],
)
def test_a_mistake_in_a_recipe_is_named(changes, message):
    with pytest.raises(ValueError, match=message):
        Recipe.load("hue_shift_mnist", changes)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("model_options.foo", "1", "unknown option 'foo' in model_options. Of z2cnn there are bias, softmax, width"),
        ("model_options.wdith", "1", "Did you mean 'width'"),
        ("model_options.num_classes", "2", "model_options.num_classes is none of the options: there are as many as"),
        ("model_options.group", "hue3", "model_options.group is none of the options: it is the field group"),
        ("model_options.a.b", "1", "unknown option 'a.b'"),
        ("model_options.width", "ten", "model_options.width of a recipe must be 'paper' or 'fast' or a whole number"),
        ("model_options.bias", "maybe", "model_options.bias of a recipe must be true or false, got 'maybe'"),
        ("model_options", "3", "model_options of a recipe must be names and values, got 3"),
        ("model_options", "{a", "model_options of a recipe cannot be read: '{a' is no YAML"),
        ("model_options.width", "[1", "model_options.width of a recipe cannot be read"),
        ("data_options.foo", "1", "unknown option 'foo' in data_options"),
        ("data_options.split", "test", "there are the fields train_split and test_splits"),
        ("data_options.task", "segmentation", "it is the field task"),
        ("data_options.root", "5", "data_options.root of a recipe must be text or null, got 5"),
        ("data_options.seed", "x", "data_options.seed of a recipe must be a whole number, got 'x'"),
        ("data.x", "1", "data of a recipe has no options, got 'data.x': did you mean data_options.x"),
        ("optimizer_options.lr", "1", "it is the field lr"),
        ("optimizer_options.foo", "1", "unknown option 'foo' in optimizer_options. Of adam there are betas"),
        ("canonicalize_options.foo", "1", "unknown option 'foo' in canonicalize_options"),
        ("test_splits", "[test_a", "test_splits of a recipe cannot be read: '[test_a' is no YAML"),
        ("lr", "[", "lr of a recipe cannot be read"),
        ("seed", "12345678901234567890123456", "seed of a recipe must be a whole number below 2^63"),
        ("seed", "9" * 5000, "seed of a recipe"),
        ("model_options.width", "9" * 30, "model_options.width of a recipe must be"),
        ("lr", "1e400", "lr of a recipe must be positive, got inf"),
        ("group", "hue100000", "the group 'hue100000' has 100,000 elements, too many"),
        ("group", "purple3", "unknown group 'purple3'"),
        ("epoch", "5", "Did you mean 'epochs'"),
        ("image_size", "64", "Did you mean 'data_options.image_size'"),
        ("width", "24", "Did you mean 'model_options.width'"),
        ("momentum", "0.9", "Did you mean 'optimizer_options.momentum'"),
        ("learning_rate", "0.1", "Did you mean 'lr'"),
        ("", "3", "unknown field of a recipe ''"),
        (".", "3", "unknown field of a recipe ''"),
    ],
)
def test_a_mistake_on_the_command_line_is_named_in_one_line(key, value, message):
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        Recipe.load("hue_shift_mnist", {key: value})
    assert len(str(caught.value)) < 700
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1: 2", "unknown field of a recipe '1'"),
        ("model_options: {1: 2}", "unknown option 1 in model_options"),
        ("model_options: [bias]", "model_options of a recipe must be names and values, got ['bias']"),
        ("variants: 3", "variants of"),
        ("variants: [a, b]", "must be names, each with the fields that it changes, got ['a', 'b']"),
        ("seed: 2020-13-45", "cannot be read"),
        ("seed: 2020-10-10", "seed of a recipe must be a whole number"),
        ("lr: !!python/object/apply:os.system [ls]", "cannot be read"),
        ("lr: " + "[" * 3000, "cannot be read"),
        ("augment: &a [*a]", "augment of a recipe must be text"),
    ],
)
def test_a_mistake_in_a_yaml_file_is_named_in_one_line(text, message, tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(f"data: digits\nmodel: z2cnn\nepochs: 1\n{text}\n")
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        Recipe.load(path)
    assert "\n" not in str(caught.value)


def test_a_variant_that_is_no_set_of_fields_is_named(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("data: digits\nmodel: z2cnn\nepochs: 1\nvariants: {a: 3, 7: {epochs: 2}}\n")
    assert Recipe.load(path).epochs == 1
    with pytest.raises(ValueError, match=r"variant a of .* must be fields and their values, got 3"):
        Recipe.load(f"{path}:a")
    with pytest.raises(ValueError, match="unknown variant"):
        Recipe.load(f"{path}:b")
    assert Recipe.load(f"{path}:7").epochs == 2


def test_lists_are_read_with_commas_brackets_and_spaces():
    for text in ("1,2,3", "[1, 2, 3]", "1 2 3", "1, 2, 3"):
        assert Recipe.load("hue_shift_mnist", {"seeds": text}).seeds == [1, 2, 3]
    for text in ("test_a,test_b", "[test_a, test_b]", "test_a, test_b"):
        assert Recipe.load("hue_shift_mnist", {"test_splits": text}).test_splits == ["test_a", "test_b"]


def test_british_spelling_is_understood_and_american_is_written():
    british = Recipe.load("malaria", {"augment": "flip+colour-jitter+grey"})
    assert british.augment == "flip+color-jitter+gray"
    assert Recipe.load("malaria:z2cnn-colour-jitter") == Recipe.load("malaria:z2cnn-color-jitter")
    assert Recipe.load("canonical_shapes3d:colour-plain").data == "color_of_shapes3d"
    assert Recipe.load("canonical_shapes3d:colour-plain", {"data": "colour_of_shapes3d"}).data == "color_of_shapes3d"


def test_a_folder_given_as_a_path_is_written_as_text(tmp_path):
    recipe = Recipe("folder", "z2cnn", epochs=1, test_splits=["test"], data_options={"root": tmp_path})
    assert yaml.safe_load(recipe.to_yaml())["data_options"] == {"root": str(tmp_path)}


def test_a_recipe_that_is_not_there_is_named():
    with pytest.raises(FileNotFoundError, match="Did you mean 'cifar10'"):
        Recipe.load("cifar-10")
    with pytest.raises(ValueError, match="unknown variant of cifar10 'hue5'"):
        Recipe.load("cifar10:hue5")


@pytest.mark.parametrize("text", ["just text", "a: [", "- list"])
def test_a_file_that_is_no_recipe_is_named(text, tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"mine\.yaml"):
        Recipe.load(path)


@given(
    steps=st.integers(1, 1000),
    warmup=st.integers(0, 50),
    schedule=st.sampled_from(["constant", "cosine"]),
    at=st.data(),
)
def test_the_rate_rises_through_the_warmup_and_never_again(steps, warmup, schedule, at):
    recipe = Recipe("digits", "z2cnn", lr=0.1, warmup=warmup, schedule=schedule, iterations=steps)
    step = at.draw(st.integers(0, steps - 1))
    rate, following = recipe.rate(step, steps), recipe.rate(step + 1, steps)
    assert 0 <= rate <= 0.1
    assert following >= rate if step + 1 < warmup else following <= rate or step + 1 == warmup


@pytest.mark.skipif(find_spec("hatchling") is None, reason="hatchling, which builds the package, is not installed")
def test_an_installed_package_has_the_recipes(tmp_path):
    root = Path(ec.__file__).parents[2]
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=root, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {f"equicolor/recipes/{name}.yaml" for name in list_recipes()} <= set(names)


# ---------------------------------------------------------------------------------------------- formats


def test_a_recipe_says_its_format_and_one_that_does_not_is_of_the_first() -> None:
    recipe = Recipe("digits", "z2cnn", epochs=1)
    assert yaml.safe_load(recipe.to_yaml())["format"] == 1
    assert Recipe.from_dict(yaml.safe_load(recipe.to_yaml())) == Recipe.from_dict(recipe.to_dict()) == recipe
    for future in (2, 99, "new", None):
        with pytest.raises(ValueError, match="upgrade equicolor"):
            Recipe.from_dict({**recipe.to_dict(), "format": future})


def test_a_field_that_was_renamed_is_read_under_its_old_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("equicolor.train._recipe_files._RENAMED", {"learning_rate": "lr"})
    old = {"data": "digits", "model": "z2cnn", "epochs": 1, "learning_rate": 0.5}
    assert Recipe.from_dict(old).lr == 0.5
    with pytest.raises(ValueError, match="learning_rate and lr, which are names of one field"):
        Recipe.from_dict({**old, "lr": 0.1})
