"""Hue coverage: how the error on hues never seen grows as the arc of hues seen in training shrinks. Our own."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from equicolor.data import hue_coverage
from equicolor.experiments import Outcome, Record, Row, Runner, Setting, Table, register_experiment
from equicolor.experiments._pictures import curves
from equicolor.experiments._rows import chosen_rows, new_row
from equicolor.experiments._tables import Measured, seeds_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ARCS = (360, 240, 120, 60, 30, 10)
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
    quick = {"train_size": 1280, "epochs": 3, "batch_size": 64}
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
                error = runner.error_under(run, "test", unseen)
                errors: Record = {"error_seen": run.results["test"]["error"], "error_unseen": error}
                records.append({**about, **errors, "run": run.folder.name})
    notes = [] if setting.quick else [_PROTOCOL_NOTE.format(seeds=seeds_of(records))]
    return Outcome(records, [_table(rows, records)], {"coverage": _picture(rows, records)}, notes)


def _measured(records: list[Record], kind: str) -> dict[str, dict[int, Measured]]:
    """Network → arc → the errors of all seeds."""
    values: dict[str, dict[int, list[float]]] = {}
    for record in records:
        network, arc, error = str(record["network"]), int(record["arc"] or 0), float(record[kind] or 0)
        values.setdefault(network, {}).setdefault(arc, []).append(error)
    return {network: {arc: Measured(those) for arc, those in found.items()} for network, found in values.items()}


def _table(rows: Sequence[Row], records: list[Record]) -> Table:
    seen, unseen = _measured(records, "error_seen"), _measured(records, "error_unseen")
    arcs = list(dict.fromkeys(arc for found in seen.values() for arc in found))
    lines = [[row.title, *(f"{seen[row.label][arc]} → {unseen[row.label][arc]}" for arc in arcs)] for row in rows]
    title = "Error in % on hues seen → not seen in training, by the arc seen"
    return Table(title, ["network", *(f"{arc}°" for arc in arcs)], lines)


def _picture(rows: Sequence[Row], records: list[Record]) -> "Figure":
    unseen = _measured(records, "error_unseen")
    lines = {row.marked: {float(arc): 100 * each.mean for arc, each in unseen[row.label].items()} for row in rows}
    return curves(
        "arc of hues seen in training, in degrees", "error on unseen hues, in %", lines, log_x=True, log_y=True
    )


_PROTOCOL_NOTE = (
    "Protocol, for all networks alike unless a row says otherwise: 20,000 digits of MNIST, one pass in batches of 128, "
    "Adam at 0.004 with warm-up and cosine, {seeds}. Tested on the 10,000 test digits, with hues of the training arc "
    "and with all others; trained on 360° there are no others, and both are of all hues. Hue jitter is by up to 90° "
    "either way. * reduced, see the table."
)
