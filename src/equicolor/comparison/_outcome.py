"""What a comparison or an experiment finds: numbers, and what a person reads of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from equicolor._tools.pages import Drawing
from equicolor._tools.tables import Table

#: What a number or a word of a report may be.
Value: TypeAlias = str | int | float | bool | None
#: A line of ``metrics.csv``: values by the names of their columns.
Record: TypeAlias = Mapping[str, Value]


@dataclass(frozen=True)
class Outcome:
    """What an experiment or a comparison found.

    Attributes:
        records: every number, one record for each measurement: ``{"network": "Hue-3", "seed": 1999, "error": 0.01}``.
        tables: the numbers as a person reads them, with the paper's beside ours.
        pictures: by name, which is that of their PNG file, each with what there is to see on it, in words.
        notes: what must be known to read the tables; one paragraph each.
        conclusion: what the numbers say, in plain words, before everything else; one paragraph each.
    """

    records: Sequence[Record]
    tables: Sequence[Table] = ()
    pictures: Mapping[str, Drawing] = field(default_factory=dict)
    notes: Sequence[str] = ()
    conclusion: Sequence[str] = ()
