"""Finished runs in one file of JSON lines: what each computed, what came out, and nothing of its network.

A line is ``{"run": name, "recipe": {…}, "summary": {…}, "shifted": {…}, "measured": {…}}``. Later lines of a run add to
earlier ones, so that the file is only ever appended to, by several processes too: each line is one write.
"""

import json
import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from equicolor._tools.files import json_text


@dataclass
class Entry:
    """What is known of a run.

    Attributes:
        recipe: its fields.
        summary: as in the run's own ``results.json``; empty if there are no results.
        shifted: errors under colour shifts, by split and shift.
        measured: several numbers each, by what they are of: a domain of a test set.
    """

    recipe: dict[str, Any] = field(default_factory=dict)
    summary: dict[str, Any] = field(default_factory=dict)
    shifted: dict[str, float] = field(default_factory=dict)
    measured: dict[str, dict[str, float]] = field(default_factory=dict)


class Ledger:
    """The runs in a file, which is made when the first is added."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> dict[str, Entry]:
        """All runs by name, as the file has them now: to be looked at, not changed.

        A line that was written in part is left out, with a warning.
        """
        if not self.path.is_file():
            return {}
        state = self.path.stat()
        return _read(self.path, state.st_mtime_ns, state.st_size)

    def append(self, run: str, **parts: Mapping[str, Any]) -> None:
        """Adds a line about a run, on the disk when this returns."""
        line = json_text({"run": run, **parts}) + "\n"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab+", buffering=0) as file:
            if file.seek(0, os.SEEK_END) and _last_byte(file) != b"\n":
                line = "\n" + line  # after what a killed process left of its line
            file.write(line.encode())
            os.fsync(file.fileno())


@lru_cache(maxsize=1)  # it is asked for again with every run, and of hundreds of runs that takes a minute
def _read(path: Path, _changed: int, _size: int) -> dict[str, Entry]:
    entries: dict[str, Entry] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line:  # two processes wrote at once, and one took the other's line for half a line
            continue
        found = _parsed(line)
        if found is None:
            warnings.warn(f"line {number} of {path} is damaged and left out", stacklevel=3)
            continue
        entry = entries.setdefault(found["run"], Entry())
        for part in ("recipe", "summary", "shifted", "measured"):
            getattr(entry, part).update(found.get(part, {}))
    return entries


def _last_byte(file: Any) -> bytes:
    file.seek(-1, os.SEEK_END)
    last: bytes = file.read(1)
    return last


def _parsed(line: str) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) and "run" in found else None
