"""What a disk can do to a run, in the user's words, and what to type to go on."""

import errno
import json
import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from equicolor._tools.short import short
from equicolor.train._errors import TrainingError

#: The folder of checkpoints, in that of a run.
CHECKPOINTS = "checkpoints"


def resume_command(run: Path) -> str:
    """What to type to go on with a run."""
    return shlex.join(["equicolor", "train", "--resume", os.fspath(run)])


def disk_trouble(error: OSError, folder: Path, doing: str, kept: str = "") -> TrainingError:
    """What to tell the user of an error of the disk; ``kept``: what is there all the same, and what to do."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        reason = f"the disk at {_mount(folder)} is full"
    elif error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        reason = "it is read-only for you"
    else:
        reason = error.strerror or str(error)
    return TrainingError(f"cannot {doing} {folder}: {reason}" + (f". {kept}" if kept else ""))


def cause_on_disk(error: BaseException | None) -> OSError | None:
    """The error of the disk that is behind another one: loggers have errors of their own."""
    while error is not None and not isinstance(error, OSError):
        error = error.__cause__ or error.__context__
    return error


@contextmanager
def readable(path: Path, todo: str) -> Iterator[None]:
    """Errors inside say that the file ``path`` of a run is damaged, and what is to be done."""
    try:
        yield
    except TrainingError:
        raise
    except OSError as error:
        raise TrainingError(f"cannot read {path}: {error.strerror or error}. It is left as it is: try again") from error
    except Exception as error:  # whatever a damaged file may lead to
        raise TrainingError(f"{path} is damaged ({_why(error)}). {todo}") from None


def read_json(path: Path, todo: str) -> dict[str, Any]:
    """The names and values in a JSON file of a run."""
    with readable(path, todo):
        content = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(content, dict):
            raise ValueError(f"expected names and values, got {type(content).__name__}")
        return content


def _why(error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "it is not text"
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    if isinstance(error, KeyError):
        return f"there is no {error.args[0]!r}"
    return short(error, 200) or type(error).__name__


def _mount(folder: Path) -> Path:
    """Where the disk that holds a folder begins."""
    place = folder.absolute()
    while not place.is_mount() and place != place.parent:
        place = place.parent
    return place
