"""Exact resumption: however often and at whatever moment a run is stopped or killed, it ends bit for bit the same."""

import random
import sys
from collections import Counter

import pytest

from equicolor.train import Run
from faults.kills import WAYS, disturb
from runs import assert_identical, rows, weights

#: Runs, and signals in each: in ``make test``, in ``make test-faults``, and in its full size, 380 over 60 runs.
RUNS = {
    "one process": ((1, 2), (6, 5), (40, 7)),
    "workers": ((0, 0), (2, 3), (10, 6)),
    "two processes": ((0, 0), (1, 2), (6, 4)),
    "torchrun": ((0, 0), (1, 2), (4, 4)),
}


@pytest.mark.skipif(sys.platform == "win32", reason="no signals")
@pytest.mark.timeout(6 * 3600)
@pytest.mark.parametrize("name", RUNS)
def test_a_disturbed_run_ends_as_an_undisturbed_one(name, tmp_path, amount, record_property):
    runs, signals = amount(*RUNS[name])
    if not runs:
        pytest.skip("takes minutes: make test-faults")
    way, sent, inside = WAYS[name], Counter(), 0
    undisturbed = way.begin(way.recipe, tmp_path / "undisturbed", random.Random(0))
    assert undisturbed.end() == 0
    for number in range(runs):
        chance, folder = random.Random(f"{name} {number}"), tmp_path / f"run{number}"
        for _ in range(signals):
            run = way.begin(way.recipe, folder, chance)
            done = disturb(run, folder, chance)
            run.end()
            if done is not None:
                sent[done[0].name] += 1
                inside += done[1]
        last = way.begin(way.recipe, folder, chance)
        assert last.end() == 0
        assert_identical(weights(folder), weights(tmp_path / "undisturbed"))
        assert Run.read(folder).results == Run.read(tmp_path / "undisturbed").results
        assert rows(folder) == rows(tmp_path / "undisturbed")
    record_property("runs", runs)
    record_property("inside checkpoints", inside)
    for kind, count in sent.items():
        record_property(kind, count)
    assert sum(sent.values()) == runs * signals, "a run was over before it was disturbed"
