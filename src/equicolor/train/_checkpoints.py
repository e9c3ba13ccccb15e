"""Checkpoints that are there completely or not at all.

A checkpoint is written under another name, forced onto the disk, and renamed: a name that can be seen stands for a file
that was finished. The name ends in the file's SHA-256, so that damage after that is noticed too. What is damaged is
never deleted for that: the disk may give it back another time.
"""

import errno
import hashlib
import re
import warnings
from collections.abc import Callable
from pathlib import Path

from equicolor._tools.files import PARTIAL, put_in_place
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
        path = self.folder / f"step-{step:09}-{_sha256(partial)}.pt"
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


def disk_trouble(error: OSError, folder: Path, doing: str) -> TrainingError:
    """What to tell the user of an error of the disk."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        reason = "the disk is full"
    elif error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        reason = "it is read-only for you"
    else:
        reason = error.strerror or str(error)
    return TrainingError(f"cannot {doing} {folder}: {reason}")


def clean_after(error: OSError, checkpoints: Checkpoints, step: int) -> TrainingError:
    """Removes the checkpoint that could not be written; says which one is still there."""
    checkpoints.partial(step).unlink(missing_ok=True)
    last, run = checkpoints.latest_step(), checkpoints.folder.parent
    kept = f"The checkpoint of step {last} is kept: make room, then resume with {resume_command(run)}"
    trouble = disk_trouble(error, checkpoints.folder, f"write the checkpoint of step {step} into")
    return trouble if last is None else TrainingError(f"{trouble}. {kept}")


def resume_command(run: Path) -> str:
    """What to type to go on with a run."""
    return f"equicolor train --resume {run}"


def guarded(write: Callable[[], Path], checkpoints: Checkpoints, step: int) -> Path:
    """Runs ``write``, with errors of the disk in the user's words."""
    try:
        return write()
    except OSError as error:
        raise clean_after(error, checkpoints, step) from error


def _parts(path: Path) -> tuple[int, str]:
    match = _NAME.fullmatch(path.name)
    assert match is not None
    return int(match[1]), match[2]


def _is_whole(path: Path) -> bool:
    try:
        return _sha256(path) == _parts(path)[1]
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


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
