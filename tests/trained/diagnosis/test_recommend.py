"""Recommendations: names that are groups, elements where they are needed."""

import pytest

import equicolor as ec
from equicolor.trained.diagnosis._recommend import Needed, circle_order, recommend


@pytest.mark.parametrize(
    ("needed", "how", "group", "canonicalize"),
    [
        (
            [Needed("temp", 0.6, 0.6), Needed("tint", 0.2, 0.2)],
            "canonicalize",
            "temp3(step=0.6)-tint3(step=0.2)",
            "temp-tint",
        ),
        ([Needed("temp", 1.0, 0.5)], "canonicalize", "temp5(step=0.5)", "temp"),
        ([Needed("hue", 180, 90)], "group", "hue4", "hue4"),
        ([Needed("hue", 180, 60)], "group", "hue6", "hue6"),
        ([Needed("hue", 180, 10)], "group", "hue12", "hue12"),
        ([Needed("sat", 0.8, 0.8)], "augment", "sat3(step=0.8)", "sat"),
        ([Needed("lum", 0.8, 0.8)], "augment", "lum3(step=0.8)", "lum"),
        ([Needed("eosin", 0.4, 0.4)], "canonicalize", "eosin3(step=0.4)", "eosin"),
    ],
)
def test_a_recommendation_names_a_group_and_what_to_try_first(needed, how, group, canonicalize):
    advice = recommend(needed)
    assert (advice.how, advice.group, advice.canonicalize) == (how, group, canonicalize)
    assert str(ec.group(advice.group)) == group
    ec.nn.Canonicalizer(advice.canonicalize)
    assert all(step in ec.data.augment.steps_of(advice.augment) for step in advice.augment.split("+"))


def test_a_product_with_windows_is_not_called_exact_and_its_size_is_said():
    advice = recommend([Needed("hue", 180, 60), Needed("sat", 1.2, 1.2)])
    assert (advice.how, advice.group) == ("group", "hue6-sat3(step=1.2)")
    assert "of 18 elements" in advice.text
    assert "windows are not" in advice.text
    assert "augment=sat-jitter" in advice.text
    assert "It is exact" in recommend([Needed("hue", 180, 60)]).text


def test_no_group_is_offered_that_is_too_large_to_train():
    advice = recommend([Needed("hue", 180, 60), Needed("lum", 1.2, 0.6), Needed("sat", 1.2, 1.2)])
    assert (advice.how, advice.group, advice.option) == ("group", "hue6", "--group 'hue6'")
    assert "would have 90 elements, too many" in advice.text
    assert "augment=lum-jitter+sat-jitter" in advice.text
    light = recommend([Needed("temp", 3, 0.5), Needed("tint", 1, 0.2)])
    assert light.group is None
    assert light.how == "canonicalize"
    assert "too many" in light.text


def test_moves_beyond_the_usual_reach_ask_for_more_of_it():
    assert recommend([Needed("temp", 1.0, 1.0)]).reach is None
    far = recommend([Needed("temp", 2.4, 2.4)])
    assert far.reach >= 2.4
    assert f"reach={far.reach:g}" in far.text
    assert far.option == f"--canonicalize temp --set canonicalize_options.reach={far.reach:g}"


@pytest.mark.parametrize(
    ("turn", "order"), [(0, 4), (90, 4), (-90, 4), (180, 4), (120, 3), (-120, 3), (60, 6), (45, 8), (30, 12)]
)
def test_an_element_of_the_circle_lies_where_the_turn_is(turn, order):
    assert circle_order(turn, 360, wide=False) == order


def test_a_wide_spread_needs_no_element_in_particular():
    assert circle_order(30, 360, wide=True) == 4
