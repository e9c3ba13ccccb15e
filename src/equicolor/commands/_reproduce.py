"""``equicolor reproduce``."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from equicolor._tools.lists import seeds_of
from equicolor._tools.tables import Table, show_table
from equicolor.commands._again import command_line
from equicolor.commands._registry import register_command

if TYPE_CHECKING:
    from equicolor.experiments import Setting

#: What is said where data are missing.
_EMBEDDED = "Or try it without them: the same command with --quick takes embedded images."


@register_command(place=60)
def reproduce(
    name: str | None = None,
    *,
    quick: bool = False,
    seeds: Sequence[str] = (),
    rows: Sequence[str] = (),
    reduce: Sequence[str] = (),
    folder: Path = Path("reproduced"),
) -> Any:
    """Repeats a table or a figure of the paper, and ends in one report.html.

    Trains what the experiment needs, with the time that is left. It can be stopped at any time: the same command goes
    on where it stopped and repeats nothing that is finished; experiments share their runs. Without a name, lists them.

    Args:
        name: the experiment, see 'equicolor reproduce'.
        quick: a version of minutes on two cores, on embedded or reduced data; its numbers are no results.
        seeds: instead of the paper's, --seeds 1999 2000
        rows: train only these networks, --rows Z2CNN Hue-4; natural and imagenet take data sets, too, --rows STL-10
        reduce: changes the training of single rows, which then say so, --reduce CEConv-3:train_size=20000; of all rows
            by a star, --reduce '*:epochs=1'
        folder: where reports and runs go.

    Example:
        equicolor reproduce shapes3d --quick
    """
    from equicolor.comparison import write_report
    from equicolor.data import DataNotFoundError
    from equicolor.experiments import Runner, Setting, experiment, list_experiments

    if name is None:
        found = [experiment(each) for each in list_experiments()]
        columns = ("name", "what", "in the paper")
        show_table(Table("Experiments", columns, [(e.name, e.title, e.paper) for e in found], left=columns))
        return found
    chosen = experiment(name)
    setting = Setting(quick, tuple(seeds_of(seeds)), _changes(reduce), tuple(rows))
    try:
        outcome = chosen.run(setting, Runner(folder))
    except DataNotFoundError as error:
        hint = "" if quick else f" {_EMBEDDED}"
        raise DataNotFoundError(error.without_code() + hint) from error
    command = _command(chosen.name, setting, folder)
    networks = {str(record["network"]) for record in outcome.records if "network" in record}
    heading = chosen.heading(quick, networks)
    report = write_report(heading, outcome, _place(folder / chosen.name, quick), command)
    for sentence in outcome.conclusion:
        print(sentence)
    for table in outcome.tables:
        show_table(table)
    for text in outcome.notes:
        print(text)
    for text in heading.differs:
        print(text)
    if quick:
        print(f"This was the quick version: {chosen.quick}")
    print(f"Report: {report}")
    return outcome


def _place(folder: Path, quick: bool) -> Path:
    """Where the report goes: a quick version does not take the place of results."""
    made = folder / "metrics.json"
    if quick and made.is_file() and not json.loads(made.read_text())["quick"]:
        return folder.with_name(f"{folder.name}-quick")
    return folder


def _changes(pairs: Sequence[str]) -> dict[str, dict[str, Any]]:
    """``["CEConv-3:train_size=20000"]`` as ``{"CEConv-3": {"train_size": "20000"}}``; a comma separates seeds."""
    result: dict[str, dict[str, Any]] = {}
    for pair in pairs:
        label, colon, change = pair.partition(":")
        key, equals, value = change.partition("=")
        if not (colon and equals):
            raise ValueError(f"--reduce takes ROW:FIELD=VALUE, such as CEConv-3:train_size=20000, got {pair!r}")
        result.setdefault(label, {})[key] = seeds_of([value]) if key == "seeds" else value
    return result


def _command(name: str, setting: "Setting", folder: Path) -> str:
    """The command that does it again."""
    reduce = [
        f"{label}:{key}={','.join(map(str, value)) if isinstance(value, list) else value}"
        for label, changes in setting.reduce.items()
        for key, value in changes.items()
    ]
    root, here = folder.resolve(), Path.cwd()
    place = root.relative_to(here) if root.is_relative_to(here) else folder
    options = {"quick": setting.quick, "seeds": setting.seeds, "rows": setting.only, "reduce": reduce}
    return command_line("reproduce", name, **options, folder=None if folder == Path("reproduced") else place)
