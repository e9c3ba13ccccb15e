"""Names that a user can type are in American spelling; the British forms are understood, see the tests of each."""

import dataclasses
import inspect
import re
from typing import get_args

import pytest

import equicolor as ec
from equicolor.commands import list_commands
from equicolor.comparison import ROWS
from equicolor.data import augment, list_datasets
from equicolor.experiments import list_experiments
from equicolor.files import Card
from equicolor.groups import registered_factors
from equicolor.metrics import METRICS
from equicolor.train import Recipe, list_recipes
from public import PACKAGES, library, public

#: Parts of words, as British English spells them.
BRITISH = re.compile(
    "grey|colour|centre|licence|haem|neighbour|behaviour|favour|honour|labell|modell|cancell|catalogue|tumour|fibre"
    "|(?:canonical|normal|optim|organ|recogn|synchron|quant|random|initial|general|visual|regular|maxim|minim)is"
    "|analyse|isation",
    re.IGNORECASE,
)


def british(names):
    return sorted({name for name in map(str, names) if BRITISH.search(name)})


def test_the_pattern_finds_what_it_is_for():
    both = [
        "center-crop",
        "centre-crop",
        "normalisation",
        "normalization",
        "noise",
        "Haematoxylin",
        "promise",
        "greyish",
    ]
    assert british(both) == ["Haematoxylin", "centre-crop", "greyish", "normalisation"]


@pytest.mark.parametrize("package", PACKAGES)
def test_public_names_and_their_parameters(package):
    names = set(map(str, library()[package].exports or ()))
    for thing in public(package):
        names |= {thing.name, *(thing.members if thing.is_class else ())}
        made = thing.members.get("__init__") if thing.is_class else thing
        names |= {each.name for each in getattr(made, "parameters", ())}
    assert not british(name for name in names if not name.startswith("_"))


def test_options_of_the_command_line_and_their_values():
    for name, command in list_commands().items():
        options = inspect.signature(command).parameters
        choices = [choice for each in options.values() for choice in _choices(each.annotation)]
        assert not british([name, *options, *choices]), name


def _choices(annotation):
    """The words of all literals in a type."""
    found = [each for each in get_args(annotation) if isinstance(each, str)]
    return found + [each for part in get_args(annotation) for each in _choices(part)]


def test_names_in_recipes_cards_and_registries():
    recipes = list_recipes()
    names = [*ec.list_models(), *list_datasets(), *registered_factors(), *list_experiments(), *METRICS, *ROWS]
    names += [
        *augment.PRESETS,
        *augment.list_jitters(),
        *(step for steps in augment.PRESETS.values() for step in steps),
    ]
    names += [*augment._STEPS, *augment._jittered(), *recipes, *(each for those in recipes.values() for each in those)]
    names += [field.name for kind in (Recipe, Card) for field in dataclasses.fields(kind)]
    names += [split for splits in list_datasets().values() for split in splits]
    assert not british(names)


def test_what_is_typed_in_british_spelling_is_understood():
    assert augment.steps_of("haematoxylin-jitter+centre-crop+grey") == ("hematoxylin-jitter", "center-crop", "gray")
    assert Recipe("colour_of_shapes3d", "z2cnn", epochs=1).data == "color_of_shapes3d"
