"""Which experiments there are: those whose files are in this package, and those that others register."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from equicolor.comparison import Outcome, Runner
from equicolor.experiments._experiment import Experiment
from equicolor.experiments._setting import Setting

Run: TypeAlias = Callable[[Setting, Runner], Outcome]

_EXPERIMENTS: dict[str, Experiment] = {}


def register_experiment(
    name: str,
    *,
    title: str,
    about: str,
    quick: str,
    paper: str = "",
    place: int = 1000,
    differs: Mapping[str, str] | None = None,
) -> Callable[[Run], Run]:
    """Makes a function an experiment, known to :func:`list_experiments` and to ``equicolor reproduce``.

    A file of this package in which a function is decorated with it is all that a new experiment takes, beside a recipe
    in ``recipes/``; a module of your own does the same, and is found by ``equicolor`` if its package names it as an
    entry point in the group ``equicolor.plugins``.

    Args:
        name: on the command line.
        title: of its report.
        about: one or two sentences on what is asked.
        quick: what the quick version does instead, in a sentence.
        paper: which table or figure of the paper it repeats; empty for another's.
        place: in the list of experiments, which is sorted by it: the paper's are below 100, in the paper's order.
        differs: where it is known to differ from the paper, and why, which its report then says: a paragraph by how the
            label of a row begins, or by "" for all of them.

    Raises:
        ValueError: there is another experiment of this name.

    Example::

        @register_experiment("mine", title="My table", about="Does it help?", quick="One epoch.")
        def mine(setting: Setting, runner: Runner) -> Outcome:
            rows = [new_row(setting, "Hue-3", "my_recipe.yaml", quick={"epochs": 1})]
            runs = runner.train(chosen_rows(setting, rows))
            return Outcome(run_records(runs), [error_table("Error in %", rows, runs, {"test": "test"})])
    """

    def register(run: Run) -> Run:
        if name in _EXPERIMENTS:
            raise ValueError(f"there is an experiment {name!r} already: {_EXPERIMENTS[name].title}")
        _EXPERIMENTS[name] = Experiment(name, title, paper, about, run, quick, place, differs or {})
        return run

    return register


def list_experiments() -> list[str]:
    """The names that :func:`experiment` takes: in the order of the paper, then our own, then those of others."""
    return sorted(_EXPERIMENTS, key=lambda name: (_EXPERIMENTS[name].place, name))


def experiment(name: str) -> Experiment:
    """An experiment by name."""
    names = list_experiments()
    if name not in names:
        raise ValueError(f"unknown experiment {name!r}: there are {', '.join(names)}")
    return _EXPERIMENTS[name]
