"""What a run's folder says about it: the environment it ran in, and its metrics as it went."""

import csv
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import torch

from equicolor._tools import environment
from equicolor._tools.cells import csv_line
from equicolor._tools.files import write_text
from equicolor.train._checkpoints import Checkpoints, kept_until
from equicolor.train._disk import CHECKPOINTS, cause_on_disk, disk_trouble, read_json, readable
from equicolor.train._errors import TrainingError

METRICS, TENSORBOARD = "metrics.csv", "tensorboard"
_LOGGERS = {"wandb": "WandbLogger", "mlflow": "MLFlowLogger", "comet": "CometLogger", "neptune": "NeptuneLogger"}


def record_environment(path: Path, step: int) -> None:
    """Adds to ``path`` in what environment the run starts, or goes on from ``step``."""
    starts: list[Any] = []
    if path.exists():
        todo = "It says in which environments the run was started: move it elsewhere, and resume again"
        content = read_json(path, todo)
        with readable(path, todo):
            starts = [*content["starts"]]
    starts.append({"step": step, **_environment()})
    write_text(path, json.dumps({"starts": starts}, indent=2) + "\n", durable=True)


def _environment() -> dict[str, Any]:
    packages = environment.versions()
    return {
        "time": environment.now(),
        "command": environment.command(),
        "python": packages.pop("python"),
        "equicolor": packages.pop("equicolor"),
        "git": environment.commits(),
        "packages": packages,
        "machine": environment.machine(),
        "gpus": [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())],
    }


class Metrics:
    """The metrics of a run, as lines of a CSV and in other loggers.

    Args:
        folder: of the run.
        loggers: their names.
        columns: of the CSV, after ``step`` and ``epoch``.
        start: the step that the run goes on from. What was recorded of later steps, before the run was interrupted, is
            recorded again, and so is removed.
        logged: a step that was recorded for sure, where anything was.
    """

    def __init__(
        self, folder: Path, loggers: Sequence[str], columns: Sequence[str], start: int = 0, logged: int = 0
    ) -> None:
        self._folder, self._columns = folder, ["step", "epoch", *columns]
        self._file = None
        if "csv" in loggers:
            path = folder / METRICS
            _cut(path, self._columns, start, logged)
            self._file = path.open("a", newline="", encoding="utf-8")
        self._others = [_logger(name, folder, start) for name in loggers if name != "csv"]

    def add(self, step: int, epoch: float, values: Mapping[str, float]) -> None:
        """One line, which survives the process from here on.

        Raises:
            TrainingError: the disk cannot take it; how to go on.
        """
        with self._told():
            self._write({"step": step, "epoch": round(epoch, 4), **values})
            for logger in self._others:
                logger.log_metrics(dict(values), step=step)

    def _write(self, row: Mapping[str, float]) -> None:
        if self._file is not None:
            csv.DictWriter(self._file, self._columns, restval="").writerow(row)
            self._file.flush()

    def flush(self) -> None:
        """Hands over what loggers hold back."""
        with self._told():
            for logger in self._others:
                logger.save()

    def close(self, failed: bool = False) -> None:
        """Ends all records. After an error, which is to be told, what they hold back may be lost without a word."""
        with suppress(Exception) if failed else self._told():
            if self._file is not None:
                self._file.close()
            for logger in self._others:
                logger.finalize("failed" if failed else "success")

    @contextmanager
    def _told(self) -> Iterator[None]:
        """An error inside that the disk is behind, whichever way a logger puts it, in the user's words."""
        try:
            yield
        except Exception as error:
            if (cause := cause_on_disk(error)) is None:
                raise
            last = Checkpoints(self._folder / CHECKPOINTS).latest_step()
            kept = "" if last is None else kept_until(last, self._folder)
            raise disk_trouble(cause, self._folder, "log metrics into", kept) from error


def _cut(path: Path, columns: Sequence[str], start: int, logged: int) -> None:
    """Keeps the complete lines up to a step. A killed process can leave half a line at the end, and nowhere else."""
    rows: list[dict[str, str]] = []
    if path.exists() and start > 0:
        todo = "Move it elsewhere, and resume again: metrics are then recorded from where the run goes on"
        with readable(path, todo), path.open(newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            if "step" not in (reader.fieldnames or ()):
                raise ValueError("its first line does not name the columns")
            found = list(reader)
            if not all(map(_complete, found[:-1])):
                raise ValueError(f"line {2 + [*map(_complete, found)].index(False)} is incomplete")
            last = max((int(row["step"]) for row in found if _complete(row)), default=logged)
            if last < logged:
                raise ValueError(f"it ends at step {last:,}, where the run had recorded step {logged:,}")
            rows = [row for row in found if _complete(row) and int(row["step"]) <= start]
    lines = [csv_line(columns), *(csv_line([row.get(column, "") for column in columns]) for row in rows)]
    write_text(path, "".join(lines), durable=True)


def _complete(row: Mapping[str | None, str | None]) -> bool:
    """Whether no value is missing, and none too many."""
    step = row.get("step") or ""
    return None not in row and None not in row.values() and step.isascii() and step.isdecimal()


def _logger(name: str, folder: Path, start: int) -> Any:
    if name == "tensorboard":
        from lightning.fabric.loggers.tensorboard import TensorBoardLogger

        purge: dict[str, Any] = {"purge_step": start + 1} if start else {}
        return TensorBoardLogger(os.fspath(folder), name=TENSORBOARD, version="", **purge)
    import lightning.pytorch.loggers as loggers

    options: dict[str, Any] = {"wandb": {"project": "equicolor", "name": folder.name, "save_dir": os.fspath(folder)}}
    try:
        return getattr(loggers, _LOGGERS[name])(**options.get(name, {}))
    except ModuleNotFoundError as error:
        raise TrainingError(f"the logger {name!r} needs a package that is not installed: {error}") from None
