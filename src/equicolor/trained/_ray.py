"""Work on a Ray cluster: units go to actors that hold what is heavy, and their answers come back in order, each once.

Ray Data decides where and when; its pool of actors grows and shrinks between two numbers, and what an actor was doing
when it died is done again by another. What comes back is counted here: a unit that is missing or comes twice is an
error, not a row more or less in a file.
"""

import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from equicolor._tools.optional import require

Unit = TypeVar("Unit")
Answer = TypeVar("Answer")

#: Tasks that Ray is given at most; each has several units where there are more.
_MOST_TASKS = 4096
#: Deaths of an actor over one task before it is given up: an image may be what kills them.
_MOST_TRIES = 5
#: Cores of an actor that has a GPU.
_BESIDE_GPU = 4


@dataclass(frozen=True)
class Actors:
    """How many actors of a Ray cluster compute, and what each has.

    Attributes:
        fewest: the least number of actors.
        most: the largest number; the pool grows while there is work waiting, and shrinks where there is none.
        cpus: cores of each, also its threads; by default 1, and 4 beside a GPU, to decode for it.
        gpus: GPUs of each; a part of one, 0.5, where several share it. By default one, where the cluster has any.

    Example:
        >>> Actors.parse("2:8")
        Actors(fewest=2, most=8, cpus=None, gpus=None)
    """

    fewest: int = 1
    most: int | None = None
    cpus: int | None = None
    gpus: float | None = None

    @classmethod
    def parse(cls, text: str, cpus: int | None = None, gpus: float | None = None) -> "Actors":
        """Reads what a command line says.

        Args:
            text: a number, ``"4"``, or two for a pool that grows, ``"1:16"``.
            cpus: cores of each.
            gpus: GPUs of each.

        Returns:
            The actors.

        Raises:
            ValueError: it is neither.
        """
        fewest, colon, most = text.partition(":")
        try:
            numbers = (int(fewest), int(most) if colon else int(fewest))
        except ValueError:
            numbers = (0, 0)
        if not 1 <= numbers[0] <= numbers[1]:
            raise ValueError(f"actors are one number, 4, or the fewest and the most, 1:16; got {text!r}")
        return cls(*numbers, cpus, gpus)

    def on(self, resources: Mapping[str, float]) -> "Actors":
        """Fills in what is left open, for a cluster.

        Args:
            resources: what the cluster has.

        Returns:
            The actors.

        Example:
            >>> Actors().on({"CPU": 64, "GPU": 8})
            Actors(fewest=1, most=None, cpus=4, gpus=1)
        """
        gpus = min(1, int(resources.get("GPU", 0))) if self.gpus is None else self.gpus
        cpus = (_BESIDE_GPU if gpus else 1) if self.cpus is None else self.cpus
        return replace(self, cpus=cpus, gpus=gpus)


def on_ray(make: Callable[[], Callable[[Unit], Answer]], units: Sequence[Unit], actors: Actors) -> Iterator[Answer]:
    """What the actors say of each unit, in the order of the units.

    Args:
        make: is called once by each actor, and gives what answers a unit. It and the answers must depend on nothing
            but the unit: what an actor did not finish is asked again.
        units: what there is to do. They are pickled, each for itself.
        actors: who does it.

    Raises:
        ModuleNotFoundError: Ray is not installed.
        RuntimeError: a unit is missing, or came twice.
        Exception: that of the first unit, in their order, that an actor could not answer.
    """
    if not units:
        return
    with _connected() as ray:
        actors = actors.on(ray.cluster_resources())
        arrow, pickle = require("pyarrow", "Ray"), ray.cloudpickle
        held = ray.put(pickle.dumps(make))  # once for each machine, not once for each actor
        tables = []
        size = -(-len(units) // _MOST_TASKS)
        for start in range(0, len(units), size):
            some = [pickle.dumps(unit) for unit in units[start : start + size]]
            numbers = arrow.array(range(start, start + len(some)), arrow.int64())
            tables.append(arrow.table({"number": numbers, "unit": arrow.array(some, arrow.large_binary())}))
        said = ray.data.from_arrow(tables).map_batches(
            _Actor,
            fn_constructor_args=(held,),
            batch_size=1,
            batch_format="pyarrow",
            zero_copy_batch=True,
            compute=ray.data.ActorPoolStrategy(min_size=actors.fewest, max_size=actors.most),
            num_cpus=actors.cpus,
            num_gpus=actors.gpus or None,
            max_restarts=-1,
            max_task_retries=_MOST_TRIES,
        )
        due = 0
        for batch in said.iter_batches(batch_size=None, batch_format="pyarrow", prefetch_batches=1):
            for number, answer in zip(batch["number"].to_pylist(), batch["answer"].to_pylist(), strict=True):
                if number != due:
                    raise RuntimeError(f"Ray gave the answer to unit {number:,} where that to {due:,} was due")
                due += 1
                found = pickle.loads(answer)
                if isinstance(found, Exception):
                    raise found
                yield found
        if due != len(units):
            raise RuntimeError(f"Ray gave {due:,} answers to {len(units):,} units")


class _Actor:
    """What Ray starts: it makes what answers when it is first asked, and then holds it."""

    def __init__(self, held: Any) -> None:
        self._held, self._answer = held, None

    def __call__(self, batch: Any) -> Any:
        arrow = require("pyarrow", "Ray")
        answers = [self._answered(unit) for unit in batch["unit"].to_pylist()]
        return arrow.table({"number": batch["number"], "answer": arrow.array(answers, arrow.large_binary())})

    def _answered(self, unit: bytes) -> bytes:
        """The pickled answer. An error is one too: it is raised where the user is, without the words of the engine."""
        ray = require("ray", "the engine ray", install="equicolor[ray]")
        pickle = ray.cloudpickle
        try:
            if self._answer is None:
                self._answer = pickle.loads(ray.get(self._held))()
            found = self._answer(pickle.loads(unit))  # type: ignore[misc]
        except Exception as error:
            found = error
        try:
            return bytes(pickle.dumps(found))
        except Exception as error:  # an exception that holds what cannot be sent
            return bytes(pickle.dumps(RuntimeError(f"{type(found).__name__}: {found} ({error})")))


@contextmanager
def _connected() -> Iterator[Any]:
    """Ray, on the cluster of ``RAY_ADDRESS`` or one of this machine alone, which then ends with the process."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")  # it talks of its own affairs
    ray = require("ray", "the engine ray", install="equicolor[ray]")
    require("ray.data", "the engine ray", install="equicolor[ray]")
    if not ray.is_initialized():
        ray.init(log_to_driver=False, logging_level=logging.ERROR)
    context = ray.data.DataContext.get_current()
    before = context.execution_options.preserve_order, context.enable_progress_bars
    context.execution_options.preserve_order, context.enable_progress_bars = True, False
    level = logging.getLogger("ray.data").level
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    try:
        yield ray
    finally:
        logging.getLogger("ray.data").setLevel(level)
        context.execution_options.preserve_order, context.enable_progress_bars = before
