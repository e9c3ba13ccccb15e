"""What a run's folder says about it: the environment it ran in, and its metrics as it went."""

import csv
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from equicolor._tools import environment
from equicolor._tools.files import write_text
from equicolor.train._errors import TrainingError

_LOGGERS = {"wandb": "WandbLogger", "mlflow": "MLFlowLogger", "comet": "CometLogger", "neptune": "NeptuneLogger"}


def record_environment(path: Path, step: int) -> None:
    """Adds to ``path`` in what environment the run starts, or goes on from ``step``."""
    try:
        starts = json.loads(path.read_text())["starts"]
    except (FileNotFoundError, ValueError, KeyError):
        starts = []
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
    """

    def __init__(self, folder: Path, loggers: Sequence[str], columns: Sequence[str], start: int = 0) -> None:
        self._columns = ["step", "epoch", *columns]
        self._file = None
        if "csv" in loggers:
            path = folder / "metrics.csv"
            _cut(path, self._columns, start)
            self._file = path.open("a", newline="", encoding="utf-8")
        self._others = [_logger(name, folder, start) for name in loggers if name != "csv"]

    def add(self, step: int, epoch: float, values: Mapping[str, float]) -> None:
        """One line, which survives the process from here on."""
        if self._file is not None:
            row = {"step": step, "epoch": round(epoch, 4), **values}
            csv.DictWriter(self._file, self._columns, restval="").writerow(row)
            self._file.flush()
        for logger in self._others:
            logger.log_metrics(dict(values), step=step)

    def flush(self) -> None:
        """Hands over what loggers hold back."""
        for logger in self._others:
            logger.save()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
        for logger in self._others:
            logger.finalize("success")


def _cut(path: Path, columns: Sequence[str], start: int) -> None:
    """Keeps the complete lines up to a step."""
    rows: list[dict[str, str]] = []
    if path.exists() and start > 0:
        with path.open(newline="", encoding="utf-8") as file:
            rows = [row for row in csv.DictReader(file) if _complete(row) and int(row["step"]) <= start]
    lines = [",".join(columns), *(",".join(row.get(column, "") for column in columns) for row in rows)]
    write_text(path, "\n".join(lines) + "\n", durable=True)


def _complete(row: Mapping[str, str | None]) -> bool:
    """Whether no value is missing: a killed process can leave half a line."""
    return all(value is not None for value in row.values()) and str(row.get("step", "")).isdigit()


def _logger(name: str, folder: Path, start: int) -> Any:
    if name == "tensorboard":
        from lightning.fabric.loggers.tensorboard import TensorBoardLogger

        purge: dict[str, Any] = {"purge_step": start + 1} if start else {}
        return TensorBoardLogger(os.fspath(folder), name="tensorboard", version="", **purge)
    import lightning.pytorch.loggers as loggers

    options: dict[str, Any] = {"wandb": {"project": "equicolor", "name": folder.name, "save_dir": os.fspath(folder)}}
    try:
        return getattr(loggers, _LOGGERS[name])(**options.get(name, {}))
    except ModuleNotFoundError as error:
        raise TrainingError(f"the logger {name!r} needs a package that is not installed: {error}") from None
