"""Checkpoints that are there completely or not at all.

A checkpoint is written under another name, forced onto the disk, and renamed: a name that can be seen stands for a file
that was finished. The name ends in the file's SHA-256, so that damage after that is noticed too. What is damaged is
never deleted for that: the disk may give it back another time.
"""

import pickle
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from equicolor._tools.files import PARTIAL, digest, put_in_place
from equicolor.train._disk import disk_trouble, resume_command
from equicolor.train._errors import TrainingError

_NAME = re.compile(r"step-(\d+)-([0-9a-f]{64})\.pt")
#: What is added to the names of those that were passed over.
DAMAGED = ".damaged"
#: How many are kept. One would do; the second is there should the disk damage the first.
_KEPT = 2


class Checkpoints:
    """The checkpoints in a folder, of which the last few are kept.

    Args:
        folder: where they are.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def newest(self) -> Path | None:
        """The newest one that is undamaged. This is a question: no file is touched.

        Raises:
            TrainingError: one cannot be read now, which does not say that it is damaged.
        """
        return next((path for path in self._all() if _is_whole(path)), None)

    def to_go_on_from(self) -> Path | None:
        """:meth:`newest`. Damaged ones that it passes over are set aside under another name, with a warning."""
        found = self.newest()
        for path in self._all():
            if path == found:
                break
            aside = path.with_name(path.name + DAMAGED)
            path.replace(aside)
            warnings.warn(
                f"{path.name} is damaged: it is kept as {aside.name}, and the run goes on from "
                + (f"step {_parts(found)[0]:,}" if found else "its start"),
                stacklevel=2,
            )
        return found

    def step_of(self, path: Path) -> int:
        """The step of one of them, as its name says."""
        return _parts(path)[0]

    def names(self) -> list[str]:
        """The names of all that are there, damaged or not, newest first, and of those that were set aside."""
        aside = [path.name for path in self.folder.glob(f"*.pt{DAMAGED}")]
        return [path.name for path in self._all()] + sorted(aside, reverse=True)

    def latest_step(self) -> int | None:
        """The step of the newest one, damaged or not."""
        paths = self._all()
        return _parts(paths[0])[0] if paths else None

    def size(self) -> int:
        """The bytes of the newest one, damaged or not; 0 where there is none."""
        paths = self._all()
        return paths[0].stat().st_size if paths else 0

    def partial(self, step: int) -> Path:
        """Where to write the checkpoint of a step, before :meth:`finish` names it."""
        return self.folder / f"step-{step:09}{PARTIAL}"

    def finish(self, step: int) -> Path:
        """Names what was written to :meth:`partial`, and removes those that are no longer needed."""
        partial = self.partial(step)
        path = self.folder / f"step-{step:09}-{digest(partial)}.pt"
        put_in_place(partial, path, durable=True)
        self._remove_old(path)
        return path

    def _remove_old(self, written: Path) -> None:
        """Removes what is older than the last good ones. Where nothing is too many, nothing is read."""
        paths, good = self._all(), 0
        if len(paths) <= _KEPT:
            return
        for path in paths:
            if good == _KEPT:
                path.unlink()
            elif path == written or _is_surely_whole(path):
                good += 1

    def remove_partial(self) -> None:
        """Removes what an interrupted run left unfinished."""
        for path in self.folder.glob(f"*{PARTIAL}"):
            path.unlink()

    def _all(self) -> list[Path]:
        """Newest first."""
        paths = [path for path in self.folder.glob("*.pt") if _NAME.fullmatch(path.name)]
        return sorted(paths, key=lambda path: _parts(path)[0], reverse=True)


def kept_until(step: int, run: Path) -> str:
    """What is there after an error of the disk, and what to do."""
    return f"The checkpoint of step {step} is kept: make room, then resume with {resume_command(run)}"


def load_checkpoint(path: Path, steps: int, load: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What a checkpoint holds, if it can be one of a run of so many steps. Nothing in it is executed.

    Args:
        path: of the file, whose name says its step.
        steps: of the whole run.
        load: loads it, tensors and numbers alone.

    Raises:
        TrainingError: it is none; it is left as it is.
    """
    advice = "Move it elsewhere to go on from the one before; it is left as it is"
    try:
        state = load()
    except torch.OutOfMemoryError:
        raise
    except pickle.UnpicklingError:  # torch would advise to load it without care
        raise TrainingError(
            f"{path} is no checkpoint of a run: it holds more than tensors and numbers, and nothing of it was loaded. "
            f"{advice}"
        ) from None
    except Exception as error:
        raise TrainingError(f"{path} is no checkpoint of this run ({type(error).__name__}). {advice}") from error
    step, seconds, results = (state.get(name) for name in ("step", "seconds", "results"))
    counts = state.get("counts", {})  # those of earlier versions have none: they stopped where all was counted
    named = _parts(path)[0]
    if not (_is_count(step) and step == named <= steps):
        raise TrainingError(
            f"{path} is no checkpoint of this run: it says to be of step {step!r:.40}, its name of step {named}, and "
            f"the run has {steps:,}. {advice}"
        )
    told = isinstance(seconds, int | float) and seconds >= 0 and _is_results(results) and _is_tensors(counts)
    if not (told and "precision" in state):
        raise TrainingError(f"{path} is no checkpoint of this run: its time or its results are none. {advice}")
    return state


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_tensors(counts: object) -> bool:
    return isinstance(counts, dict) and all(isinstance(value, torch.Tensor) for value in counts.values())


def _is_results(results: object) -> bool:
    """Whether something is numbers by name, of each split."""
    return isinstance(results, dict) and all(
        isinstance(split, str) and isinstance(kinds, dict) and all(isinstance(v, float) for v in kinds.values())
        for split, kinds in results.items()
    )


def guarded(write: Callable[[], Path], checkpoints: Checkpoints, step: int) -> Path:
    """Runs ``write``, with errors of the disk in the user's words; what could not be written is removed."""
    try:
        return write()
    except OSError as error:
        checkpoints.partial(step).unlink(missing_ok=True)
        last, folder = checkpoints.latest_step(), checkpoints.folder
        kept = "" if last is None else kept_until(last, folder.parent)
        raise disk_trouble(error, folder, f"write the checkpoint of step {step} into", kept) from error


def _parts(path: Path) -> tuple[int, str]:
    match = _NAME.fullmatch(path.name)
    assert match is not None
    return int(match[1]), match[2]


def _is_whole(path: Path) -> bool:
    try:
        return digest(path) == _parts(path)[1]
    except OSError as error:
        raise TrainingError(
            f"cannot read the checkpoint {path}: {error.strerror or error}. It is left as it is: try again, or move it "
            "elsewhere to go on from the one before"
        ) from error


def _is_surely_whole(path: Path) -> bool:
    try:
        return _is_whole(path)
    except TrainingError:
        return False
