"""Hue coverage: how the error on hues never seen grows as the arc of hues seen in training shrinks. Our own."""

from typing import TYPE_CHECKING, Any

from equicolor.data import hue_coverage
from equicolor.experiments._experiment import Experiment, Outcome, Record, Setting, Table
from equicolor.experiments._pictures import curves
from equicolor.experiments._runs import error_under

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


def _run(setting: Setting) -> Outcome:
    data, arcs = ("digits", (360, 10)) if setting.quick else ("mnist", ARCS)
    quick = {"train_size": 1280, "epochs": 3, "batch_size": 64}
    records: list[Record] = []
    for arc in arcs:
        seen, unseen = hue_coverage(arc)
        setting.say(f"Trained on {arc}° of hue:")
        rows = [
            setting.row(
                label,
                "hue_shift_mnist:z2cnn-tuned",
                {"data": data, "data_options": {"shift": seen}, **_PROTOCOL, **network},
                quick,
            )
            for label, network in _NETWORKS.items()
        ]
        for label, runs in setting.train(setting.chosen(rows), weights=False).items():
            for run in runs:
                errors = {"error_seen": run.results["test"]["error"], "error_unseen": error_under(run, "test", unseen)}
                records.append(
                    {"network": label, "arc": arc, "seed": run.recipe.seed, **errors, "run": run.folder.name}
                )
    return Outcome(
        records, [_table(records)], {"coverage": _picture(records)}, [] if setting.quick else [_PROTOCOL_NOTE]
    )


def _table(records: list[Record]) -> Table:
    labels = list(dict.fromkeys(str(record["network"]) for record in records))
    arcs = list(dict.fromkeys(record["arc"] for record in records))

    def cell(label: str, arc: object) -> str:
        found = [r for r in records if r["network"] == label and r["arc"] == arc]
        seen, unseen = (sum(float(r[kind] or 0) for r in found) / len(found) for kind in ("error_seen", "error_unseen"))
        return f"{100 * seen:.2f} → {100 * unseen:.2f}"

    lines = [[label, *(cell(label, arc) for arc in arcs)] for label in labels]
    title = "Error in % on hues seen → not seen in training, by the arc seen"
    return Table(title, ["network", *(f"{arc}°" for arc in arcs)], lines)


def _picture(records: list[Record]) -> "Figure":
    lines: dict[str, dict[float, float]] = {}
    for record in records:
        lines.setdefault(str(record["network"]), {})[float(record["arc"] or 0)] = 100 * float(
            record["error_unseen"] or 0
        )
    return curves("arc of hues seen in training, in degrees", "error on unseen hues, in %", lines, log_x=True)


_PROTOCOL_NOTE = (
    "Protocol, for all networks alike: 20,000 digits of MNIST, one pass in batches of 128, Adam at 0.004 with warm-up "
    "and cosine, one seed. Tested on the 10,000 test digits, with hues of the training arc and with all others."
)
EXPERIMENT = Experiment(
    "coverage",
    "Hue coverage",
    "",
    "How does the error on unseen hues grow as the arc of hues seen in training shrinks from the whole circle to 10°? "
    "The larger the group, the finer it covers the circle.",
    _run,
    "Embedded digits, two arcs, three epochs.",
)
