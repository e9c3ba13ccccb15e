"""The constants behind ``algorithm="auto"`` for a machine of one's own: fitted to times, and read from a file.

The file is the one that the environment variable ``EQUICOLOR_CALIBRATION`` names when this is imported, as ``equicolor
bench --calibrate`` writes it. The same file gives the same choices.
"""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from equicolor._tools.machine import CALIBRATION
from equicolor.nn import _cost
from equicolor.nn._base import GroupConvBase

_FORMAT = 1
#: What each constant is multiplied by, in turn, as long as that chooses better.
_STEPS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.05, 1.1, 1.25, 1.4, 1.7, 2.0)


def calibrated(
    timings: Iterable[tuple[GroupConvBase, Sequence[int], Mapping[str, float]]], device: str = "cpu"
) -> dict[str, Any]:
    """Fits the constants by which ``algorithm="auto"`` chooses to times that were measured.

    It begins with those that are in use, and multiplies one after another as long as the chosen way takes less time, on
    the average over the given timings; so it never chooses worse there than before.

    Args:
        timings: a layer, the shape of its features, and the seconds that ``"direct"`` and ``"fast"`` take.
        device: what was measured, ``"cpu"`` or ``"cuda"``.

    Returns:
        What a file of constants holds: ready to be written as JSON, and named by ``EQUICOLOR_CALIBRATION``.

    Raises:
        ValueError: there are no timings.
    """
    known = _cost.MACHINES.get(device, _cost.MACHINES["cpu"])
    measured = [(layer._cost_size(_pixels(layer, shape)), seconds) for layer, shape, seconds in timings]
    if not measured:
        raise ValueError("nothing was measured that constants could be fitted to")
    terms = np.array([_cost.terms(size, known.lanes) for size, _ in measured])  # (sizes, ways, constants)
    seconds = np.array([[each[way] for way in ("direct", "fast")] for _, each in measured])
    losses = seconds / seconds.min(axis=1, keepdims=True) - 1

    def loss(constants: np.ndarray[Any, Any]) -> float:
        costs = (terms * constants).sum(axis=2)
        fast = costs[:, 1] < costs[:, 0]
        return float(np.where(fast, losses[:, 1], losses[:, 0]).mean())

    constants = np.array([known.direct, known.fast])
    before = best = loss(constants)
    improved = True
    while improved:
        improved = False
        for place in np.ndindex(*constants.shape):
            for step in _STEPS:
                changed = constants.copy()
                changed[place] *= step
                if (found := loss(changed)) < best - 1e-9:
                    constants, best, improved = changed, found, True
    direct, fast = (dict(zip(_cost.Way._fields, map(float, row), strict=True)) for row in constants)
    fitted = {"timings": len(measured), "mean_loss_before": before, "mean_loss": best}
    return {"format": _FORMAT, "device": device, "lanes": known.lanes, "direct": direct, "fast": fast, **fitted}


def _pixels(layer: GroupConvBase, shape: Sequence[int]) -> int:
    return shape[0] * shape[2] * shape[3] // layer.group.order


def read(path: Path) -> tuple[str, _cost.Machine]:
    """The device and the constants that a file holds."""
    try:
        found = json.loads(path.read_text())
        if found["format"] != _FORMAT:
            raise ValueError(f"its format is {found['format']!r}, not {_FORMAT}")
        ways = [
            _cost.Way(**{name: float(found[way][name]) for name in _cost.Way._fields}) for way in ("direct", "fast")
        ]
        if any(not 0 <= number < float("inf") for way in ways for number in way):
            raise ValueError("constants must be numbers of at least 0")
        return str(found["device"]), _cost.Machine(int(found["lanes"]), *ways)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"{CALIBRATION}={path} names no constants of algorithm='auto' ({type(error).__name__}: {error}): measure "
            "them by 'equicolor bench --calibrate', or unset the variable"
        ) from error


if named := os.environ.get(CALIBRATION):
    _device, _machine = read(Path(named))
    _cost.MACHINES[_device] = _machine
