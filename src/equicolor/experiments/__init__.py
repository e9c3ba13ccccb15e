"""The paper's tables and figures, and a few of our own, each as a measurement that anyone can repeat.

``equicolor reproduce NAME`` runs one: it trains what is needed, or finds it trained, and ends in a report.
"""

from importlib import import_module

from equicolor.experiments._experiment import Experiment, Outcome, Row, Setting, Table

#: In the order of the paper, then our own. Each is a file of its own, read when it is wanted.
_NAMES = (
    "invertibility",
    "equivariance",
    "mnist",
    "sample-efficiency",
    "trajectories",
    "shapes3d",
    "camelyon17",
    "natural",
    "small-norb",
    "imagenet",
    "segmentation",
    "sorting",
    "feature-maps",
    "coverage",
    "saturation",
    "luminance",
)


def list_experiments() -> list[str]:
    """The names that :func:`experiment` takes."""
    return list(_NAMES)


def experiment(name: str) -> Experiment:
    """An experiment by name."""
    if name not in _NAMES:
        raise ValueError(f"unknown experiment {name!r}: there are {', '.join(_NAMES)}")
    module = import_module(f"equicolor.experiments.{name.replace('-', '_')}")
    found: Experiment = module.EXPERIMENT
    return found


__all__ = ["Experiment", "Outcome", "Row", "Setting", "Table", "experiment", "list_experiments"]
