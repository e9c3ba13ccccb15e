"""Networks compared: rows are trained over seeds, nothing twice, and end in one table, one picture, one report.

:func:`compare` does all of it for a user's own images, by rows that go by name, and says in words what came out. Of
it, :func:`plan` says what will be trained and :func:`carry_out` trains it. A :class:`Row` is a network with its
recipe, a :class:`Runner` trains rows in a folder, where a finished run is kept by what it computes, a :class:`Grid`
knows which differences count, and :func:`write_report` makes a report of an :class:`Outcome`. The paper's tables are
comparisons too: their rows are in ``experiments``. How a network is trained is decided by recipes, in ``train``.
"""

from equicolor.comparison._columns import Column
from equicolor.comparison._compare import carry_out, compare, heading
from equicolor.comparison._conclusion import conclude, has_learnt
from equicolor.comparison._cost import multiplications
from equicolor.comparison._grid import Grid
from equicolor.comparison._ledger import Entry
from equicolor.comparison._log import Log
from equicolor.comparison._measured import Measured, measured, run_records, seeds_of, spoken_seeds
from equicolor.comparison._named import GROUPS, ROWS, named_rows
from equicolor.comparison._outcome import Outcome, Record, Value
from equicolor.comparison._pictures import bars, drawn_bars
from equicolor.comparison._plan import Plan, plan
from equicolor.comparison._report import Heading, write_report
from equicolor.comparison._row import Row
from equicolor.comparison._runner import Runner

__all__ = [
    "GROUPS",
    "ROWS",
    "Column",
    "Entry",
    "Grid",
    "Heading",
    "Log",
    "Measured",
    "Outcome",
    "Plan",
    "Record",
    "Row",
    "Runner",
    "Value",
    "bars",
    "carry_out",
    "compare",
    "conclude",
    "drawn_bars",
    "has_learnt",
    "heading",
    "measured",
    "multiplications",
    "named_rows",
    "plan",
    "run_records",
    "seeds_of",
    "spoken_seeds",
    "write_report",
]
