"""The numbers of a comparison: one measurement for each network and column, and which differences count."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from equicolor.comparison._columns import Column
from equicolor.comparison._measured import Measured

#: So many seeds each, and all of the one better than all of the other: by chance that is one of ten cases.
_APART = 3


@dataclass(frozen=True)
class Grid:
    """One metric of several networks on several sets, over seeds.

    A difference *counts* where it is larger than what two trainings with other seeds, tested on as many other images,
    would differ by: √(s₁² + s₂² + 2·e·(1-e)/N), with the deviations over seeds and the mean e of both. Or, since some
    networks fail with one seed and not with another, where every seed of the one is better than every seed of the
    other, of three or more each, and N images would not explain it alone. It is no test of significance; it is what
    keeps chance from being taken for a result.

    Attributes:
        metric: as results name it.
        labels: the labels of the networks.
        columns: the sets.
        values: by label and column's name; what could not be measured is not there.
        reference: the network that others are held against.
        ascending: whether more is better.
    """

    metric: str
    labels: Sequence[str]
    columns: Sequence[Column]
    values: Mapping[tuple[str, str], Measured]
    reference: str
    ascending: bool = False

    def at(self, label: str, column: Column) -> Measured | None:
        """The measurement of a network on a column.

        Args:
            label: the network.
            column: the column.

        Returns:
            The measurement; None where there is none.
        """
        return self.values.get((label, column.name))

    def there(self, column: Column) -> list[str]:
        """The networks that were measured on a column.

        Args:
            column: the column.

        Returns:
            Their labels.
        """
        return [label for label in self.labels if self.at(label, column) is not None]

    def mean(self, label: str, column: Column) -> float:
        """The mean of a network on a column, over seeds.

        Args:
            label: the network.
            column: the column.

        Returns:
            The mean.
        """
        return self.values[label, column.name].mean

    def best(self, column: Column) -> str:
        """The network with the best mean; of equals the first.

        Args:
            column: the column.

        Returns:
            Its label.
        """
        order = -1 if self.ascending else 1
        return min(self.there(column), key=lambda label: order * self.mean(label, column))

    def gain(self, label: str, column: Column) -> float:
        """By how much a network is better than the reference.

        Args:
            label: the network.
            column: the column.

        Returns:
            The difference of their means.
        """
        difference = self.mean(self.reference, column) - self.mean(label, column)
        return -difference if self.ascending else difference

    def counts(self, one: str, other: str, column: Column) -> bool:
        """Whether two networks differ by more than chance.

        Args:
            one: a network.
            other: another.
            column: the column.

        Returns:
            True where they do.
        """
        a, b = self.values[one, column.name], self.values[other, column.name]
        between, difference = (a.mean + b.mean) / 2, abs(a.mean - b.mean)
        sampling = max(2 * between * (1 - between) / column.size, 0.0) if column.size else 0.0
        if difference > math.sqrt(a.deviation**2 + b.deviation**2 + sampling):
            return True
        apart = max(a.values) < min(b.values) or max(b.values) < min(a.values)
        return apart and min(len(a.values), len(b.values)) >= _APART and difference > math.sqrt(sampling)

    def better(self, label: str, column: Column) -> bool:
        """Whether a network is better than the reference by more than chance.

        Args:
            label: the network.
            column: the column.

        Returns:
            True where it is.
        """
        return self.gain(label, column) > 0 and self.counts(label, self.reference, column)

    def worse(self, label: str, column: Column) -> bool:
        """Whether a network is worse than the reference by more than chance.

        Args:
            label: the network.
            column: the column.

        Returns:
            True where it is.
        """
        return self.gain(label, column) < 0 and self.counts(label, self.reference, column)

    def level(self, column: Column) -> list[str]:
        """The networks that the best does not beat by more than chance, the best itself left out.

        Args:
            column: the column.

        Returns:
            Their labels.
        """
        best = self.best(column)
        return [label for label in self.there(column) if label != best and not self.counts(best, label, column)]
