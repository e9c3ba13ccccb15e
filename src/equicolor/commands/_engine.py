"""The options of commands that can be computed by a cluster: ``--engine ray``, ``--actors 1:16``."""

from typing import TYPE_CHECKING

from equicolor._tools.optional import require

if TYPE_CHECKING:
    from equicolor.trained import Actors


def check_engine(engine: str, actors: str | None, compiled: bool = False) -> None:
    """Refuses options that do not belong together, before anything is read.

    Raises:
        ValueError: naming them.
        ModuleNotFoundError: Ray is not installed.
    """
    if engine == "local":
        if actors is not None:
            raise ValueError("--actors are those of --engine ray")
        return
    require("ray", "--engine ray", install="equicolor[ray]")
    if compiled:
        raise ValueError("--compile is for --engine local: every actor would compile for itself")


def pool(actors: str | None, workers: int | None, device: str) -> "Actors":
    """The actors that were asked for: with a GPU each, where the cluster has some and the CPU is not asked for."""
    from equicolor.trained import Actors

    if workers is not None and workers < 0:
        raise ValueError(f"workers must be 0 or more, got {workers}")
    cpus = None if workers is None else max(1, workers)
    gpus = 0.0 if device == "cpu" else 1.0 if device.startswith("cuda") else None
    return Actors(cpus=cpus, gpus=gpus) if actors is None else Actors.parse(actors, cpus, gpus)
