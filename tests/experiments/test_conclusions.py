"""Conclusions follow the numbers: other numbers, other sentences; and what cannot be compared is not."""

import re
from dataclasses import replace

import pytest

from equicolor.comparison import Measured
from equicolor.experiments import (
    Published,
    coverage,
    experiment,
    frontier,
    invertibility,
    lifting,
    list_experiments,
    sorting,
)  # fmt: skip
from equicolor.experiments._conclusions import beside_paper, of_part, of_rows
from equicolor.experiments._five import five_rows
from equicolor.experiments._setting import Setting
from small import SMALL, made_up, small_row

SPLITS = {"test_a": "A/A", "test_b": "A/B"}
ROWS = [small_row("Z2CNN", test_size=None), small_row("Hue-3", test_size=None)]


def runs(**errors):
    """Two seeds each, a point apart."""
    return {label: [made_up(SMALL, error), made_up(SMALL, error + 0.01)] for label, error in errors.items()}


def test_whoever_errs_least_is_named_and_it_turns_with_the_numbers():
    ours = of_rows(ROWS, runs(**{"Z2CNN": 0.5, "Hue-3": 0.1}), SPLITS)
    assert ours[0].startswith("On A/A, Hue-3 errs least: 10.5 ± 0.7 %, Z2CNN 50.5 ± 0.7.")
    assert any(line.startswith("Better than Z2CNN on a set and worse on none: Hue-3") for line in ours)
    theirs = of_rows(ROWS, runs(**{"Z2CNN": 0.1, "Hue-3": 0.5}), SPLITS)
    assert theirs[0].startswith("On A/A, Z2CNN errs least: 10.5 ± 0.7 %.")
    assert any(line == "Worse on a set and better on none: Hue-3." for line in theirs)


def test_what_chance_explains_is_no_difference():
    said = of_rows(ROWS, runs(**{"Z2CNN": 0.300, "Hue-3": 0.301}), SPLITS)
    assert said[0] == "No network differs from Z2CNN by more than chance on any set."


def test_rows_that_were_trained_otherwise_are_said_and_not_compared():
    rows = [*ROWS, replace(small_row("CEConv-3"), reduced="1 seed"), small_row("Hue-3, tuned")]
    errors = {"Z2CNN": 0.5, "Hue-3": 0.1, "CEConv-3": 0.0, "Hue-3, tuned": 0.0}
    said = " ".join(of_rows(rows, runs(**errors), SPLITS))
    assert "Hue-3 errs least" in said
    others = "CEConv-3 and “Hue-3, tuned”"
    assert f"Trained otherwise, or over fewer seeds, and so not held against Z2CNN here: {others}." in said


def test_a_single_row_says_what_it_has():
    assert of_rows(ROWS[1:], runs(**{"Hue-3": 0.1}), SPLITS) == [
        "Hue-3 errs on 10.5 ± 0.7 % of A/A and 11.5 ± 0.7 % of A/B."
    ]


def test_a_part_of_an_experiment_leaves_out_what_its_rows_have_in_common():
    rows = [replace(row, label=f"cells, {row.label}") for row in ROWS]
    said = of_part("Cells", "cells, ", rows, runs(**{"cells, Z2CNN": 0.5, "cells, Hue-3": 0.1}), SPLITS)
    assert said.startswith("Cells: On A/A, Hue-3 errs least: 10.5 ± 0.7 %, Z2CNN 50.5")


@pytest.mark.parametrize(("theirs", "count"), [(10.9, "2 are"), (57.4, "1 is")])
def test_the_farthest_from_the_paper_is_named(theirs, count):
    paper = {"Hue-3": Published({"test_a": (10.4, 0.1), "test_b": (theirs, 0.2)})}
    errors = {"Hue-3": {"test_a": Measured([0.10, 0.11]), "test_b": Measured([0.11, 0.12])}}
    (said,) = beside_paper(ROWS[1:], errors, SPLITS, paper)
    assert said.startswith(f"Of 2 errors beside which the paper has its own, {count} the paper's")
    assert ("Farthest apart: Hue-3 on A/B, 11.50 % here and 57.40 % there." in said) == (theirs > 50)
    assert beside_paper([replace(ROWS[1], reduced="1 seed")], errors, SPLITS, paper) == []


