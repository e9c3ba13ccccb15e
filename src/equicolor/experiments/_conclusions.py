"""What the numbers of an experiment say: sentences that are computed from them and could come out otherwise."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from equicolor._tools.words import named
from equicolor.comparison import Column, Grid, Measured, Row, conclude
from equicolor.data import list_datasets, whereabouts
from equicolor.experiments._tables import Published
from equicolor.train import Run

#: The paper prints two digits: so much is rounding.
_ROUNDING = 0.005


def of_rows(
    rows: Sequence[Row],
    runs: Mapping[str, Sequence[Run]],
    splits: Mapping[str, str],
    metric: str = "error",
    published: Mapping[str, Published] | None = None,
) -> list[str]:
    """Who errs least on which split, held against the first row, and how far that is from the paper.

    Args:
        rows: of the table. Those that were trained otherwise than the first, reduced or better, are not held against
            it, and said.
        runs: of each row, by label.
        splits: which splits, and what they are called.
        metric: of the results: an error.
        published: the paper's rows, by label, where it has the table.
    """
    errors = {
        row.label: {split: Measured([run.results[split][metric] for run in runs[row.label]]) for split in splits}
        for row in rows
    }
    columns = [Column(name, split, size=_size(rows[0], split)) for split, name in splits.items()]
    return [*of_errors(rows, errors, columns), *beside_paper(rows, errors, splits, published or {})]


def of_part(
    name: str,
    prefix: str,
    rows: Sequence[Row],
    runs: Mapping[str, Sequence[Run]],
    splits: Mapping[str, str],
    metric: str = "error",
) -> str:
    """One paragraph on a part of an experiment, whose rows all begin with ``prefix``."""
    short = [replace(row, label=row.label.removeprefix(prefix)) for row in rows]
    own = {new.label: runs[row.label] for row, new in zip(rows, short, strict=True)}
    return f"{name}: {' '.join(of_rows(short, own, splits, metric))}"


def of_errors(
    rows: Sequence[Row], errors: Mapping[str, Mapping[str, Measured]], columns: Sequence[Column]
) -> list[str]:
    """The same of errors that were measured in any way: label → split of a column → error."""
    alike = [row for row in rows if _protocol(row) == _protocol(rows[0])]
    if len(alike) < 2:
        said = [
            f"{row.label} errs on " + named([f"{errors[row.label][c.split].written()} % of {c.name}" for c in columns])
            for row in rows[:1]
        ]
        found = [f"{each}." for each in said]
    else:
        values = {
            (quoted(row.label), column.name): errors[row.label][column.split]
            for row in alike
            for column in columns
            if column.split in errors[row.label]
        }
        labels = [quoted(row.label) for row in alike]
        found = conclude(Grid("error", labels, columns, values, labels[0]), blind={})
    if others := [quoted(row.label) for row in rows if row not in alike]:
        first = quoted(rows[0].label)
        found.append(f"Trained otherwise, or over fewer seeds, and so not held against {first} here: {named(others)}.")
    return found


def beside_paper(
    rows: Sequence[Row],
    errors: Mapping[str, Mapping[str, Measured]],
    columns: Mapping[str, str],
    published: Mapping[str, Published],
) -> list[str]:
    """How many of our errors are the paper's, within the deviations of both, and which is the farthest from it."""
    apart = []
    for row in rows:
        theirs = published.get(row.label)
        if theirs is None or row.reduced:
            continue
        for column, name in columns.items():
            if column not in theirs.errors or column not in errors[row.label]:
                continue
            ours, (mean, deviation) = errors[row.label][column], theirs.errors[column]
            away = abs(100 * ours.mean - mean)
            agrees = away <= 100 * ours.deviation + (deviation or 0.0) + _ROUNDING
            apart.append((agrees, away, f"{row.label} on {name}, {100 * ours.mean:.2f} % here and {mean:.2f} % there"))
    if not apart:
        return []
    agree = sum(agrees for agrees, _, _ in apart)
    counted = f"Of {len(apart)} errors beside which the paper has its own, {agree}"
    text = f"{counted} {'is' if agree == 1 else 'are'} the paper's within one standard deviation of each."
    if agree < len(apart):
        text += f" Farthest apart: {max(each for each in apart if not each[0])[2]}."
    return [text]


def quoted(label: str) -> str:
    """A label in a sentence, where a comma of its own would be taken for one between two labels."""
    return f"“{label}”" if "," in label else label


def _protocol(row: Row) -> tuple[str, bool]:
    """Rows of one protocol can be held against each other."""
    return row.reduced, row.label.endswith(", tuned")


def _size(row: Row, split: str) -> float | None:
    """How many images an error is measured on, where that is known."""
    known = whereabouts(row.recipe.data).sizes.get(split) if row.recipe.data in list_datasets() else None
    sizes = [size for size in (row.recipe.test_size, known) if size]
    return min(sizes) if sizes else None
