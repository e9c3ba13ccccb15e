"""What a person sees while an experiment runs: lines of progress, and the time that is left."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from equicolor._tools.words import spoken_time


@dataclass(frozen=True)
class Log:
    """Lines of progress on stderr.

    Args:
        quiet: whether to say nothing.
    """

    quiet: bool = False

    def __call__(self, text: str) -> None:
        if not self.quiet:
            print(text, file=sys.stderr, flush=True)


class Clock:
    """The time left, from the runs already timed: those of the same kind, or else what was expected, or else all.

    Args:
        kinds: of the runs, in their order.
        finished: which of them take no more time.
        expected: the seconds of a run of a kind, where that is known before.
    """

    def __init__(
        self, kinds: Sequence[str], finished: Sequence[bool] = (), expected: Mapping[str, float] | None = None
    ) -> None:
        self.kinds = kinds
        self.finished = finished or [False] * len(kinds)
        self.expected = expected or {}
        self.seconds: dict[str, list[float]] = {}

    def took(self, number: int, seconds: float) -> None:
        """Notes how long a run took."""
        self.seconds.setdefault(self.kinds[number], []).append(seconds)

    def left(self, number: int) -> str:
        """The time from this run to the last, in words; empty where nothing was timed yet."""
        every = [value for values in self.seconds.values() for value in values]
        if not every:
            return ""
        total = 0.0
        for kind, finished in zip(self.kinds[number:], self.finished[number:], strict=True):
            if finished:
                continue
            known = self.seconds.get(kind) or ([self.expected[kind]] if kind in self.expected else every)
            total += sum(known) / len(known)
        return f" (about {spoken_time(total)} left)"
