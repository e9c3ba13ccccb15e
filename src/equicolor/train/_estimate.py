"""How long a run will take, from a few of its steps, which are taken without writing anything."""

import time
from itertools import islice
from pathlib import Path

import torch

from equicolor.nn import Canonicalizer
from equicolor.train._canonical import train_canonicalizer
from equicolor.train._checkpoints import Checkpoints
from equicolor.train._data import ImageData
from equicolor.train._fit import Session
from equicolor.train._machine import new_fabric, reproducible
from equicolor.train._recipe import Recipe

#: So many steps are timed, after one that is slower than the others; fewer if they take longer than so many seconds.
_STEPS, _PATIENCE = 3, 5.0


def expected_seconds(recipe: Recipe, data: ImageData) -> float:
    """Estimates how long a run will take here, from a few steps: training, canonicaliser and testing.

    Args:
        recipe: what is to be trained.
        data: its images, loaded.

    Returns:
        Seconds.

    Raises:
        ValueError: the recipe's network does not take these images.
    """
    return rehearsed(recipe, data)[1]


def rehearsed(recipe: Recipe, loaded: ImageData | None = None) -> tuple[Session, float]:
    """A run that is built, by one process, and not begun; and the seconds that all of it will take.

    Raises:
        ValueError, TrainingError: whatever :func:`fit` would raise before it trains.
    """
    alone = recipe.replace(devices=1, nodes=1, strategy="auto", canonicalizer_steps=0)
    session = Session(alone, Path(), fresh=True, quiet=True, loaded=loaded)
    session.fabric = new_fabric(alone)
    session.fabric.launch()
    session.checkpoints = Checkpoints(Path("there are none"))
    with reproducible(recipe.deterministic):
        session._build()
        steps = session.data.steps
        if session.learner.remembers:  # every image goes through the network once
            steps = min(steps, session.data.steps_per_epoch)
        return session, _canonicalizer(recipe, session) + _step(session) * steps + _testing(session)


def _canonicalizer(recipe: Recipe, session: Session) -> float:
    """The seconds of its training, where it is trained before the network."""
    if recipe.canonicalize is None or not recipe.canonicalizer_steps or recipe.around is not None:
        return 0.0
    canonicalizer = Canonicalizer(recipe.canonicalize, **recipe.canonicalize_options).to(session.fabric.device)
    train_canonicalizer(canonicalizer, session.data.train, steps=1)
    start = time.perf_counter()
    train_canonicalizer(canonicalizer, session.data.train, steps=2)
    return (time.perf_counter() - start) / 2 * recipe.canonicalizer_steps


def _step(session: Session) -> float:
    """The seconds of a training step."""
    parts = iter(session.data.training())
    session.learner.train_mode()
    times = list[float]()
    while session.step < min(session.data.steps, _STEPS + 1) and sum(times) <= _PATIENCE:
        start = time.perf_counter()
        float(session._one_step(parts))  # waits for the device
        times.append(time.perf_counter() - start)
        session.step += 1
    return min(times)


@torch.no_grad()
def _testing(session: Session) -> float:
    """The seconds of one evaluation, times how many there will be."""
    data, seconds = session.data, 0.0
    session.model.eval()
    for split, batches in data.testing().items():
        start = time.perf_counter()
        for batch in islice(batches, 1):
            session.learner.test_step(session.fabric.to_device(batch), 0, split)
        seconds += (time.perf_counter() - start) * len(batches)
    every = session.recipe.evaluate_every * data.steps_per_epoch
    return seconds * (-(-data.steps // every) if every else 1)
