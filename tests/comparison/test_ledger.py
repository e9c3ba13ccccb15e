"""Finished runs in one file: appended to by several processes, read back as they were, whatever happened in between."""

import multiprocessing
import shutil
import warnings

import pytest

from equicolor.comparison._ledger import Entry, Ledger
from equicolor.comparison._runs import Runs
from equicolor.experiments import Log, Runner
from equicolor.train import TrainingError
from small import SMALL, small_row

SUMMARY = {"parameters": 12345, "results": {"test_a": {"error": 0.1 + 0.2}}}


def test_lines_of_a_run_add_up(tmp_path):
    ledger = Ledger(tmp_path / "deep" / "runs.jsonl")
    assert ledger.read() == {}
    ledger.append("one", recipe=SMALL.to_dict(), summary=SUMMARY)
    ledger.append("two", recipe={}, summary={})
    ledger.append("one", shifted={"test hue:90": 1 / 3})
    ledger.append("one", shifted={"test lum:0.1": 0.5})
    assert ledger.read() == {
        "one": Entry(SMALL.to_dict(), SUMMARY, {"test hue:90": 1 / 3, "test lum:0.1": 0.5}),
        "two": Entry(),
    }
    assert len(ledger.path.read_text().splitlines()) == 4


def test_what_a_killed_process_left_of_a_line_costs_that_line_alone(tmp_path):
    ledger = Ledger(tmp_path / "runs.jsonl")
    ledger.append("one", summary=SUMMARY)
    ledger.append("half", summary=SUMMARY)
    text = ledger.path.read_text()
    ledger.path.write_text(text[:-30])
    ledger.append("two", summary=SUMMARY)
    with pytest.warns(UserWarning, match=r"line 2 of .*runs\.jsonl is damaged"):
        assert list(ledger.read()) == ["one", "two"]


def _append(path, name):
    for number in range(50):
        Ledger(path).append(f"{name}-{number}", summary={"text": "x" * 2000})


def test_processes_that_append_at_once_lose_nothing(tmp_path):
    path = tmp_path / "runs.jsonl"
    processes = [multiprocessing.get_context("fork").Process(target=_append, args=(path, name)) for name in "abc"]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert set(Ledger(path).read()) == {f"{name}-{number}" for name in "abc" for number in range(50)}


def test_results_are_enough_where_no_network_is_needed(tmp_path):
    """As published: the one file, without the folders of runs."""
    row, runner = small_row(group=None, seeds=[1]), Runner(tmp_path, Log(quiet=True))
    (run,) = runner.train([row])["Hue-3"]
    error = runner.runs.error_under(run, "test_b", "hue:90")
    shutil.rmtree(tmp_path / "runs")
    (again,) = runner.train([row])["Hue-3"]
    assert (again.recipe, again.summary) == (run.recipe, run.summary)
    assert runner.runs.error_under(again, "test_b", "hue:90") == error
    assert [path.name for path in tmp_path.iterdir()] == ["runs.jsonl"]
    with pytest.raises(TrainingError, match=r"and not its network.*remove .* to train it again"):
        runner.runs.error_under(again, "test_b", "hue:180")


def test_a_run_that_was_killed_before_its_line_was_written_is_added_later(tmp_path):
    row, runs = small_row(group=None, seeds=[1]), Runs(tmp_path)
    run = runs.trained(row.seeded[0], quiet=True)
    runs.ledger.path.unlink()
    assert runs.trained(row.seeded[0], quiet=True) == run
    assert runs.ledger.read()[run.folder.name].summary == run.summary
