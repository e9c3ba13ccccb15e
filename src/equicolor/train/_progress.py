"""What a person sees of a run: a bar with loss, error, images/s and the time left, and a table at the end."""

import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from rich import progress as rich
from rich.console import Console

from equicolor._tools.progress import bar_columns
from equicolor._tools.tables import Table, show_table
from equicolor._tools.words import spoken_time

#: So many steps say how long the others take; fewer, where it is said before the last of few.
_TIMED = 5


class Bar:
    """The progress of a run; on a terminal a bar, elsewhere a line for each evaluation.

    Args:
        steps: all of them.
        start: those that were done before.
        shown: or else it is silent.
        timed: the steps whose time is told, once a few are done.
        what: these are.
    """

    def __init__(self, steps: int, start: int, shown: bool, timed: int, what: str = "an epoch") -> None:
        self._timed, self._what, self._done, self._since = timed, what, 0, 0.0
        self._console = Console(stderr=True, quiet=not shown)
        self._bar = rich.Progress(
            *bar_columns(rich, rich.TextColumn("{task.fields[state]}")),
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
        """One more is done. After a few, which are more than the slow first one, says how long they all will take."""
        self._bar.advance(self._task)
        self._done += 1
        if self._done == 1:
            self._since = time.perf_counter()
        elif self._done == (few := max(1, min(_TIMED, self._timed - 2))) + 1:
            seconds = (time.perf_counter() - self._since) / few * self._timed
            self.say(f"{self._what}, {self._timed:,} steps, will take about {spoken_time(seconds)}")

    def doing(self, what: str) -> None:
        self._bar.update(self._task, description=what)

    def show(self, values: Mapping[str, float]) -> None:
        """Loss, error and speed beside the bar."""
        error = f"  error {values['error']:.2%}" if "error" in values else ""  # none is counted around a network
        state = f"loss {values['loss']:.4f}{error}  {values['images_per_second']:,.0f} images/s"
        self._bar.update(self._task, state=state)

    def say(self, text: str) -> None:
        """A line above the bar, as it is: folders have all kinds of names."""
        self._bar.console.print(text, highlight=False, markup=False, soft_wrap=True)


def print_results(summary: Mapping[str, Any], what: str, model: Path) -> None:
    """The final table of a run, ``what`` was trained on what, whose exported network is in ``model``."""
    splits: Mapping[str, Mapping[str, float | None]] = summary["results"]
    names = list(dict.fromkeys(name for values in splits.values() for name in values))
    title = f"{what}, seed {summary['seed']}"
    rows = [(split, *(_shown(name, values.get(name)) for name in names)) for split, values in splits.items()]
    show_table(Table(title, ("split", *names), rows))
    speed = summary["images_per_second"]
    print(
        f"{summary['parameters']:,} parameters, {summary['steps']:,} steps in {summary['seconds']:,.0f} s, "
        f"{f'{speed:,.0f}' if speed >= 10 else f'{speed:.2g}'} images/s. The model is in {model}"
    )


def _shown(name: str, value: float | None) -> str:
    """A result; there may be none, as an AUC of one class."""
    if value is None:
        return "–"
    # Counted in float32: 47 of 160 are 29.38 %, as 'evaluate' says, and not 29.37 %.
    return f"{value:.4f}" if name == "loss" else f"{round(value, 6):.2%}"
