"""Rows by name: what each changes in the recipe that all share, and names that are none."""

import pytest

from equicolor.comparison import ROWS, multiplications, named_rows
from equicolor.comparison._named import blind_to, described
from equicolor.data.augment import steps_of
from small import SMALL


def row(name, **changes):
    (made,) = named_rows(SMALL.replace(**changes), [name])
    return made


def test_the_rows_that_nobody_asked_for_by_name_can_all_be_made():
    rows = named_rows(SMALL)
    assert [each.label for each in rows] == list(ROWS)
    assert rows[0].label == "plain"
    assert len({str(each.recipe) for each in rows}) == len(rows)


def test_what_each_of_them_costs_can_be_counted():
    costs = {each.label: multiplications(each.recipe) for each in named_rows(SMALL)}
    plain = costs["plain"]
    assert costs["gains:temp-tint"] == pytest.approx(plain, rel=1e-4)
    assert costs["canonical:temp-tint"] > 1.1 * plain
    assert all(cost >= plain for cost in costs.values())


def test_plain_is_plain_whatever_the_recipe_was_made_for():
    recipe = row("plain", group="hue3", canonicalize="hue4", canonicalizer_training="together").recipe
    assert (recipe.group, recipe.canonicalize, recipe.canonicalizer_training) == (None, None, "first")


def test_what_a_row_does_to_colours_joins_the_augmentation_of_all():
    assert row("gray", augment="flip").recipe.augment == "flip+gray"
    assert row("light-jitter", augment="none").recipe.augment == "light-jitter"
    assert row("plain", augment="flip").recipe.augment == "flip"


def test_parts_are_joined():
    recipe = row("canonical:temp-tint+hue4+light-jitter+lr=0.5").recipe
    assert (recipe.canonicalize, recipe.group, recipe.augment, recipe.lr) == ("temp-tint", "hue4", "light-jitter", 0.5)


def test_an_anchored_row_keeps_what_else_was_said_of_the_canonicaliser():
    recipe = row("anchored:temp-tint+hue4", canonicalize_options={"size": 16}).recipe
    assert (recipe.canonicalize, recipe.group) == ("anchored:temp-tint", "hue4")
    assert recipe.canonicalize_options == {"size": 16}
    assert described(row("gains:temp").recipe) == "measures gains of temperature, undoes them, then looks"
    assert row("canonical:temp-tint", canonicalize_options={"size": 16}).recipe.canonicalize_options == {"size": 16}
    assert described(recipe) == "measures a shift of temperature and tint, undoes it, then looks; equivariant to hue"
    with pytest.raises(ValueError, match=r"cannot be trained.*no measure that moves along exactly"):
        row("anchored:hema-eosin")


def test_groups_that_do_not_commute_are_one_group():
    assert row("hue3+temp3").recipe.group == "hue3+temp3"
    assert row("sat3(step=0.05,action=clamp)").recipe.group == "sat3(step=0.05,action=clamp)"


def test_both_spellings_are_one_row():
    british, american = row("grey"), row("gray")
    assert british == american
    assert row("colour-jitter").label == "color-jitter"
    assert "jitter" in steps_of(row("color-jitter").recipe.augment)[0]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("grai", "Did you mean 'gray'"),
        ("hue-jiter", "Did you mean 'hue-jitter'"),
        ("canonicall:temp-tint", "Did you mean 'canonical:temp-tint'"),
        ("nonsense", "A row is plain, gray"),
        ("hue4-temp3", "hue4-temp3"),
        ("canonical:nonsense", "'canonical:nonsense' cannot be trained"),
        ("plain+epoch=3", "epoch"),
    ],
)
def test_a_row_that_does_not_exist_is_refused_with_what_might_be_meant(name, says):
    with pytest.raises(ValueError, match=says.replace("(", r"\(")):
        row(name)


def test_a_row_counts_once():
    with pytest.raises(ValueError, match="'gray' is there twice"):
        named_rows(SMALL, ["gray", "grey"])


def test_what_networks_cannot_see_is_known_by_how_they_are_made():
    blind = {each.label: blind_to(each.recipe) for each in named_rows(SMALL)}
    assert blind == dict.fromkeys(ROWS, "") | {
        "gray": "colour",
        "ceconv3": "3 turns of hue",
        "hue4": "4 turns of hue",
        "sat3": "saturation",
        "temp3-tint3": "temperature and tint",
        "canonical:temp-tint": "temperature and tint",
        "canonical:temp-tint+light-jitter": "temperature and tint",
        "gains:temp-tint": "temperature and tint",
    }


@pytest.mark.parametrize("how", ["gray-world", "reinhard", "macenko"])
def test_colours_may_be_normalised_in_a_row(how):
    made = row(f"{how}+light-jitter").recipe
    assert made.augment.endswith(f"{how}+light-jitter")
    assert described(made).startswith("colours of each image normalised by ")
    assert not blind_to(made)
    assert row(how.replace("gray", "grey")).recipe == row(how).recipe


def test_every_row_can_be_told_in_words():
    told = [described(each.recipe) for each in named_rows(SMALL)]
    assert len(set(told)) == len(told)
    assert described(row("canonical:hue4+light-jitter").recipe) == (
        "finds a shift of hue, undoes it, then looks; training images jittered in temperature, tint"
    )
