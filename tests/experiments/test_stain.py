"""Stain: every network that is compared has a row of its own; intervals are those of its slides, or not there."""

import json
from pathlib import Path

import pytest

from equicolor.comparison._runs import run_name
from equicolor.experiments import Runner, Setting, new_row
from equicolor.experiments._intervals import ClusterIntervals, interval_table, with_intervals
from equicolor.experiments.stain import _PARTS, _goal, _rows
from equicolor.models import create_model
from small import made_up

RESULTS = Path(__file__).parents[2] / "results" / "runs.jsonl"


@pytest.fixture(scope="module")
def every():
    return {name: _rows(Setting(), part) for name, part in _PARTS.items()}


def test_no_two_rows_train_the_same_and_all_train_for_equally_long(every):
    rows = [row for part in every.values() for row in part]
    assert len({row.label for row in rows}) == len(rows)
    assert len({run_name(row.recipe) for row in rows}) == len(rows)
    fields = ("data", "train_size", "epochs", "batch_size", "optimizer", "lr", "schedule")
    assert len({tuple(getattr(row.recipe, name) for name in fields) for row in rows}) == 1
    assert all(len(row.recipe.seeds) >= 5 for row in rows)


def test_no_row_of_the_small_network_has_many_more_parameters_than_plain_and_a_canonicaliser(every):
    for part in ("from-blue", "from-pink"):
        for row in every[part]:
            recipe = row.recipe
            model = create_model(recipe.model, recipe.group, num_classes=2, **recipe.model_options)
            assert sum(each.numel() for each in model.parameters()) < 28_100, row.label


def test_the_runs_that_were_made_are_those_of_the_rows(every):
    made = {json.loads(line)["run"] for line in RESULTS.read_text().splitlines() if line}
    for label in (
        "plain",
        "plain, grey",
        "plain, jitter of light",
        "canonical light",
        "canonical light, jitter of light",
    ):
        (row,) = (row for row in every["from-blue"] if row.label == label)
        assert run_name(row.seeded[0]) in made, label


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    runner = Runner(tmp_path_factory.mktemp("results"), brief=True)
    few = {"train_size": 32, "test_size": 40, "epochs": 1, "batch_size": 16, "seeds": [1, 2], "test_splits": ["test"]}
    rows = [
        new_row(Setting(), "plain", "hue_shift_digits:z2cnn", few | {"model_options": {"width": 4}, "data": "digits"})
    ]
    return runner, rows, runner.train(rows)


def test_intervals_are_measured_once_kept_with_the_run_and_hold_its_error(trained):
    runner, rows, runs = trained
    intervals = {label: [ClusterIntervals(runner, ["error"]).of(run) for run in those] for label, those in runs.items()}
    for run, own in zip(runs["plain"], intervals["plain"], strict=True):
        assert own["test"]["error_low"] <= run.results["test"]["error"] <= own["test"]["error_high"]
        assert runner.runs.ledger.read()[run.folder.name].measured["intervals test"] == own["test"]
    table = interval_table("Error", rows, intervals, {"test": "seen"}, "error")
    ((label, cell, seeds),) = table.rows
    low, high = (sum(each["test"][f"error_{end}"] for each in intervals["plain"]) / 2 for end in ("low", "high"))
    assert (label, cell, seeds) == ("plain", f"{100 * low:.1f} to {100 * high:.1f}", "2")
    record = with_intervals({"split": "test"}, intervals["plain"][0], ["error"])
    assert record == {"split": "test", **intervals["plain"][0]["test"]}


def test_without_its_network_a_run_keeps_the_intervals_that_it_has_and_gets_no_others(trained):
    runner, rows, runs = trained
    run = runs["plain"][0]
    known = ClusterIntervals(runner, ["error"]).of(run)
    run.folder.rename(run.folder.with_name("elsewhere"))
    assert ClusterIntervals(runner, ["error"]).of(run) == known
    assert runner.runs.measured_if_there(run, "intervals other", dict) is None
    table = interval_table("Error", rows, {"plain": [{}]}, {"test": "seen"}, "error")
    assert table.rows == [["plain", "–", "0"]]
    assert with_intervals({"split": "test"}, {}, ["error"]) == {"split": "test", "error_low": None, "error_high": None}


@pytest.mark.parametrize(("error", "said"), [(0.05, "some network of ours has it in each"), (0.15, "missed")])
def test_the_report_says_whether_the_goal_is_met_and_how_close_it_is(error, said, every):
    plain, grouped, ceconv = (
        next(row for row in every["from-blue"] if row.label == label) for label in ("plain", "Hue-4", "CEConv-3")
    )
    runs = {
        "plain": [made_up(plain.recipe, 0.1, balanced_error=0.1, auc=0.9)],
        "CEConv-3": [made_up(ceconv.recipe, 0.0, balanced_error=0.11, auc=0.8)],
        "Hue-4": [made_up(grouped.recipe, error, balanced_error=error, auc=1 - error)],
    }
    (sentence,) = _goal("Trained on blue slides", [plain, grouped, ceconv], runs, {"pink_test": "pink"})
    assert said in sentence
    assert f"error on pink, {100 * error:.2f} (“Hue-4”) against 10.00 (“plain”)" in sentence
    assert _goal("Alone", [plain], runs, {"pink_test": "pink"}) == []
