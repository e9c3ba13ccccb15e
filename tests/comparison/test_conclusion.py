"""What is concluded from numbers: what counts, what is chance, and when colour is the class."""

import pytest

from equicolor.comparison import Column, Grid, Measured, conclude

SEEN = Column("blue", "blue", None, True, 1000, 1000.0)
UNSEEN = Column("pink", "pink", None, False, 1000, 1000.0)
BLIND = {"gray": "colour", "hue4": "4 turns of hue", "light3": "light", "canonical": "light"}


def grid(columns, **rows):
    """Errors in % of each row on each column, over seeds."""
    values = {
        (label, column.name): Measured([each / 100 for each in seeds])
        for label, numbers in rows.items()
        for column, seeds in zip(columns, numbers, strict=True)
    }
    return Grid("balanced_error", list(rows), columns, values, next(iter(rows)))


def concluded(columns, **rows):
    return " ".join(conclude(grid(columns, **rows), BLIND, 0.5))


def test_a_remedy_is_named_with_its_numbers_and_those_of_plain():
    plain, gray, canonical = [(7, 6, 6), (10, 14, 36)], [(9, 9, 9.2), (8, 8, 7.9)], [(6, 7, 6.6), (7, 7.2, 6.8)]
    text = concluded([SEEN, UNSEEN], plain=plain, gray=gray, canonical=canonical)
    assert "On pink (not seen in training), canonical errs least: 7.0 ± 0.2 %, plain 20.0 ± 14.0." in text
    assert "On blue (seen in training), plain errs least: 6.3 ± 0.6 %." in text
    assert "Colour itself" not in text


def test_every_seed_on_one_side_counts_though_one_of_them_is_far_away():
    apart = grid([UNSEEN], plain=[(10, 14, 36)], gray=[(7, 7, 8)])
    assert apart.better("gray", UNSEEN)
    assert not grid([UNSEEN], plain=[(10, 36)], gray=[(7, 8)]).better("gray", UNSEEN)
    assert not grid([UNSEEN], plain=[(7.5, 14, 36)], gray=[(7, 7, 8)]).better("gray", UNSEEN)


def test_gray_that_may_gain_on_one_set_is_not_said_to_miss_colours():
    text = concluded([SEEN, UNSEEN], plain=[(6, 6.1), (10, 30)], gray=[(9, 9.2), (7, 7.5)])
    assert "Colour itself" not in text


def test_a_remedy_that_costs_nothing_is_told_from_one_that_costs_something():
    plain, gray, canonical = [(6, 6.2), (20, 22)], [(9, 9.2), (7, 7.5)], [(6, 6.1), (7, 7.2)]
    text = concluded([SEEN, UNSEEN], plain=plain, gray=gray, canonical=canonical)
    assert "Better than plain on a set and worse on none: canonical alone." in text
    assert "Better on one and worse on another, in points: gray (pink -13.8, blue +3.0)." in text


def test_what_seeds_differ_by_is_no_result():
    text = concluded([SEEN, UNSEEN], plain=[(7, 9), (10, 30)], gray=[(6, 8), (15, 20)])
    assert text == "No network differs from plain by more than chance on any set."


def test_what_a_few_images_differ_by_is_no_result():
    few = Column("test", "test", None, None, 20, 20.0)
    assert "by more than chance" in concluded([few], plain=[(10,)], gray=[(15,)])
    many = Column("test", "test", None, None, 20_000, 20_000.0)
    assert "plain errs least: 10.0 %" in concluded([many], plain=[(10,)], gray=[(15,)])


def test_where_colour_is_the_class_what_cannot_see_it_is_not_to_be_used():
    text = concluded([SEEN], plain=[(0, 0)], gray=[(0, 0)], hue4=[(46, 44)])
    assert "Colour itself tells your classes apart." in text
    assert "hue4 (blind to 4 turns of hue) errs 45.0 points more on blue" in text
    assert "Do not use hue4 here." in text


def test_what_is_lost_on_other_colours_than_those_of_training_says_nothing_of_classes():
    text = concluded([SEEN, UNSEEN], plain=[(6, 6.1), (20, 21)], hue4=[(8, 8.1), (45, 46)])
    assert "Colour itself" not in text
    assert "Worse on a set and better on none: hue4." in text
    unknown = [Column(name, name, None, None, 1000, 1000.0) for name in ("blue", "pink")]
    assert "Colour itself" not in concluded(unknown, plain=[(6, 6.1), (20, 21)], hue4=[(8, 8.1), (45, 46)])
    assert "Do not use hue4" in concluded(unknown, plain=[(6, 6.1), (20, 21)], hue4=[(45, 46), (20, 21)])


def test_a_little_lost_without_any_colour_says_so_too_but_not_where_it_gains():
    assert "Do not use gray here." in concluded([SEEN], plain=[(3, 3.1)], gray=[(6, 6.1)])
    both = concluded([SEEN, UNSEEN], plain=[(3, 3.1), (20, 21)], gray=[(6, 6.1), (7, 7)])
    assert "Colour itself" not in both


def test_a_network_that_has_not_learnt_is_not_taken_for_one_that_misses_colours():
    text = concluded([SEEN], plain=[(3, 3.1)], light3=[(40, 41)], canonical=[(3, 3)])
    assert "Colour itself" not in text
    assert "light3 (blind to light) errs 37.5 points more on blue than plain, and canonical, blind to the same" in text


def test_nothing_is_concluded_from_networks_that_guess():
    text = concluded([SEEN], plain=[(50, 49)], gray=[(48, 47)])
    assert text.startswith("No network has learnt to tell the classes apart: guessing errs on 50.0 %")


def test_one_seed_is_said_to_be_one():
    assert "This is one seed" in concluded([SEEN], plain=[(3,)], gray=[(9,)])
    assert "This is one seed" not in concluded([SEEN], plain=[(3, 3)], gray=[(9, 9)])


def test_without_others_there_is_nothing_to_say():
    assert conclude(grid([SEEN], plain=[(3, 3)]), BLIND, 0.5) == []


def test_the_best_and_what_is_level_with_it():
    numbers = grid([SEEN], plain=[(7, 9)], gray=[(6, 7)], hue4=[(30, 31)])
    assert numbers.best(SEEN) == "gray"
    assert numbers.level(SEEN) == ["plain"]


def test_of_some_metrics_more_is_better():
    values = {("plain", "blue"): Measured([0.9]), ("gray", "blue"): Measured([0.99])}
    numbers = Grid("auc", ["plain", "gray"], [SEEN], values, "plain", ascending=True)
    assert numbers.best(SEEN) == "gray"
    assert numbers.better("gray", SEEN)
    assert numbers.gain("gray", SEEN) == pytest.approx(0.09)
