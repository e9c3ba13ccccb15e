"""Old names still work, say which are the new ones, and nothing else is let through."""

from dataclasses import dataclass, replace
from inspect import signature

import pytest

import equicolor as ec
from equicolor import baselines, convert, groups, models, nn
from equicolor._tools.renamed import renamed
from equicolor.data import Description
from equicolor.files import Card, card_of
from equicolor.models import Preparation


@renamed(grey="gray")
@dataclass(frozen=True)
class Plan:
    size: int
    gray: bool = False


def test_an_old_argument_is_taken_for_the_new_one_and_said_to_be():
    with pytest.warns(DeprecationWarning, match="the argument grey of Plan is now gray") as said:
        assert Plan(3, grey=True) == Plan(3, gray=True)
    assert said[0].filename == __file__
    with pytest.raises(TypeError, match="gray, or grey, and not both"):
        Plan(3, gray=True, grey=True)
    with pytest.raises(TypeError, match="green"):
        Plan(3, green=True)


def test_an_old_attribute_is_the_new_one():
    with pytest.warns(DeprecationWarning, match=r"Plan\.grey is now gray"):
        assert Plan(3, gray=True).grey
    assert replace(Plan(3, gray=True), size=4) == Plan(4, gray=True)
    assert list(signature(Plan).parameters) == ["size", "gray"]


@pytest.mark.parametrize(
    ("package", "old", "new"),
    [
        (ec, "Haematoxylin", groups.Hematoxylin),
        (groups, "Haematoxylin", groups.Hematoxylin),
        (models, "grey", models.gray),
        (nn, "CEConv2d", baselines.CEConv2d),
    ],
)
def test_old_names_of_packages_lead_to_the_new_ones(package, old, new):
    with pytest.warns(DeprecationWarning, match=f"{package.__name__}.{old} is now equicolor") as said:
        assert getattr(package, old) is new
    assert said[0].filename == __file__
    with pytest.raises(AttributeError, match="has no attribute 'CEConv9d'"):
        _ = package.CEConv9d


def test_names_in_british_spelling_still_work():
    import importlib

    with pytest.warns(DeprecationWarning, match="normalization"):
        assert importlib.import_module("equicolor.convert").normalisation({}, 0.5, None) == (0.5, 1.0)
    with pytest.warns(DeprecationWarning, match="gray"):
        assert Preparation(8, grey=True).gray
    with pytest.warns(DeprecationWarning, match="license"):
        card = card_of(ec.create_model("z2cnn", num_classes=2, width=4), licence="mit")
    with pytest.warns(DeprecationWarning, match="license"):
        assert card.licence == card.license == "mit"
    assert callable(convert)
    assert "gray" in signature(Description).parameters
    assert "licence" not in Card().to_dict()
