"""What a person sees of a run: a bar with loss, error, images/s and the time left, and a table at the end."""

import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from equicolor._tools.tables import Table, show_table

#: So many steps say how long an epoch takes.
_TIMED = 5


class Bar:
    """The progress of a run; on a terminal a bar, elsewhere a line for each evaluation."""

    def __init__(self, steps: int, start: int, shown: bool, steps_per_epoch: int) -> None:
        self._steps_per_epoch, self._done, self._since = steps_per_epoch, 0, 0.0
        self._console = Console(stderr=True, quiet=not shown)
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[state]}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=self._console,
            disable=not (shown and self._console.is_terminal),
            refresh_per_second=4,
        )
        self._task = self._bar.add_task("training", total=steps, completed=start, state="")

    def __enter__(self) -> "Bar":
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def step(self) -> None:
        """One more is done. After a few, which are more than the slow first one, says how long an epoch will take."""
        self._bar.advance(self._task)
        self._done += 1
        if self._done == 1:
            self._since = time.perf_counter()
        elif self._done == _TIMED + 1:
            seconds = (time.perf_counter() - self._since) / _TIMED * self._steps_per_epoch
            self.say(f"an epoch of {self._steps_per_epoch:,} steps will take about {max(seconds, 1):,.0f} s")

    def doing(self, what: str) -> None:
        self._bar.update(self._task, description=what)

    def show(self, values: Mapping[str, float]) -> None:
        """Loss, error and speed beside the bar."""
        error = f"  error {values['error']:.2%}" if "error" in values else ""  # none is counted around a network
        state = f"loss {values['loss']:.4f}{error}  {values['images_per_second']:,.0f} images/s"
        self._bar.update(self._task, state=state)

    def say(self, text: str) -> None:
        """A line above the bar."""
        self._bar.console.print(text, highlight=False)


def print_results(summary: Mapping[str, Any], model: Path) -> None:
    """The final table of a run, whose exported network is in ``model``."""
    splits: Mapping[str, Mapping[str, float]] = summary["results"]
    names = list(dict.fromkeys(name for values in splits.values() for name in values))
    title = f"{summary['model']} ({summary['group'] or 'no group'}) on {summary['data']}, seed {summary['seed']}"
    rows = [
        (split, *(f"{values[name]:.4f}" if name == "loss" else f"{values[name]:.2%}" for name in names))
        for split, values in splits.items()
    ]
    show_table(Table(title, ("split", *names), rows))
    print(
        f"{summary['parameters']:,} parameters, {summary['steps']:,} steps in {summary['seconds']:,.0f} s, "
        f"{summary['images_per_second']:,.0f} images/s. The model is in {model}"
    )