def test_coverage_names_those_that_err_more_on_hues_never_seen():
    rows = [small_row("Z2CNN"), small_row("Hue-4")]
    records = [
        {"network": label, "arc": 10, "seed": seed, "error_seen": 0.02, "error_unseen": unseen + seed / 100}
        for label, unseen in (("Z2CNN", 0.56), ("Hue-4", 0.02))
        for seed in (1, 2, 3)
    ]
    said = coverage._conclusion(rows, records, [10])
    assert "Z2CNN 2.0 ± 0.0 and 58.0 ± 1.0; Hue-4 2.0 ± 0.0 and 4.0 ± 1.0. Hue-4 errs least on the others." in said[0]
    assert said[1:] == ["More than twice as many errors on hues never seen as on those seen: Z2CNN."]
    two = [record for record in records if record["seed"] < 3]
    assert coverage._conclusion(rows, two, [10])[-1].startswith("2 seeds: the order")


def test_colours_that_leave_the_cube_are_counted():
    records = [
        {"degrees": 60, "outside_rotated": 0.25, "outside_shifted": 0.0},
        {"degrees": 120, "outside_rotated": 0.0, "outside_shifted": 0.0},
    ]
    (said,) = lifting._conclusion(records)
    assert "up to 25.0% of all colours out of the cube (at 60°), and none at 120°" in said


def test_sorting_says_how_far_it_is_from_the_pixels():
    records = [
        {"network": "Hue-3", "feature": "mean", "degrees": 17.2, "neighbours": 20.0},
        {"network": "ResNet44", "feature": "map", "neighbours": 92.0},
    ]
    angles, none = sorting._conclusion(records)
    assert angles.endswith("(chance: 90°): Hue-3 17°.")
    assert none == "ResNet44 has no group: in its order, neighbours are 92° apart (chance: 90°)."


def test_what_is_restored_is_said_of_each_set():
    records = [
        {"images": "shapes", "precision": precision, "method": method, "order": order, "error": error}
        for precision in ("float32", "float64")
        for method, error in ((invertibility.OURS, 1e-8), (invertibility.CECONV, 0.1))
        for order in invertibility.ORDERS
    ]
    for record in records:
        if record["method"] == invertibility.CECONV and record["order"] in (1, 3):
            record["error"] = 0.0
    (said,) = invertibility._conclusion(records, ["shapes"])
    assert "loses up to 10.0% on shapes; it is exact for N = 1 and 3." in said


def test_every_explanation_is_of_rows_that_the_experiment_has():
    labels = [row.label for row in five_rows(Setting(), "hue_shift_mnist", {})]
    for name in ("mnist", "shapes3d", "trajectories"):
        for row in experiment(name).differs:
            assert any(label.startswith(row) for label in labels), (name, row)
    explained = [name for name in list_experiments() if experiment(name).differs]
    assert explained == [name for name in list_experiments() if experiment(name).paper]
    for name in explained:
        for text in experiment(name).differs.values():
            assert re.search("[Tt]he paper", text)


@pytest.mark.parametrize(
    ("unseen", "said"),
    [
        ((0.5, 0.12, 0.1), "“Hue-4, stage 1”: 95% of the gain, 1.10 times"),
        ((0.5, 0.15, 0.1), "“Hue-4, all stages”: 100% of the gain, 1.30 times"),
        ((0.1, 0.2, 0.1), "gains nothing over the plain network"),
    ],
)
def test_the_frontier_names_the_cheapest_that_keeps_most_of_the_gain(unseen, said):
    names, costs = ("plain", "Hue-4, stage 1", "Hue-4, all stages"), (1.0, 1.1, 1.3)
    records = [
        {"network": name, "seed": 1, "error_unseen": error, "multiply_adds": cost, "step_ratio": 2 * cost}
        for name, error, cost in zip(names, unseen, costs, strict=True)
    ]
    assert said in frontier._conclusion([small_row(name) for name in names], records)[0]
    assert frontier._conclusion([small_row("plain")], records[:1]) == []
