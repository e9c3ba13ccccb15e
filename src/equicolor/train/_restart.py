"""A run that has lost its checkpoints: it is not begun again without a word, and nothing of it is thrown away."""

from pathlib import Path

from equicolor.train._checkpoints import Checkpoints
from equicolor.train._disk import resume_command
from equicolor.train._errors import TrainingError
from equicolor.train._record import METRICS, TENSORBOARD
from equicolor.train._run import ENVIRONMENT


def check_can_go_on(folder: Path, checkpoints: Checkpoints, restart: bool) -> None:
    """Refuses a run that had checkpoints and has none left, or none that is whole; unless it is to begin again.

    Nothing is changed. A run that was stopped before its first checkpoint begins at its start in any case.

    Args:
        folder: of the run.
        checkpoints: of it.
        restart: whether it is to begin again.

    Raises:
        TrainingError: saying what is there, and what to type; also for a restart of a run that can go on.
    """
    newest = checkpoints.newest()
    if newest is not None:
        if restart:
            raise TrainingError(
                f"the run in {folder} has a checkpoint of step {checkpoints.step_of(newest):,}: go on with "
                f"{resume_command(folder)}, without --restart; or start a new run in another folder"
            )
        return
    left = checkpoints.names()
    had_some = left or any((folder / name).exists() for name in (ENVIRONMENT, METRICS))
    if restart or not had_some:
        return
    found = f"those that are there are damaged ({', '.join(left)})" if left else f"none is left in {checkpoints.folder}"
    raise TrainingError(
        f"the run in {folder} has no checkpoint to go on from: {found}. Nothing was changed. Put one back from a copy; "
        f"or, to begin again at step 0 and keep what is there under other names, {resume_command(folder)} --restart"
    )


def set_aside(folder: Path) -> None:
    """Gives the metrics of before a restart other names: ``metrics-1.csv``, ``tensorboard-1``, and so on."""
    for path in (folder / METRICS, folder / TENSORBOARD):
        if path.exists():
            number = 1
            while (aside := path.with_name(f"{path.stem}-{number}{path.suffix}")).exists():
                number += 1
            path.rename(aside)
