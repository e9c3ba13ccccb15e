"""The paper's tables and figures, and a few of our own, each as a measurement that anyone can repeat.

``equicolor reproduce NAME`` runs one: it trains what is needed, or finds it trained, and ends in a report. Each file
without an underscore is one experiment and is found by being there. What a user asks for is a :class:`Setting`; rows,
what trains them and what becomes of them are those of ``comparison``. Files with an underscore serve several
experiments. How a network is trained is decided by recipes, not here; what is printed on a terminal is decided in
``commands``.
"""

import importlib
import pkgutil

from equicolor._tools.pages import Drawing
from equicolor._tools.tables import Table
from equicolor.comparison import Log, Measured, Outcome, Record, Row, Runner, Value, run_records
from equicolor.experiments._experiment import Experiment
from equicolor.experiments._registry import experiment, list_experiments, register_experiment
from equicolor.experiments._rows import chosen_rows, new_row, rows_of
from equicolor.experiments._setting import Setting
from equicolor.experiments._tables import Published, error_table

__all__ = [
    "Drawing",
    "Experiment",
    "Log",
    "Measured",
    "Outcome",
    "Published",
    "Record",
    "Row",
    "Runner",
    "Setting",
    "Table",
    "Value",
    "chosen_rows",
    "error_table",
    "experiment",
    "list_experiments",
    "new_row",
    "register_experiment",
    "rows_of",
    "run_records",
]

for _file in pkgutil.iter_modules(__path__, f"{__name__}."):
    importlib.import_module(_file.name)
