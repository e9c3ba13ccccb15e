"""Interleaved medians: the machine's noise falls on everything that is compared alike."""

import statistics
import time
from collections.abc import Callable, Mapping


def medians(candidates: Mapping[str, Callable[[], object]], rounds: int = 15, warm_up: int = 2) -> dict[str, float]:
    """Seconds for one call of each candidate: the median over ``rounds``, in each of which every candidate runs once."""
    for _ in range(warm_up):
        for candidate in candidates.values():
            candidate()
    seconds: dict[str, list[float]] = {name: [] for name in candidates}
    for _ in range(rounds):
        for name, candidate in candidates.items():
            start = time.perf_counter()
            candidate()
            seconds[name].append(time.perf_counter() - start)
    return {name: statistics.median(times) for name, times in seconds.items()}
