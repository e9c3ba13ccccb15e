"""Predictions and evaluations by the actors of a Ray cluster: the same rows as in one process."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import torch
from torch import Tensor

from equicolor.data import ImageSet
from equicolor.deploy import optimize_for_inference
from equicolor.models import Preparation
from equicolor.trained._batches import file_batches, set_batches
from equicolor.trained._evaluate import Answer, Engine, answer
from equicolor.trained._packed import Packed
from equicolor.trained._places import OnBad, Place
from equicolor.trained._predict import Prediction, Predictor, class_names
from equicolor.trained._ray import Actors, on_ray

Item = TypeVar("Item")


@dataclass(frozen=True)
class _Said:
    """What an actor says of a batch of images, and what it could not read."""

    names: list[str]
    probabilities: Tensor
    bad: list[tuple[str, str]]


def predict_on_ray(
    packed: Packed,
    images: Sequence[Place] | ImageSet,
    plan: Preparation,
    classes: Sequence[str],
    actors: Actors,
    batch_size: int,
    on_bad: OnBad,
) -> Iterator[Prediction]:
    """Predicts as :func:`predict` does, in the same order, on a Ray cluster.

    A batch is work for one actor, whichever has time for it.

    Args:
        packed: the network, which goes to every actor.
        images: files, addresses and rows, which all machines must be able to read; or a data set.
        plan: how images are prepared for the network.
        classes: names, as :func:`predict` takes them.
        actors: who computes.
        batch_size: how many images at once.
        on_bad: called with each file that cannot be read, in the order of the files.

    Returns:
        Predictions, as soon as they are known.

    Raises:
        ValueError: as :func:`predict` does.
        RuntimeError: an image is missing, or came twice.
        ModuleNotFoundError: Ray is not installed.
    """
    names = class_names(classes)
    units: list[Any]  # of places, or of numbers of rows
    make: Callable[[], Callable[[Any], _Said]]
    if isinstance(images, ImageSet):
        units = _cut(range(len(images)), batch_size)
        make = partial(_predicts_rows, packed, images, names, actors)
    else:
        units = _cut(images, batch_size)
        make = partial(_predicts_places, packed, plan, names, actors)
    for unit, said in zip(units, on_ray(make, units, actors), strict=True):
        if len(said.names) + len(said.bad) != len(unit):
            raise RuntimeError(f"an actor spoke of {len(said.names) + len(said.bad)} images, of {len(unit)} were due")
        for bad in said.bad:
            on_bad(*bad)
        for name, row in zip(said.names, said.probabilities, strict=True):
            highest, label = row.max(0)
            yield Prediction(name, names[int(label)], float(highest), row)


def evaluate_on_ray(packed: Packed, actors: Actors) -> Engine:
    """Makes the actors of a Ray cluster the engine of :func:`evaluate` and :func:`evaluate_curve`.

    Args:
        packed: the network, which goes to every actor.
        actors: who computes. The set goes there too: its images, where they are in memory, or where its files are,
            which all machines must be able to read.

    Returns:
        What ``engine`` takes.

    Example:
        >>> engine = evaluate_on_ray(Packed.of("runs/cells"), Actors(1, 16))  # doctest: +SKIP
        >>> evaluate(opened.model, images, engine=engine).error  # doctest: +SKIP
    """

    def answers(images: ImageSet, batch_size: int) -> Iterator[Answer]:
        units = _cut(range(len(images)), batch_size)
        yield from on_ray(partial(_evaluates, packed, images, actors), units, actors)

    return answers


# ------------------------------------------------------------------------------------------------ in an actor


def _predicts_places(
    packed: Packed, plan: Preparation, classes: Sequence[str], actors: Actors
) -> Callable[[Sequence[Place]], _Said]:
    predictor = Predictor(packed.open(_device(actors)).model, classes)
    threads = torch.get_num_threads()  # as many as the actor has cores

    def said(unit: Sequence[Place]) -> _Said:
        bad: list[tuple[str, str]] = []
        batches = file_batches(unit, plan.side, len(unit), lambda *each: bad.append(each), plan.fit, threads)
        return _joined([each for batch in batches for each in predictor(*batch)], bad)

    return said


def _predicts_rows(
    packed: Packed, images: ImageSet, classes: Sequence[str], actors: Actors
) -> Callable[[Sequence[int]], _Said]:
    predictor = Predictor(packed.open(_device(actors)).model, classes)

    def said(unit: Sequence[int]) -> _Said:
        return _joined([each for batch in set_batches(images.subset(unit), len(unit)) for each in predictor(*batch)])

    return said


def _evaluates(packed: Packed, images: ImageSet, actors: Actors) -> Callable[[Sequence[int]], Answer]:
    model = packed.open(_device(actors)).model
    ready = optimize_for_inference(model)
    return lambda unit: answer(model, ready, images.fetch(unit), images.task)


def _joined(found: Sequence[Prediction], bad: Sequence[tuple[str, str]] = ()) -> _Said:
    rows = [each.probabilities for each in found]
    return _Said([each.path for each in found], torch.stack(rows) if rows else torch.empty(0), list(bad))


def _device(actors: Actors) -> str:
    """An actor sees the GPUs that it was given, and no others."""
    return "cpu" if actors.gpus == 0 else "auto"


def _cut(images: Sequence[Item], batch_size: int) -> list[Sequence[Item]]:
    """Batches, in order: each is a unit of work."""
    if batch_size < 1:
        raise ValueError(f"batch_size must be positive, got {batch_size}")
    return [images[start : start + batch_size] for start in range(0, len(images), batch_size)]
