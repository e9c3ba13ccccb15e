"""What an experiment is, and what it finds: an :class:`Experiment` is run and ends in an :class:`Outcome`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from equicolor._tools.tables import Table
from equicolor.experiments._runner import Runner
from equicolor.experiments._setting import Setting

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from PIL.Image import Image

Value: TypeAlias = str | int | float | bool | None
Record: TypeAlias = Mapping[str, Value]


@dataclass(frozen=True)
class Outcome:
    """What an experiment found.

    Attributes:
        records: every number, one record for each measurement: ``{"network": "Hue-3", "seed": 1999, "error": 0.01}``.
        tables: the numbers as a person reads them, with the paper's beside ours.
        pictures: by name, which is that of their PNG file.
        notes: what must be known to read the tables; one paragraph each.
    """

    records: Sequence[Record]
    tables: Sequence[Table] = ()
    pictures: "Mapping[str, Figure | Image]" = field(default_factory=dict)
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Experiment:
    """One table or figure of the paper, or one of our own.

    Attributes:
        name: on the command line.
        title: of its report.
        paper: which table or figure of the paper it repeats; empty for our own.
        about: one or two sentences on what is asked.
        run: the experiment itself: from what is asked for, and the means to train it, to what was found.
        quick: what the quick version does instead, in a sentence.
        place: in the list of experiments, which is sorted by it.
    """

    name: str
    title: str
    paper: str
    about: str
    run: Callable[[Setting, Runner], Outcome]
    quick: str
    place: int
