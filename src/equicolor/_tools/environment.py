"""What something was computed with and on: versions, the commit, the machine, the command."""

import datetime
import hashlib
import importlib.metadata
import os
import platform
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

_PACKAGE = Path(__file__).parents[1]
_PACKAGES = ("torch", "numpy", "lightning", "torchmetrics", "kornia", "datasets")


def versions() -> dict[str, str | None]:
    """Of Python, of this library and of those it computes with; None for one that is not installed."""
    return {"python": platform.python_version(), **{name: version(name) for name in ("equicolor", *_PACKAGES)}}


def machine(device: "str | torch.device" = "cpu") -> dict[str, Any]:
    """The hardware, as far as it says something about seconds, and the name of a device."""
    import torch

    place = torch.device(device)
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "instructions": torch.backends.cpu.get_cpu_capability(),
        "device": torch.cuda.get_device_name(place) if place.type == "cuda" else place.type,
        **_calibration(),
    }


def _calibration() -> dict[str, str]:
    """Which constants ``algorithm="auto"`` chooses by, where they are not ours: the beginning of their file's hash."""
    named = os.environ.get("EQUICOLOR_CALIBRATION")
    return {"calibration": hashlib.sha256(Path(named).read_bytes()).hexdigest()[:16]} if named else {}


def command() -> str:
    """What was typed to start this process, or close to it."""
    return shlex.join([sys.executable, *sys.argv])


def now() -> str:
    """The time, in UTC."""
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")


def commits() -> dict[str, str | None]:
    """The commits that this library and the working directory are at."""
    return {"equicolor": git_commit(_PACKAGE), "here": git_commit(Path.cwd())}


def git_commit(folder: Path) -> str | None:
    """The commit that a folder is at, with ``+changes`` if it differs from it; None outside of git."""
    commit = _git(folder, "rev-parse", "HEAD", seconds=10)
    status = _git(folder, "status", "--porcelain", "--untracked-files=no", seconds=30)
    return None if commit is None or status is None else commit + ("+changes" if status else "")


def _git(folder: Path, *command: str, seconds: float) -> str | None:
    try:
        run = subprocess.run(
            ["git", "-C", str(folder), *command], capture_output=True, text=True, timeout=seconds, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return run.stdout.strip()


def version(package: str) -> str | None:
    """The version of an installed package; None where there is none."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None
