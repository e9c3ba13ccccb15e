"""How well ``algorithm="auto"`` chooses, on every recorded sweep over layers; and how well a sweep itself would.

Two sweeps of one machine differ by its noise. What the one measured as the better way is the best that any rule could
have known of it; how often that is right on the other is what can be asked of a rule.

    python benchmarks/auto.py
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from equicolor.bench import layers
from equicolor.nn import _cost

RESULTS = Path(__file__).parent / "results"
#: Circles were measured before windows of three took four products, and windows since.
SWEEPS = {
    "AVX-512": (_cost.AVX512, ("layers", "layers-windows")),
    "AVX-512 again": (_cost.AVX512, ("layers-again", "layers-windows-again")),
    "AVX2": (_cost.AVX2, ("layers-avx2", "layers-avx2-windows")),
}


def records(sweep: str) -> Iterator[tuple[layers.Size, dict[str, Any]]]:
    """What was measured of each size, by the algorithms that are used today."""
    for folder in SWEEPS[sweep][1]:
        yield from layers.recorded(json.loads((RESULTS / folder / "bench.json").read_text(encoding="utf-8"))["layers"])


def said(sweep: str, chosen: Callable[[layers.Size, str], layers.Way]) -> str:
    """The share within 5 %, the mean loss and the worst, where the way is chosen for each size and phase."""
    losses = []
    for size, record in records(sweep):
        losses.append(
            {phase: {"loss": layers.loss(_seconds(record[phase]), chosen(size, phase))} for phase in layers.PHASES}
        )
    found = layers.summary(losses)
    return (
        f"{found['share_within_5_percent']:.1%} of {found['timings']} within 5 %, mean {found['mean_loss']:.2%}, "
        f"at worst {found['worst_loss']:.0%}"
    )


def _seconds(timed: dict[str, Any]) -> dict[layers.Way, float]:
    return {way: timed[way] for way in layers.WAYS}


def main() -> None:
    """Prints a line for each sweep, and one for each that was measured twice."""
    better: dict[str, dict[tuple[layers.Size, str], layers.Way]] = {}
    for sweep, (machine, _) in SWEEPS.items():
        _cost.MACHINES["cpu"] = machine
        print(f"{sweep}: auto, {said(sweep, lambda size, _: layers.taken_by_auto(size))}")
        better[sweep] = {
            (size, phase): min(layers.WAYS, key=_seconds(record[phase]).__getitem__)
            for size, record in records(sweep)
            for phase in layers.PHASES
        }
    for one, other in (("AVX-512", "AVX-512 again"), ("AVX-512 again", "AVX-512")):
        print(f"{other}: what {one} found better, {said(other, lambda *timed, known=better[one]: known[timed])}")


if __name__ == "__main__":
    main()
