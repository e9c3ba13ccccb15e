"""Ctrl-C and SIGTERM, turned into a question that the training loop asks between two steps."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any


@dataclass
class Stop:
    """Whether the run was asked to stop."""

    asked: bool = False


@contextmanager
def asked_to_stop() -> Iterator[Stop]:
    """Inside, the first signal is noted; a second one acts as it always does, for whoever cannot wait."""
    stop = Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop  # only the main thread can listen
        return
    before: dict[signal.Signals, Any] = {}

    def note(number: int, frame: Any) -> None:
        stop.asked = True
        signal.signal(number, before[signal.Signals(number)])

    try:
        for one in (signal.SIGINT, signal.SIGTERM):
            before[one] = signal.getsignal(one)
            signal.signal(one, note)
        yield stop
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
