"""Stain: blood cells from slides of one stain, tested on slides of another, by everything that is meant to help."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean

from equicolor.comparison import bars, run_records
from equicolor.experiments import Outcome, Record, Row, Runner, Setting, Table, error_table, register_experiment
from equicolor.experiments._conclusions import of_part
from equicolor.experiments._intervals import ClusterIntervals, interval_table, with_intervals
from equicolor.experiments._rows import chosen_parts, rows_of
from equicolor.experiments._stand_in import shift_columns, stand_in
from equicolor.train import Run

_RECIPE = "malaria"
#: Over the training images: twice those of the recipe, as six leave jitter of light half learnt.
_PASSES = 12


@dataclass(frozen=True)
class _Part:
    """A table: which slides are trained on, the rows and their variants of the recipe, the test splits."""

    title: str
    stain: str
    networks: Mapping[str, str]
    columns: Mapping[str, str]


_BLUE = {"blue_test": "blue (seen)", "pink_test": "pink", "between": "between"}
_PINK = {"pink_test": "pink (seen)", "blue_test": "blue", "between": "between"}
_PARTS = {
    "from-blue": _Part(
        "Trained on blue slides",
        "blue",
        {
            "plain": "z2cnn",
            "plain, wider": "z2cnn-wider",
            "plain, grey": "z2cnn-gray",
            "plain, grey world": "z2cnn-gray-world",
            "plain, grey world, jitter of light": "z2cnn-gray-world-jitter",
            "plain, Reinhard": "z2cnn-reinhard",
            "plain, Macenko": "z2cnn-macenko",
            "plain, jitter of hue": "z2cnn-hue-jitter",
            "plain, jitter of colour": "z2cnn-color-jitter",
            "plain, jitter of gain and hue": "z2cnn-gain-hue-jitter",
            "plain, jitter of stain": "z2cnn-hed-jitter",
            "plain, jitter of light": "z2cnn-jitter",
            "plain, jitter of light and exposure": "z2cnn-exp-jitter",
            "CEConv-3": "ceconv3",
            "Hue-3": "hue3",
            "Hue-3, jitter of hue": "hue3-hue-jitter",
            "Hue-4": "hue4",
            "Hue-4, jitter of hue": "hue4-hue-jitter",
            "Sat-3": "sat3",
            "Sat-3, jitter of saturation": "sat3-sat-jitter",
            "Lum-3": "lum3",
            "Lum-3, jitter of luminance": "lum3-lum-jitter",
            "Hue-4-Sat-3": "hue4-sat3",
            "Hue-4-Sat-3, jitter of both": "hue4-sat3-jitter",
            "Temp-3, replicated": "temp3-replicate",
            "Temp-3, replicated, jitter of light": "temp3-replicate-jitter",
            "Temp-5, replicated": "temp5-replicate",
            "Temp-5, replicated, jitter of light": "temp5-replicate-jitter",
            "Light-3, replicated": "light3-replicate",
            "Light-3, replicated, jitter of light": "light3-replicate-jitter",
            "Light-3-Exp-3, replicated": "light3-exp3-replicate",
            "Light-3-Exp-3, replicated, jitter": "light3-exp3-replicate-jitter",
            "Stain-3, replicated": "stain3-replicate",
            "Stain-3, replicated, jitter of both": "stain3-replicate-jitter",
            "canonical light": "canonical",
            "canonical light, jitter of light": "canonical-jitter",
            "canonical light and exposure": "canonical-exp",
            "canonical light and exposure, jitter": "canonical-exp-jitter",
            "canonical light, anchored": "canonical-anchored",
            "canonical light, anchored, jitter": "canonical-anchored-jitter",
            "canonical light and exposure, anchored": "canonical-anchored-exp",
            "canonical gains, anchored": "canonical-gains",
            "canonical gains, anchored, jitter of exposure": "canonical-gains-jitter",
        },
        _BLUE,
    ),
    "from-pink": _Part(
        "Trained on pink slides",
        "pink",
        {
            "from pink, plain": "z2cnn",
            "from pink, plain, grey": "z2cnn-gray",
            "from pink, plain, grey world": "z2cnn-gray-world",
            "from pink, plain, Reinhard": "z2cnn-reinhard",
            "from pink, plain, Macenko": "z2cnn-macenko",
            "from pink, plain, jitter of hue": "z2cnn-hue-jitter",
            "from pink, plain, jitter of stain": "z2cnn-hed-jitter",
            "from pink, plain, jitter of light": "z2cnn-jitter",
            "from pink, plain, jitter of light and exposure": "z2cnn-exp-jitter",
            "from pink, Hue-4": "hue4",
            "from pink, Light-3, replicated": "light3-replicate",
            "from pink, canonical light": "canonical",
            "from pink, canonical light, jitter of light": "canonical-jitter",
            "from pink, canonical light and exposure, jitter": "canonical-exp-jitter",
            "from pink, canonical light, anchored": "canonical-anchored",
            "from pink, canonical gains, anchored": "canonical-gains",
        },
        _PINK,
    ),
    "larger": _Part(
        "A larger network, trained on blue slides",
        "blue",
        {
            "ResNet-18": "resnet18",
            "ResNet-18, grey": "resnet18-gray",
            "ResNet-18, grey world": "resnet18-gray-world",
            "ResNet-18, Reinhard": "resnet18-reinhard",
            "ResNet-18, Macenko": "resnet18-macenko",
            "ResNet-18, jitter of stain": "resnet18-hed-jitter",
            "ResNet-18, jitter of light": "resnet18-jitter",
            "ResNet-18, Temp-5, replicated": "resnet18-temp5",
            "ResNet-18, canonical light": "resnet18-canonical",
            "ResNet-18, canonical light, jitter of light": "resnet18-canonical-jitter",
            "ResNet-18, canonical light, anchored": "resnet18-canonical-anchored",
            "ResNet-18, canonical gains, anchored": "resnet18-canonical-gains",
        },
        _BLUE,
    ),
}
_METRICS = {"balanced_error": "balanced error in %", "auc": "100 × AUC"}
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
    parts = {"from-blue": _PARTS["from-blue"]} if setting.quick else _PARTS
    chosen = chosen_parts(setting, {name: _rows(setting, part) for name, part in parts.items()})
    runs = runner.train([row for rows in chosen.values() for row in rows])
    intervals = ClusterIntervals(runner, list(_METRICS))
    records: list[Record] = []
    tables: list[Table] = []
    pictures, conclusion = {}, []
    for name, rows in chosen.items():
        part = parts[name]
        columns = shift_columns(_QUICK_DATA) if setting.quick else part.columns
        those = {row.label: runs[row.label] for row in rows}
        title = "Trained on rendered shapes" if setting.quick else part.title
        tables.append(error_table(f"{title}: balanced error in %", rows, those, columns, metric="balanced_error"))
        own = {label: [intervals.of(run) for run in each] for label, each in those.items()}
        if not setting.quick:
            tables.append(error_table(f"{title}: 100 × AUC", rows, those, columns, metric="auc"))
        for metric, words in _METRICS.items() if any(map(any, own.values())) and not setting.quick else ():
            tables.append(interval_table(f"{title}: {words}, over slides", rows, own, columns, metric))
        of_run = {run.folder.name: each for label in those for run, each in zip(those[label], own[label], strict=True)}
        records += [
            with_intervals(record, of_run[str(record["run"])], list(_METRICS))
            for record in run_records(those, *_METRICS)
        ]
        pictures[name] = bars(rows, those, columns, metric="balanced_error")
        conclusion.append(of_part(title, "from pink, ", rows, those, columns, "balanced_error"))
        if not setting.quick:
            conclusion += _goal(title, rows, those, columns)
    return Outcome(records, tables, pictures, [] if setting.quick else [_NOTE, _INTERVALS], conclusion)


def _goal(title: str, rows: Sequence[Row], runs: Mapping[str, Sequence[Run]], columns: Mapping[str, str]) -> list[str]:
    """Whether one of ours errs less, and orders better, than every baseline, on every set; and by how much, if not.

    Of those over all seeds: the best of single runs is a matter of luck.
    """
    most = max(len(runs[row.label]) for row in rows)
    rows = [row for row in rows if len(runs[row.label]) == most]
    sides = {True: [row for row in rows if _is_ours(row)], False: [row for row in rows if not _is_ours(row)]}
    if not all(sides.values()):
        return []

    def best(ours: bool, split: str, metric: str) -> tuple[str, float]:
        values = {row.label: mean(run.results[split][metric] for run in runs[row.label]) for row in sides[ours]}
        label = (max if metric == "auc" else min)(values, key=values.__getitem__)
        return label, 100 * values[label]

    said, met = [], True
    for metric, words in (("balanced_error", "error"), ("auc", "100 × AUC")):
        for split, name in columns.items():
            (one, ours), (other, theirs) = best(True, split, metric), best(False, split, metric)
            ahead = ours - theirs if metric == "auc" else theirs - ours
            met = met and ahead > 0
            said.append(f"{words} on {name}, {ours:.2f} (“{one}”) against {theirs:.2f} (“{other}”)")
    goal = "less error and a larger AUC than every baseline on every set"
    verdict = "some network of ours has it in each" if met else "missed"
    return [f"{title}: the goal was {goal}: {verdict}. The best of ours against the best baseline: {'; '.join(said)}."]


def _is_ours(row: Row) -> bool:
    """Whether a network is on a group of ours, or canonicalised; all others are baselines."""
    group = row.recipe.group
    return row.recipe.canonicalize is not None or (group is not None and not group.startswith("ceconv"))


def _rows(setting: Setting, part: _Part) -> list[Row]:
    splits = {"train_split": f"{part.stain}_train", "test_splits": list(part.columns), "epochs": _PASSES}
    rehearsal = stand_in(_QUICK_DATA, train_size=128, test_size=64, canonicalizer_steps=5)
    return rows_of(setting, _RECIPE, part.networks, None if setting.quick else splits, rehearsal)


_NOTE = (
    "Means and standard deviations over seeds. Slides are never cut: cells of one slide are all in training or all in "
    "testing. All networks are trained for equally long by one recipe, recipes/malaria.yaml, whose rate and batches "
    "were chosen by the error on blue slides, for the plain network with jitter of light. A canonical network has a "
    "second, small network in front, trained for 1,000 steps without labels; “plain, wider” has as many parameters as "
    "both. An anchored one has no such network: it measures the move, exactly, by the medians of the channels. "
    "Grey world, Reinhard and Macenko normalise the colours of each image by itself, in training and in testing. "
    "A jitter of gain and hue is one of temperature, tint, exposure and hue. The larger network is a ResNet-18 of a "
    "quarter of its width."
)
_INTERVALS = (
    "Intervals are of 95 %, by the bootstrap over the slides of a test set, of each network by itself; tables have the "
    "means of their ends over seeds. They say how much hangs on which slides there are, and nothing of how networks "
    "compare on the same ones. “–”: the results of such runs were kept, and their networks were not."
)
