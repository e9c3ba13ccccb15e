"""Hue coverage: how the error on hues never seen grows as the arc of hues seen in training shrinks. Our own."""

from collections.abc import Sequence
from typing import Any

from equicolor._tools.pages import Drawing
from equicolor._tools.words import named
from equicolor.comparison import Measured, measured, seeds_of
from equicolor.data import hue_coverage
from equicolor.experiments import Outcome, Record, Row, Runner, Setting, Table, register_experiment
from equicolor.experiments._pictures import curves
from equicolor.experiments._rows import chosen_rows, new_row

#: Of so many seeds, deviations say how far an order of networks is to be relied on.
_ENOUGH = 3
ARCS = (360, 240, 120, 60, 30, 10)
#: What finds the hue is trained first, in batches of the same size: for as long as it takes here, which is not long.
_CANONICAL = {"canonicalizer_steps": 200}
_NETWORKS: dict[str, dict[str, Any]] = {
    "Z2CNN": {"group": None},
    "Z2CNN, hue jitter": {"group": None, "augment": "hue-jitter"},
    "Z2CNN, grey": {"group": None, "augment": "gray"},
    "Hue-3": {"group": "hue3"},
    "Hue-4": {"group": "hue4"},
    "Hue-6": {"group": "hue6"},
    "Hue-12": {"group": "hue12"},
    "CEConv-3": {"group": "ceconv3"},
    "CEConv-4": {"group": "ceconv4"},
    "canonical Hue-4": {"group": None, "canonicalize": "hue4", **_CANONICAL},
    "canonical Hue-12": {"group": None, "canonicalize": "hue12", **_CANONICAL},
    "canonical hue": {
        "group": None,
        "canonicalize": "hue12",
        "canonicalize_options": {"mode": "continuous"},
        **_CANONICAL,
    },
}
_PROTOCOL = {"test_splits": ["test"], "train_size": 20_000, "epochs": 1, "warmup": 20, "seeds": [1999]}


@register_experiment(
    "coverage",
    title="Hue coverage",
    about=(
        "How does the error on unseen hues grow as the arc of hues seen in training shrinks from the whole circle to "
        "10°? The larger the group, the finer it covers the circle."
    ),
    quick="Embedded digits, two arcs, three epochs.",
    place=100,
)
def _run(setting: Setting, runner: Runner) -> Outcome:
    data, arcs = ("digits", (360, 10)) if setting.quick else ("mnist", ARCS)
    quick = {"train_size": 1280, "epochs": 3, "batch_size": 64, "canonicalizer_steps": 20}
    records: list[Record] = []
    for arc in arcs:
        seen, unseen = hue_coverage(arc)
        runner.log(f"Trained on {arc}° of hue:")
        options = {"data": data, "data_options": {"shift": seen}, **_PROTOCOL}
        rows = chosen_rows(
            setting,
            [
                new_row(setting, label, "hue_shift_mnist:z2cnn-tuned", {**options, **network}, quick)
                for label, network in _NETWORKS.items()
            ],
        )
        runs = runner.train(rows)
        for row in rows:
            for run in runs[row.label]:
                about: Record = {"network": row.label, "arc": arc, "seed": run.recipe.seed}
                error = runner.runs.error_under(run, "test", unseen)
                errors: Record = {"error_seen": run.results["test"]["error"], "error_unseen": error}
                records.append({**about, **errors, "run": run.folder.name})
    notes = [] if setting.quick else [_PROTOCOL_NOTE.format(seeds=seeds_of(records))]
    pictures = {"coverage": _picture(rows, records, arcs)}
    return Outcome(records, [_table(rows, records, arcs)], pictures, notes, _conclusion(rows, records, arcs))


def _conclusion(rows: Sequence[Row], records: list[Record], arcs: Sequence[int]) -> list[str]:
    """The smallest arc, where it is hardest: who errs least on hues never seen, and what the first row has."""
    arc = min(arcs)

    def errors(row: Row) -> tuple[Measured, Measured]:
        seen, unseen = (measured(records, kind, network=row.label, arc=arc) for kind in ("error_seen", "error_unseen"))
        return seen, unseen

    both = {row.marked: errors(row) for row in rows}
    said = [f"{name} {seen.written()} and {unseen.written()}" for name, (seen, unseen) in both.items()]
    least = min(both, key=lambda name: both[name][1].mean)
    worse = [row.label for row in rows if both[row.marked][1].mean > 2 * both[row.marked][0].mean]
    found = [
        f"Trained on {arc}° of hue, errors in % on these hues and on all others: {'; '.join(said)}. "
        f"{least} errs least on the others."
    ]
    if worse:
        found.append(f"More than twice as many errors on hues never seen as on those seen: {named(worse)}.")
    if len({record["seed"] for record in records}) < _ENOUGH:
        found.append(f"{seeds_of(records)}: the order of networks that differ by a point is not to be relied on.")
    return found


def _table(rows: Sequence[Row], records: list[Record], arcs: Sequence[int]) -> Table:
    lines = []
    for row in rows:
        both = [
            [measured(records, kind, network=row.label, arc=arc) for kind in ("error_seen", "error_unseen")]
            for arc in arcs
        ]
        lines.append([row.title, *(f"{seen} → {unseen}" for seen, unseen in both)])
    title = "Error in % on hues seen → not seen in training, by the arc seen"
    return Table(title, ["network", *(f"{arc}°" for arc in arcs)], lines)


def _picture(rows: Sequence[Row], records: list[Record], arcs: Sequence[int]) -> Drawing:
    lines = {
        row.marked: {
            float(arc): 100 * measured(records, "error_unseen", network=row.label, arc=arc).mean for arc in arcs
        }
        for row in rows
    }
    return curves(
        "arc of hues seen in training, in degrees",
        "error on unseen hues, in %",
        lines,
        log_x=True,
        log_y=True,
        falling=True,
        caption="The fewer hues are seen in training, the farther to the right; both axes are logarithmic. Numbers are "
        "those of the smallest arc. * reduced: see the table.",
    )


_PROTOCOL_NOTE = (
    "Protocol, for all networks alike unless a row says otherwise: 20,000 digits of MNIST, one pass in batches of 128, "
    "Adam at 0.004 with warm-up and cosine, {seeds}. Tested on the 10,000 test digits, with hues of the training arc "
    "and with all others; trained on 360° there are no others, and both are of all hues. Hue jitter is by up to 90° "
    "either way. Canonical networks find the hue by a small network, trained first for 200 steps without labels, undo "
    "it, and are plain behind it: at the elements of a group, or, “canonical hue”, at any angle. * reduced, see the "
    "table."
)
