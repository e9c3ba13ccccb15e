"""What tables say: means and deviations over seeds, the paper's numbers labelled so, and the difference."""

import statistics

import pytest

from equicolor.comparison import Measured, run_records
from equicolor.experiments._tables import Published, error_table
from small import SMALL, made_up, small_row

SPLITS = {"test_a": "A/A", "test_b": "A/B"}


def test_a_measurement_is_the_mean_and_sample_deviation_in_percent():
    values = [0.01, 0.02, 0.06]
    assert str(Measured(values)) == f"3.00 ({100 * statistics.stdev(values):.2f})" == "3.00 (2.65)"


def test_a_single_seed_has_no_deviation_to_show():
    assert str(Measured([0.0123])) == "1.23"


def test_differences_carry_their_sign():
    assert f"{Measured([0.01, 0.03]):+}" == "+2.00 (1.41)"
    assert f"{Measured([-0.015]):+}" == "-1.50"


def test_the_papers_numbers_stand_below_ours_and_are_labelled_so():
    runs = {"Hue-3": [made_up(SMALL, 0.10), made_up(SMALL, 0.20)], "Other": [made_up(SMALL, 0.5)]}
    paper = {"Hue-3": Published({"test_a": (14.5, 0.5), "test_b": (20.0, None)}, "22k")}
    table = error_table("Error in %", [small_row(), small_row("Other")], runs, SPLITS, paper)
    assert table.columns == ["network", "A/A", "A/B", "seeds", "parameters"]
    assert table.rows == [
        ["Hue-3", "15.00 (7.07)", "16.00 (7.07)", "2", "12,345"],
        ["– the paper's", "14.50 (0.50)", "20.00", "", "22k"],
        ["– difference", "+0.50", "-4.00", "", ""],
        ["Other", "50.00", "51.00", "1", "12,345"],
    ]


def test_a_split_that_the_paper_does_not_have_stays_empty():
    table = error_table("", [small_row()], {"Hue-3": [made_up(SMALL, 0.1)]}, SPLITS, {"Hue-3": Published({})})
    assert table.rows[1:] == [["– the paper's", "", "", "", ""], ["– difference", "", "", "", ""]]


def test_a_reduced_protocol_shows_in_its_row():
    row = small_row()
    reduced = type(row)(row.label, row.recipe, "1 seed, 20,000 training images")
    table = error_table("", [reduced], {"Hue-3": [made_up(SMALL, 0.1)]}, SPLITS)
    assert table.rows[0][0] == "Hue-3 [1 seed, 20,000 training images]"


def test_there_is_a_record_for_each_network_seed_and_split():
    runs = {"Hue-3": [made_up(small_row(seed=seed).recipe, seed / 100) for seed in (1, 2)]}
    records = run_records(runs)
    assert [(r["network"], r["seed"], r["split"]) for r in records] == [
        ("Hue-3", seed, split) for seed in (1, 2) for split in SPLITS
    ]
    assert [r["error"] for r in records] == pytest.approx([0.01, 0.02, 0.02, 0.03])


def test_cells_are_computed_from_the_records():
    runs = {"Hue-3": [made_up(small_row(seed=seed).recipe, seed / 70) for seed in (1, 2, 3)]}
    table = error_table("", [small_row()], runs, SPLITS)
    for split, cell in zip(SPLITS, table.rows[0][1:3], strict=True):
        assert cell == str(Measured([r["error"] for r in run_records(runs) if r["split"] == split]))
