"""Numbers of runs: a mean and a standard deviation over seeds, and records of all of them."""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from equicolor.comparison._outcome import Record
from equicolor.train import Run


@dataclass(frozen=True)
class Measured:
    """The errors of one network on one set over seeds, as fractions.

    Args:
        values: one for each seed.
    """

    values: Sequence[float] = field(default_factory=list)

    @property
    def mean(self) -> float:
        """The mean over seeds."""
        return statistics.fmean(self.values)

    @property
    def deviation(self) -> float:
        """The standard deviation over seeds; 0 for a single one."""
        return statistics.stdev(self.values) if len(self.values) > 1 else 0.0

    def written(self, scale: float = 100, digits: int = 1) -> str:
        """Writes the mean, with the deviation where there are several seeds.

        Args:
            scale: what values are multiplied by; by default they are written in %.
            digits: digits after the point.

        Returns:
            The text.

        Example:
            >>> Measured([0.01, 0.03]).written()
            '2.0 ± 1.4'
        """
        spread = f" ± {scale * self.deviation:.{digits}f}" if len(self.values) > 1 else ""
        return f"{scale * self.mean:.{digits}f}{spread}"

    def __str__(self) -> str:
        return format(self)

    def __format__(self, sign: str) -> str:
        """In %, with the deviation where there are several seeds; ``+`` gives the mean a sign."""
        spread = f" ({100 * self.deviation:.2f})" if len(self.values) > 1 else ""
        return f"{100 * self.mean:{sign}.2f}{spread}"


def measured(records: Sequence[Record], metric: str = "error", **wanted: object) -> Measured:
    """Collects a metric of those records that have certain values.

    Args:
        records: the records.
        metric: the name of the metric.
        **wanted: the values.

    Returns:
        The measurement over seeds.

    Example:
        >>> records: list[Record] = [{"network": "Hue-3", "error": 0.25}, {"network": "Hue-4", "error": 0.5}]
        >>> measured(records, network="Hue-4").values
        [0.5]
    """
    found = [record for record in records if all(record.get(key) == value for key, value in wanted.items())]
    return Measured([float(record[metric] or 0) for record in found])


def run_records(runs: Mapping[str, Sequence[Run]], *metrics: str) -> list[Record]:
    """Makes a record for each network, seed and split.

    Args:
        runs: the runs of each network, by label.
        *metrics: what to record; by default the error.

    Returns:
        The records.
    """
    return [
        {
            "network": label,
            "seed": run.recipe.seed,
            "split": split,
            **{metric: values.get(metric) for metric in metrics or ("error",)},
            "parameters": run.summary["parameters"],
            "steps": run.summary["steps"],
            "seconds": run.summary["seconds"],
            "run": run.folder.name,
        }
        for label, those in runs.items()
        for run in those
        for split, values in run.results.items()
    ]


def seeds_of(records: Sequence[Record]) -> str:
    """Says in words how many seeds there are.

    Args:
        records: the records.

    Returns:
        A few words.

    Example:
        >>> seeds_of([{"seed": 1999, "error": 0.1}, {"seed": 2000, "error": 0.2}])
        '2 seeds'
    """
    return spoken_seeds(len({record["seed"] for record in records}))


def spoken_seeds(count: int) -> str:
    """Says a number of seeds in words.

    Args:
        count: the number.

    Returns:
        A few words.

    Example:
        >>> spoken_seeds(1), spoken_seeds(3)
        ('1 seed', '3 seeds')
    """
    return "1 seed" if count == 1 else f"{count} seeds"
