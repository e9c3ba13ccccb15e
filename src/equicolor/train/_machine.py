"""The machine a run is on: its processes and devices, and how far its results can be relied upon to be the same."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
import torch.utils.deterministic
from torch import Tensor

from equicolor._tools.devices import accelerator
from equicolor.train._errors import TrainingError
from equicolor.train._libraries import (
    DDPStrategy,
    Fabric,
    FSDPStrategy,
    LSFEnvironment,
    MPIEnvironment,
    SLURMEnvironment,
)
from equicolor.train._recipe import Recipe


def new_fabric(recipe: Recipe) -> Fabric:
    """Lightning Fabric as the recipe wants it; torchrun's word on the number of processes goes first."""
    devices, nodes = recipe.devices, recipe.nodes
    if "LOCAL_WORLD_SIZE" in os.environ and "TORCHELASTIC_RUN_ID" in os.environ:
        devices = int(os.environ["LOCAL_WORLD_SIZE"])
        nodes = int(os.environ["WORLD_SIZE"]) // devices
    elif nodes > 1 and not _is_started_everywhere():
        raise TrainingError(
            f"nodes={nodes} takes a process on each of these machines, and only this one was started: start the "
            "command by torchrun or SLURM's srun on all of them, see docs/training.md"
        )
    strategy: Any = "auto"
    if recipe.strategy == "fsdp":
        strategy = FSDPStrategy(state_dict_type="full")
    elif recipe.strategy == "ddp" or devices * nodes > 1:
        strategy = DDPStrategy(broadcast_buffers=False)  # shared batch norms have the same statistics everywhere
    return Fabric(
        accelerator=recipe.accelerator,
        devices=devices,
        num_nodes=nodes,
        strategy=strategy,
        precision=recipe.precision,
    )


def _is_started_everywhere() -> bool:
    """Whether something started the command on several machines, or a person did, who said which one this is."""
    started = any(kind.detect() for kind in (SLURMEnvironment, MPIEnvironment, LSFEnvironment))
    return started or ("MASTER_ADDR" in os.environ and bool({"NODE_RANK", "GROUP_RANK"} & os.environ.keys()))


def summed(fabric: Fabric, values: Tensor) -> Tensor:
    """The sum over all processes."""
    total: Any = fabric.all_reduce(values, reduce_op="sum")
    return torch.as_tensor(total)


def on_first(fabric: Fabric, action: Callable[[], None]) -> None:
    """Lets the first process do something; if that fails, all of them fail, none waits for ever."""
    error: Exception | None = None
    if fabric.is_global_zero:
        try:
            action()
        except Exception as caught:
            error = caught
    message = fabric.broadcast(None if error is None else str(error))
    if error is not None:
        raise error
    if message is not None:
        raise TrainingError(message)


@contextmanager
def reproducible(deterministic: bool) -> Iterator[None]:
    """Algorithms whose results do not vary, and random numbers that go on afterwards as if nothing had been drawn."""
    determinism: Any = torch.utils.deterministic
    before = (
        torch.are_deterministic_algorithms_enabled(),
        torch.is_deterministic_algorithms_warn_only_enabled(),
        determinism.fill_uninitialized_memory,
        torch.backends.cudnn.benchmark,
    )
    found = accelerator()
    kind = "cuda" if found is None else found.type
    devices = range(getattr(torch, kind).device_count())
    with torch.random.fork_rng(devices, device_type=kind):
        try:
            if deterministic:
                os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
                torch.use_deterministic_algorithms(True, warn_only=True)
                determinism.fill_uninitialized_memory = False
            torch.backends.cudnn.benchmark = not deterministic
            yield
        finally:
            torch.use_deterministic_algorithms(before[0], warn_only=before[1])
            determinism.fill_uninitialized_memory = before[2]
            torch.backends.cudnn.benchmark = before[3]


@contextmanager
def alone(lock: Path) -> Iterator[None]:
    """Keeps a second process from training in the same folder, where files can be locked.

    The lock is one that the system lets go of when the process ends, in whatever way, and that forked workers do not
    hold: a run that was killed can be resumed at once.
    """
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    with lock.open("w") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            raise TrainingError(f"another process is training in {lock.parent}: wait for it, or stop it") from None
        except OSError:
            pass  # a file system without locks
        try:
            yield
        finally:
            lock.unlink(missing_ok=True)
