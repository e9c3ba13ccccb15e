"""Rows made from recipes as a setting wants them, and settings that an experiment refuses."""

import pytest

from equicolor.experiments import Setting, chosen_rows, new_row, rows_of
from small import small_row


def test_a_row_is_a_recipe_with_its_seeds():
    row = new_row(Setting(), "Hue-3", "hue_shift_mnist:hue3")
    assert (row.recipe.group, row.recipe.lr, row.reduced) == ("hue3", 1e-4, "")
    assert [recipe.seed for recipe in row.seeded] == [1999, 2000, 2001]


def test_the_quick_version_takes_one_seed_and_its_own_sizes():
    quick = {"train_size": 320, "epochs": 1}
    row = new_row(Setting(quick=True), "Hue-3", "hue_shift_mnist:hue3", {"epochs": 2}, quick)
    assert (row.recipe.train_size, row.recipe.epochs, row.recipe.seeds) == (320, 1, [1999])
    full = new_row(Setting(), "Hue-3", "hue_shift_mnist:hue3", {"epochs": 2}, quick)
    assert (full.recipe.train_size, full.recipe.epochs) == (None, 2)


def test_seeds_can_be_chosen():
    assert new_row(Setting(quick=True, seeds=(5, 6)), "Hue-3", "hue_shift_mnist:hue3").recipe.seeds == [5, 6]


def test_what_is_reduced_is_said():
    changes = {"train_size": "20000", "test_size": 500, "seeds": [1999], "lr": "0.01"}
    setting = Setting(reduce={"CEConv-3": changes})
    row = new_row(setting, "CEConv-3", "hue_shift_mnist:ceconv3")
    assert row.reduced == "20,000 training images, 500 testing images, 1 seed, lr 0.01"
    assert (row.recipe.train_size, row.recipe.test_size, row.recipe.seeds, row.recipe.lr) == (20000, 500, [1999], 0.01)
    assert new_row(setting, "Hue-3", "hue_shift_mnist:hue3").reduced == ""


def test_a_star_reduces_all_rows_and_a_rows_own_change_comes_first():
    setting = Setting(reduce={"*": {"epochs": 1, "model_options.width": 4}, "Hue-3": {"model_options.width": 3}})
    rows = rows_of(setting, "hue_shift_mnist", {"Z2CNN": "z2cnn", "Hue-3": "hue3"})
    assert [row.reduced for row in rows] == ["epochs 1, width 4", "epochs 1, width 3"]
    assert [row.recipe.model_options["width"] for row in rows] == [4, 3]
    assert chosen_rows(setting, rows) == rows


def test_rows_are_chosen_by_label():
    rows = [small_row("Z2CNN"), small_row("Hue-3")]
    assert chosen_rows(Setting(), rows) == rows
    assert chosen_rows(Setting(only=("Hue-3",)), rows) == rows[1:]
    for setting in (Setting(only=("Hue-5",)), Setting(reduce={"Hue-5": {"epochs": 1}})):
        with pytest.raises(ValueError, match="no row 'Hue-5': there are Z2CNN, Hue-3"):
            chosen_rows(setting, rows)


def test_an_experiment_of_one_network_each_refuses_several_seeds():
    Setting(seeds=(5,), reduce={"Hue-3": {"seeds": [7]}}).single_seed()
    for setting in (Setting(seeds=(5, 6)), Setting(reduce={"Hue-3": {"seeds": [5, 6]}})):
        with pytest.raises(ValueError, match="networks of one seed, got 5, 6"):
            setting.single_seed()
