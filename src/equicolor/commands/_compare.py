"""``equicolor compare``."""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from equicolor._tools.lists import seeds_of
from equicolor._tools.tables import show_table
from equicolor.commands import _console as console
from equicolor.commands._again import command_line
from equicolor.commands._registry import register_command
from equicolor.commands._settings import settings

if TYPE_CHECKING:
    from equicolor.comparison import Record
    from equicolor.train import Recipe

#: What is compared, where nobody says otherwise.
_DEFAULTS: Mapping[str, Any] = {"model": "z2cnn", "seeds": [1, 2, 3]}
#: Of every run here: results at the end are enough.
_QUIET: Mapping[str, Any] = {"evaluate_every": 0, "loggers": ["csv"], "checkpoint_every": 200}
_FOLDER = Path("comparison")


@register_command(place=15)
def compare(
    *,
    data: str | None = None,
    root: Path | None = None,
    recipe: str | None = None,
    model: str | None = None,
    rows: Sequence[str] = (),
    groups: Sequence[str] = (),
    test: Sequence[str] = (),
    seeds: Sequence[str] = (),
    epochs: int | None = None,
    image_size: int | None = None,
    set_: Sequence[str] = (),
    dry_run: bool = False,
    folder: Path = _FOLDER,
) -> Any:
    """Compares networks that deal with colour differently, on your own images, and says which of them helps.

    Trains each row of the table with each seed: the plain network, without colour, with colours jittered, CEConv, group
    networks, canonicalised ones. Says first how long that will take. It can be stopped at any time: the same command
    goes on where it stopped, and one with more rows or seeds uses what is there. Ends in a conclusion, a table, a
    picture and report.html.

    Args:
        data: the data set, see 'equicolor data'; or your own images, a folder or a table: --data cells/
        root: where a data set is that has a name.
        recipe: instead of --data, one of the paper's recipes or a YAML file: how all rows are trained.
        model: the network, see 'equicolor models'; by default z2cnn, which is small.
        rows: what to compare: plain, gray, hue-jitter (or another jitter), hue4 (or another group), ceconv3,
            canonical:temp-tint, gains:temp-tint, and several joined by +, canonical:temp-tint+light-jitter. By default
            each remedy once.
        groups: these groups instead of hue4, sat3 and temp3-tint3 among the rows.
        test: what to test on, a column for each, --test pink blue
        seeds: how often each row is trained, by default --seeds 1 2 3
        epochs: how long; by default ten, and with few images as many as make 600 steps.
        image_size: height and width; by default those of the set.
        set_: any other field of the recipe: --set lr=0.003 --set train_split=blue_train --set augment=flip
        dry_run: only says what would be trained, and how long it would take.
        folder: where runs and the report go.

    Example:
        equicolor compare --data hue_shift_digits --rows plain hue4 --seeds 1 2 --set train_size=200 --epochs 2
    """
    from equicolor.comparison import Log, carry_out, heading, plan, write_report
    from equicolor.train import StoppedError

    options: dict[str, Any] = {"data": data, "root": root, "recipe": recipe, "model": model, "test": test}
    options |= {"seeds": seeds, "epochs": epochs, "image_size": image_size, "set_": set_}
    chosen = _recipe(**options)
    planned = plan(chosen, _rows(rows, groups), folder, Log())
    for line in planned.about:
        print(line)
    show_table(planned.table)
    print(planned.summary)
    if dry_run:
        return planned
    place = None if folder == _FOLDER else folder
    command = command_line("compare", **options, rows=rows, groups=groups, folder=place)
    try:
        outcome = carry_out(planned, Log())
    except StoppedError as error:
        raise StoppedError(f"{str(error).partition('. ')[0]}. The same command goes on from there: {command}") from None
    report = write_report(heading(planned), outcome, folder, command)
    print()
    for sentence in outcome.conclusion:
        print(sentence)
    print()
    for table in outcome.tables:
        show_table(table)
    for text in outcome.notes:
        console.note(text)
    print(f"Report: {report}")
    print(_to_go_on(outcome.records, folder / "runs", planned.chance))
    return outcome


def _to_go_on(records: "Sequence[Record]", runs: Path, chance: float | None) -> str:
    """Where the networks are, and the one that errs least, if that is less than by guessing."""
    from equicolor.comparison import has_learnt

    metric = "balanced_error" if "balanced_error" in records[0] else "error"
    errors: dict[str, list[float]] = {}
    for record in records:
        errors.setdefault(str(record["network"]), []).append(float(record[metric] or 0))
    best = min(errors, key=lambda label: fmean(errors[label]))
    where = f"Networks: {runs}, by name in metrics.csv."
    if not has_learnt(fmean(errors[best]), chance):
        return where
    run = next(str(record["run"]) for record in records if record["network"] == best)
    return (
        f"{where} {best} errs least in the mean of all sets; to use it: "
        f"{shlex.join(['equicolor', 'predict', str(runs / run), 'IMAGES'])}"
    )


def _rows(rows: Sequence[str], groups: Sequence[str]) -> list[str]:
    from equicolor.comparison import GROUPS, ROWS

    if rows:
        return [*rows, *(group for group in groups if group not in rows)]
    if not groups:
        return list(ROWS)
    place = ROWS.index(GROUPS[0])
    return [*ROWS[:place], *groups, *ROWS[place + len(GROUPS) :]]


def _recipe(
    data: str | None,
    root: Path | None,
    recipe: str | None,
    model: str | None,
    test: Sequence[str],
    seeds: Sequence[str],
    epochs: int | None,
    image_size: int | None,
    set_: Sequence[str],
) -> "Recipe":
    from equicolor.train import Recipe, recipe_for

    if (data is None) == (recipe is None):
        raise ValueError(
            "say what to compare on: --data cells/, your own images, or --data NAME, see 'equicolor data'; or "
            "--recipe NAME; one of the two"
        )
    given: dict[str, Any] = {
        "data": data,
        "model": model,
        "data_options.root": None if root is None else str(root),
        "data_options.image_size": image_size,
        "test_splits": list(test) or None,
        "seeds": seeds_of(seeds) or None,
        "epochs": epochs,
    }
    changes = {name: value for name, value in given.items() if value is not None} | _settings(set_)
    if recipe is not None:
        return _placed(Recipe.load(recipe, {**_QUIET, **changes}))
    return _placed(recipe_for({**_DEFAULTS, **_QUIET, **changes}))


def _placed(recipe: "Recipe") -> "Recipe":
    """Files of the user's own by one name for their place, whichever was typed: runs are found by it."""
    from equicolor.data import is_own

    places = {"data_options.root": recipe.data_options["root"]} if is_own(recipe.data) else {}
    if recipe.weights is not None:
        places["weights"] = recipe.weights
    return recipe.replace(**{field: str(Path(place).expanduser().resolve()) for field, place in places.items()})


def _settings(pairs: Sequence[str]) -> dict[str, str]:
    found = settings(pairs)
    for key in ("group", "canonicalize", "around"):
        if key in found:
            raise ValueError(f"what {key} is, is said by the rows: --rows plain hue4 canonical:temp-tint, not by --set")
    return found
