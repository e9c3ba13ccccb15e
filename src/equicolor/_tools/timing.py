"""Interleaved medians: the machine's noise falls on everything that is compared alike."""

import statistics
import time
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

import torch

from equicolor._tools.progress import Watch, unwatched

Call = Callable[[], object]
Name = TypeVar("Name", bound=Hashable)


@dataclass(frozen=True)
class Timings(Generic[Name]):
    """Seconds of each candidate in each round.

    >>> timings = Timings({"plain": [1.0, 4.0, 1.0], "group": [2.0, 8.0, 3.0]})
    >>> timings.median("group"), timings.ratio("group", "plain")
    (3.0, 2.0)
    """

    seconds: dict[Name, list[float]]

    def median(self, name: Name) -> float:
        """Of the seconds of one call."""
        return statistics.median(self.seconds[name])

    def ratio(self, name: Name, to: Name) -> float:
        """The median over the rounds of the ratio within each: a machine that slows down slows both."""
        pairs = zip(self.seconds[name], self.seconds[to], strict=True)
        return statistics.median(seconds / other for seconds, other in pairs)


def interleaved(
    candidates: Mapping[Name, Call],
    rounds: int = 15,
    warm_up: int = 2,
    *,
    clock: Callable[[], float] = time.perf_counter,
    watch: Watch = unwatched,
    title: str = "timing",
) -> Timings[Name]:
    """Times every candidate once in each round. Every other round runs backwards: nobody always has the same neighbour.

    Args:
        candidates: what to call, by name.
        rounds: how many.
        warm_up: calls of each that are not counted.
        clock: what tells the time.
        watch: is told of every call, between the times that are taken.
        title: what it is told to call them.
    """
    if rounds < 1:
        raise ValueError(f"it takes at least one round to measure anything, got {rounds}")
    seconds: dict[Name, list[float]] = {name: [] for name in candidates}
    names = list(candidates)
    with watch(title, (warm_up + rounds) * len(candidates)) as advance:
        for _ in range(warm_up):
            for candidate in candidates.values():
                candidate()
                advance(1)
        _wait_for_accelerator()
        for index in range(rounds):
            for name in names if index % 2 == 0 else reversed(names):
                start = clock()
                candidates[name]()
                _wait_for_accelerator()
                seconds[name].append(clock() - start)
                advance(1)
    return Timings(seconds)


def _wait_for_accelerator() -> None:
    """Its work is queued: a call has returned long before it is done."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()
