"""Training from shards: which images a step sees depends on the seed and the step, on nothing else."""

import json
import os
import signal
import subprocess
import sys

import pytest
import torch

from equicolor.data import WholeBatches
from equicolor.train import Recipe, fit, resume
from runs import assert_identical, fail, last_step, stop_at, weights
from shards import write_shards

#: Begins a run; every process writes down which images it asks for, and is killed before a step.
PROGRAM = """
import json, os, signal, sys
from equicolor.data import WholeBatches
from equicolor.train import Recipe, _fit, fit

recipe, folder, kill_at = sys.argv[1:]
log = open(f"{folder}.rank{os.environ['RANK']}", "w", buffering=1)
fetch, one_step = WholeBatches.__getitems__, _fit.Session._one_step
WholeBatches.__getitems__ = lambda self, rows: log.write(json.dumps(rows) + "\\n") and fetch(self, rows)

def killed(self, parts):
    if self.step == int(kill_at):
        os.kill(os.getpid(), signal.SIGKILL)
    return one_step(self, parts)

_fit.Session._one_step = killed
fit(Recipe.load(recipe), folder, quiet=True)
"""


@pytest.fixture
def recipe(tmp_path):
    return Recipe(
        data=str(write_shards(tmp_path / "shards")),
        data_options={"in_memory": False},
        model="z2cnn",
        model_options={"width": 4},
        iterations=15,
        batch_size=16,
        optimizer="sgd",
        lr=0.05,
        precision="64-true",
        checkpoint_every=2,
        evaluate_every=0,
        loggers=["csv"],
        accelerator="cpu",
    )


@pytest.fixture
def asked(monkeypatch):
    """The images of every batch that is read in this process."""
    found, fetch = [], WholeBatches.__getitems__
    monkeypatch.setattr(WholeBatches, "__getitems__", lambda self, rows: found.append(rows) or fetch(self, rows))
    return found


def test_a_stream_goes_on_bit_for_bit_whoever_reads_it(recipe, tmp_path, monkeypatch):
    expected = fit(recipe, tmp_path / "whole", quiet=True)
    recipe = recipe.replace(workers=1)
    with monkeypatch.context() as patch:
        stop_at(patch, 9, fail)  # in the second epoch
        with pytest.raises(KeyboardInterrupt):
            fit(recipe, tmp_path / "run", quiet=True)
    assert_identical(weights(resume(tmp_path / "run", quiet=True).folder), weights(expected.folder))


def test_one_process_goes_on_in_the_order_of_two_that_were_killed(recipe, tmp_path, asked):
    """What is equal then is the order of the images; sums over other parts differ in their last bits."""
    expected = fit(recipe, tmp_path / "whole", quiet=True)
    order, asked[:] = asked[:15], []
    folder, script, given = tmp_path / "run", tmp_path / "run.py", tmp_path / "run.yaml"
    script.write_text(PROGRAM)
    given.write_text(recipe.to_yaml())
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", str(script)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    run = subprocess.run(
        [*command, str(given), str(folder), "9"], capture_output=True, text=True, timeout=300, env=environment
    )
    assert str(-signal.SIGKILL) in run.stderr, run.stderr[-2000:]
    assert last_step(folder) == 8
    ranks = [(tmp_path / f"run.rank{rank}").read_text().splitlines() for rank in range(2)]
    both = [json.loads(one) + json.loads(other) for one, other in zip(*ranks, strict=True)]
    assert both[:9] == order[:9]
    resume(folder, quiet=True)
    assert asked[:7] == order[8:]
    for name, value in weights(expected.folder).items():
        torch.testing.assert_close(weights(folder)[name], value, atol=1e-6, rtol=1e-6)
