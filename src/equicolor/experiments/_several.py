"""A table of networks over several data sets, each trained by the set's own recipe; sets may be missing."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from equicolor._tools.tables import Table
from equicolor.comparison import Column, Measured, Outcome, Record, Runner, run_records
from equicolor.data import DataNotFoundError, load, whereabouts
from equicolor.experiments._conclusions import beside_paper, of_errors
from equicolor.experiments._rows import chosen_rows, rows_of
from equicolor.experiments._setting import Setting
from equicolor.experiments._tables import Published, row_lines
from equicolor.train import Run


def error_over_data(
    setting: Setting,
    runner: Runner,
    data: Mapping[str, str],
    networks: Mapping[str, str],
    published: Mapping[str, Published],
    quick: Mapping[str, Any],
) -> Outcome:
    """The error in % of every network on every data set that is on the machine; notes say what the others need.

    Args:
        setting: what is asked for; its ``only`` may name data sets by their titles, besides networks.
        runner: the means to train it.
        data: recipes, which go by the names of their data sets, and what the paper calls them.
        networks: what the paper calls them, and the variants of the recipes.
        published: the paper's row for each network, by data set.
        quick: what the quick version changes in every recipe, so that nothing can be missing.
    """
    if wanted := {name: title for name, title in data.items() if title in setting.only}:
        setting = replace(setting, only=tuple(asked for asked in setting.only if asked not in wanted.values()))
        data = wanted
    absent = {} if setting.quick else {name: text for name in data if (text := missing(name))}
    kind = " recipe" if setting.quick else ""  # the quick version trains by the recipe, on other images
    there = {name: title + kind for name, title in data.items() if name not in absent}
    if not there:
        raise DataNotFoundError("\n".join(absent.values()))
    records: list[Record] = []
    found: dict[str, dict[str, list[Run]]] = {}
    for name, title in there.items():
        runner.log(f"{title} ({len(found) + 1} of {len(there)} data sets)")
        rows = chosen_rows(setting, rows_of(setting, name, networks, quick=quick))
        found[name] = runner.train(rows)
        records += [{"data": title, **record} for record in run_records(found[name])]
    lines: list[list[str]] = []
    errors: dict[str, dict[str, Measured]] = {}
    for row in rows:
        runs = {name: found[name][row.label] for name in there}
        # The last of the test splits is the one reported, where a validation split comes before it.
        ours = errors[row.label] = {
            name: Measured([run.results[run.recipe.test_splits[-1]]["error"] for run in those])
            for name, those in runs.items()
        }
        theirs = None if setting.quick else published.get(row.label)
        tail = [_parameters(runs)]
        lines += row_lines(row, ours, theirs, tail, [theirs.parameters if theirs else ""])
    table = Table("Classification error in %", ["network", *there.values(), "parameters"], lines)
    notes = [f"{data[name]} is left out. {text}" for name, text in absent.items()]
    sizes = {} if setting.quick else {name: whereabouts(name).sizes.get("test") for name in there}
    columns = [Column(title, name, size=sizes.get(name)) for name, title in there.items()]
    conclusion = of_errors(rows, errors, columns)
    conclusion += [] if setting.quick else beside_paper(rows, errors, there, published)
    return Outcome(records, [table], notes=notes, conclusion=conclusion)


def missing(data: str) -> str:
    """What to put where for a data set that is not on the machine; empty if it is there."""
    if whereabouts(data).state != "absent":
        return ""
    try:
        load(data, where="disk")
    except DataNotFoundError as error:
        return " ".join(error.without_code().split())
    return ""


def _parameters(runs: Mapping[str, list[Run]]) -> str:
    """The number of parameters, or its range: heads differ with the number of classes."""
    counts = [run.summary["parameters"] for those in runs.values() for run in those]
    return f"{min(counts):,}" if min(counts) == max(counts) else f"{min(counts):,} to {max(counts):,}"
