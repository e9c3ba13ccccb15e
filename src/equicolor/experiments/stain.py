"""Stain: blood cells from slides of one stain, tested on slides of another, by everything that is meant to help."""

from collections.abc import Mapping
from dataclasses import dataclass

from equicolor.experiments import Outcome, Record, Row, Runner, Setting, Table, error_table, register_experiment
from equicolor.experiments._pictures import bars
from equicolor.experiments._rows import chosen_rows, rows_of
from equicolor.experiments._stand_in import shift_columns, stand_in
from equicolor.experiments._tables import run_records

_RECIPE = "malaria"


@dataclass(frozen=True)
class _Direction:
    """Which slides are trained on: their stain, the rows and their variants of the recipe, the test splits."""

    stain: str
    networks: Mapping[str, str]
    columns: Mapping[str, str]


_FROM_BLUE = _Direction(
    "blue",
    {
        "plain": "z2cnn",
        "plain, wider": "z2cnn-wider",
        "plain, grey": "z2cnn-gray",
        "plain, jitter of hue": "z2cnn-hue-jitter",
        "plain, jitter of colour": "z2cnn-color-jitter",
        "plain, jitter of stain": "z2cnn-hed-jitter",
        "plain, jitter of light": "z2cnn-jitter",
        "plain, jitter of light and exposure": "z2cnn-exp-jitter",
        "CEConv-3": "ceconv3",
        "Hue-3": "hue3",
        "Hue-4": "hue4",
        "Sat-3": "sat3",
        "Light-3": "light3",
        "Light-3, jitter of light": "light3-jitter",
        "canonical light": "canonical",
        "canonical light, jitter of light": "canonical-jitter",
        "canonical light and exposure": "canonical-exp",
        "canonical light and exposure, jitter": "canonical-exp-jitter",
    },
    {"blue_test": "blue (seen)", "pink_test": "pink", "between": "between"},
)
_FROM_PINK = _Direction(
    "pink",
    {
        "from pink, plain": "z2cnn",
        "from pink, plain, grey": "z2cnn-gray",
        "from pink, plain, jitter of light": "z2cnn-jitter",
        "from pink, canonical light": "canonical",
        "from pink, canonical light and exposure, jitter": "canonical-exp-jitter",
    },
    {"pink_test": "pink (seen)", "blue_test": "blue", "between": "between"},
)
_QUICK_DATA = "hue_shift_shapes3d"


@register_experiment(
    "stain",
    title="Real stains: trained on one, tested on another",
    about=(
        "Red blood cells, parasitized or not, of 200 slides that were stained blue, pink or something between. "
        "Networks learn from slides of one stain and are tested on other slides of it and on those of other stains. "
        "Does it help to see no colour, to see jittered colours, to be equivariant to a group of colours, or to find "
        "and undo the move of colour? Light is temperature and tint; “canonical” networks undo it."
    ),
    quick="A few rendered shapes instead of cells, and one seed: nothing but a rehearsal.",
    place=150,
)
def _run(setting: Setting, runner: Runner) -> Outcome:
    directions = [_FROM_BLUE] if setting.quick else [_FROM_BLUE, _FROM_PINK]
    every = {direction.stain: _rows(setting, direction) for direction in directions}
    chosen = chosen_rows(setting, [row for rows in every.values() for row in rows])
    runs = runner.train(chosen)
    records: list[Record] = []
    tables: list[Table] = []
    pictures = {}
    for direction in directions:
        rows = [row for row in every[direction.stain] if row in chosen]
        if not rows:
            continue
        columns = shift_columns(_QUICK_DATA) if setting.quick else direction.columns
        those = {row.label: runs[row.label] for row in rows}
        trained = "rendered shapes" if setting.quick else f"{direction.stain} slides"
        tables.append(
            error_table(f"Trained on {trained}: balanced error in %", rows, those, columns, metric="balanced_error")
        )
        if not setting.quick:
            tables.append(error_table(f"Trained on {trained}: 100 × AUC", rows, those, columns, metric="auc"))
        records += run_records(those, "balanced_error", "auc")
        pictures[f"from-{direction.stain}"] = bars(rows, those, columns, metric="balanced_error")
    return Outcome(records, tables, pictures, notes=[] if setting.quick else [_NOTE])


def _rows(setting: Setting, direction: _Direction) -> list[Row]:
    splits = {"train_split": f"{direction.stain}_train", "test_splits": list(direction.columns)}
    rehearsal = stand_in(_QUICK_DATA, train_size=128, test_size=64, canonicalizer_steps=5)
    return rows_of(setting, _RECIPE, direction.networks, None if setting.quick else splits, rehearsal)


_NOTE = (
    "Means and standard deviations over seeds. Slides are never cut: cells of one slide are all in training or all in "
    "testing. All networks are trained for equally long by one recipe, recipes/malaria.yaml, whose rate and batches "
    "were chosen by the error on blue slides, for the plain network with jitter of light. A canonical network has a "
    "second, small network in front, trained for 1,000 steps without labels; “plain, wider” has as many parameters as "
    "both."
)
