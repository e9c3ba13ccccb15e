"""How well ``algorithm="auto"`` chooses, on every recorded sweep over layers; and how well a sweep itself would.

Two sweeps of one machine differ by its noise. What the one measured as the better way is the best that any rule could
have known of it; how often that is right on the other is what can be asked of a rule.

    python benchmarks/auto.py
"""

import json
import statistics
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from equicolor.bench.layers import PHASES, Size, taken_by_auto
from equicolor.nn import _cost

RESULTS = Path(__file__).parent / "results"
SWEEPS = {"layers": _cost.AVX512, "layers-again": _cost.AVX512, "layers-avx2": _cost.AVX2}
WAYS = ("direct", "fast")


def timings(sweep: str) -> Iterator[tuple[tuple[Any, ...], Size, dict[str, float]]]:
    """What was timed: its key, its size, and the seconds of both ways."""
    for record in json.loads((RESULTS / sweep / "bench.json").read_text(encoding="utf-8"))["layers"]:
        size = Size(**{name: record[name] for name in Size.__dataclass_fields__})
        for phase in PHASES:
            yield (size, phase), size, {way: record[phase][way] for way in WAYS}


def said(losses: Iterable[float]) -> str:
    """The share within 5 %, the mean and the worst."""
    every = list(losses)
    share = sum(loss <= 0.05 for loss in every) / len(every)
    return f"{share:.1%} of {len(every)} within 5 %, mean {statistics.fmean(every):.2%}, at worst {max(every):.0%}"


def loss(seconds: dict[str, float], way: str) -> float:
    """How much longer than the better way this one took, as a share."""
    return seconds[way] / min(seconds.values()) - 1


def main() -> None:
    """Prints a line for each sweep, and one for each that was measured twice."""
    better: dict[str, dict[tuple[Any, ...], str]] = {}
    for sweep, machine in SWEEPS.items():
        _cost.MACHINES["cpu"] = machine
        print(f"{sweep}: auto, {said(loss(seconds, taken_by_auto(size)) for _, size, seconds in timings(sweep))}")
        better[sweep] = {key: min(WAYS, key=seconds.__getitem__) for key, _, seconds in timings(sweep)}
    for one, other in (("layers", "layers-again"), ("layers-again", "layers")):
        losses = (loss(seconds, better[one][key]) for key, _, seconds in timings(other))
        print(f"{other}: what {one} found better, {said(losses)}")


if __name__ == "__main__":
    main()
