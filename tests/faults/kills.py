"""Training runs in processes of their own, in four ways, and signals that reach them at any moment."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from equicolor.train import Recipe
from runs import SMALL, last_step, start

RECIPE = SMALL.replace(group=None, train_size=100, batch_size=4, epochs=6, checkpoint_every=3, lr=0.01)
SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
_PROGRAM = """
import sys
from pathlib import Path
from equicolor.train import Recipe, TrainingError, fit, resume
recipe, folder = Recipe.load(sys.argv[1]), Path(sys.argv[2])
try:
    resume(folder, quiet=True) if (folder / "recipe.yaml").exists() else fit(recipe, folder, quiet=True)
except TrainingError as error:
    sys.exit(f"{type(error).__name__}: {error}")
"""


class Started(Protocol):
    """A run that goes on."""

    def is_alive(self) -> bool: ...
    def send(self, number: int) -> None: ...
    def end(self) -> int | None: ...


@dataclass
class _Forked:
    """One process, forked from a server that has imported everything."""

    process: object

    def is_alive(self):
        return self.process.is_alive()

    def send(self, number):
        os.kill(self.process.pid, number)

    def end(self):
        self.process.join(timeout=600)
        return self.process.exitcode


@dataclass
class Session:
    """Processes that belong together. What is sent reaches the first, or all of them, as Ctrl-C in a terminal does."""

    process: subprocess.Popen
    chance: random.Random

    def is_alive(self):
        return self.process.poll() is None

    def send(self, number):
        (os.kill if self.chance.random() < 0.5 else os.killpg)(self.process.pid, number)

    def end(self):
        code = self.process.wait(timeout=600)
        for wait in (60, 0):  # the others notice by themselves that one is gone; what does not is ended
            until = time.monotonic() + wait
            while _group_lives(self.process.pid) and time.monotonic() < until:
                time.sleep(0.05)
            if wait and _group_lives(self.process.pid):
                os.killpg(self.process.pid, signal.SIGKILL)
        return code


def _group_lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


@dataclass(frozen=True)
class Way:
    """A way to train: which recipe, and how it is started or gone on with."""

    recipe: Recipe
    begin: Callable[[Recipe, Path, random.Random], Started]


def _fork(recipe: Recipe, folder: Path, chance: random.Random) -> Started:
    return _Forked(start(recipe, folder))


def _session(*launcher: str) -> Callable[[Recipe, Path, random.Random], Started]:
    def begin(recipe: Recipe, folder: Path, chance: random.Random) -> Started:
        script, given = folder.with_suffix(".py"), folder.with_suffix(".yaml")
        script.write_text(_PROGRAM)
        given.write_text(recipe.to_yaml())
        with folder.with_suffix(".log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, *launcher, str(script), str(given), str(folder)],
                stdout=log,
                stderr=log,
                start_new_session=True,
                env={**os.environ, "OMP_NUM_THREADS": "1"},
            )
        return Session(process, chance)

    return begin


_TORCHRUN = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2")
WAYS = {
    "one process": Way(RECIPE, _fork),
    "workers": Way(RECIPE.replace(workers=2), _fork),
    "two processes": Way(RECIPE.replace(devices=2), _session()),
    "torchrun": Way(RECIPE, _session(*_TORCHRUN)),
}


def disturb(run: Started, folder: Path, chance: random.Random) -> tuple[signal.Signals, bool] | None:
    """Sends a signal, somewhere in the steps or inside the writing of a checkpoint; which, and whether the latter.

    None where the run was over before.
    """
    reached = max(last_step(folder), 0) + chance.choice([1, 3, 6, 12])
    while run.is_alive() and last_step(folder) < reached:
        time.sleep(0.001)
    inside = chance.random() < 0.4
    until = time.monotonic() + 30
    if inside:
        while run.is_alive() and not _writing(folder) and time.monotonic() < until:
            pass
        inside = _writing(folder)
    else:
        time.sleep(chance.uniform(0, 0.05))
    if not run.is_alive():
        return None
    number = chance.choice(SIGNALS)
    run.send(number)
    return number, inside


def _writing(folder: Path) -> bool:
    """Whether a checkpoint is unfinished."""
    try:
        with os.scandir(folder / "checkpoints") as entries:
            return any(entry.name.endswith(".partial") for entry in entries)
    except FileNotFoundError:
        return False
