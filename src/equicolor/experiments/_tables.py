"""Tables of errors: ours as mean and standard deviation over seeds, the paper's beside them, and the difference."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from equicolor._tools.tables import Table
from equicolor.comparison import Measured, Row
from equicolor.train import Run


@dataclass(frozen=True)
class Published:
    """A row of one of the paper's tables: errors in %, by split, and parameters.

    An error is ``(mean, standard deviation)``; the deviation of a single seed is None.
    """

    errors: Mapping[str, tuple[float, float | None]]
    parameters: str = ""

    def printed(self, split: str) -> str:
        """An error as the paper prints it; empty where it has none."""
        if split not in self.errors:
            return ""
        mean, deviation = self.errors[split]
        return f"{mean:.2f}" if deviation is None else f"{mean:.2f} ({deviation:.2f})"

    def difference(self, split: str, ours: Measured) -> str:
        """By how many points our error is higher than the paper's; empty where it has none."""
        return f"{100 * ours.mean - self.errors[split][0]:+.2f}" if split in self.errors else ""


def error_table(
    title: str,
    rows: Sequence[Row],
    runs: Mapping[str, Sequence[Run]],
    splits: Mapping[str, str],
    published: Mapping[str, Published] | None = None,
    metric: str = "error",
) -> Table:
    """Error in % of every network on every split; below ours, the paper's and by how much they differ.

    Args:
        title: of the table.
        rows: its rows; a reduced protocol shows beside the label.
        runs: of each row, by label.
        splits: which splits, and what the paper calls them: ``{"test_a": "A/A"}``.
        published: the paper's rows, by label, where it has the table.
        metric: of the results, by its name there.
    """
    lines: list[list[str]] = []
    for row in rows:
        those = runs[row.label]
        ours = {split: Measured([run.results[split][metric] for run in those]) for split in splits}
        tail = [str(len(those)), f"{those[0].summary['parameters']:,}"]
        theirs = (published or {}).get(row.label)
        lines += row_lines(row, ours, theirs, tail, ["", theirs.parameters if theirs else ""])
    return Table(title, ["network", *splits.values(), "seeds", "parameters"], lines)


def row_lines(
    row: Row,
    ours: Mapping[str, Measured],
    theirs: Published | None,
    tail: Sequence[str] = (),
    their_tail: Sequence[str] = (),
) -> list[list[str]]:
    """The lines of one network: ours and, where there is one, the paper's, and by how much they differ.

    Args:
        row: the network; a reduced protocol shows beside its label.
        ours: by column, in their order.
        theirs: the paper's row, by the same columns.
        tail: further cells of our line, and ``their_tail`` of the paper's.
    """
    lines = [[row.title, *map(str, ours.values()), *tail]]
    if theirs is not None:
        lines.append(["– the paper's", *map(theirs.printed, ours), *their_tail])
        lines.append(["– difference", *(theirs.difference(*item) for item in ours.items()), *[""] * len(tail)])
    return lines
