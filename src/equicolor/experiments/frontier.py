"""The frontier: what is gained on unseen hues, and at what cost, where the group ends after the stem, a stage … all."""

import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from equicolor._tools.pages import Drawing
from equicolor._tools.progress import Watch
from equicolor._tools.timing import interleaved
from equicolor.comparison import measured, seeds_of
from equicolor.data import hue_coverage
from equicolor.experiments import Outcome, Record, Row, Runner, Setting, Table, register_experiment
from equicolor.experiments._pictures import curves
from equicolor.experiments._rows import chosen_rows, rows_of
from equicolor.measure import multiply_adds
from equicolor.models import create_model
from equicolor.nn import faster_norms

#: Hues seen in training, in degrees.
_ARC = 30
#: Of the gain, what is worth the name of most.
_KEPT = 0.9
_PLAIN = "plain"
#: What networks are called, and which variants of the recipe they are.
_NETWORKS = {
    _PLAIN: "plain",
    "Hue-4, stem": "hue4-0",
    "Hue-4, stage 1": "hue4-1",
    "Hue-4, stages 1–2": "hue4-2",
    "Hue-4, stages 1–3": "hue4-3",
    "Hue-4, all stages": "hue4",
    "Hue-12, stem": "hue12-0",
    "Hue-12, stage 1": "hue12-1",
    "Hue-12, stages 1–2": "hue12-2",
    "Hue-12, stages 1–3": "hue12-3",
    "Hue-12, all stages": "hue12",
}
_ALL = "all stages"
_COSTS = ("parameters", "multiply-adds", "training step")
#: Steps of training that are timed of each network, in turn.
_ROUNDS = 9


@register_experiment(
    "frontier",
    title="Pooling early: what is gained, and what it costs",
    about=(
        "A network is invariant wherever it pools over the group; what stands behind is conventional. Narrow "
        "ResNet-18s of about equally many parameters, with the group on the stem, the first stage, the first two … or "
        f"all, see digits in {_ARC}° of hue and are tested on all others. How much of the full network's gain over "
        "the plain one remains, and for what cost?"
    ),
    quick="A few embedded digits, one seed.",
    place=105,
)
def _run(setting: Setting, runner: Runner) -> Outcome:
    seen, unseen = hue_coverage(_ARC)
    quick = {"data": "digits", "train_size": 128, "test_size": 128, "epochs": 1, "batch_size": 32}
    shift = {"data_options": {"shift": seen}}
    rows = chosen_rows(setting, rows_of(setting, "frontier", _NETWORKS, shift, {**shift, **quick}))
    runs = runner.train(rows)
    watch = partial(runner.progress, unit="steps", still=True)
    options = {row.label: row.recipe.model_options for row in rows}
    costs = _costs(options, rows, watch, batch=rows[0].recipe.batch_size, size=28)
    records: list[Record] = []
    for row in rows:
        for run in runs[row.label]:
            about: Record = {"network": row.label, "seed": run.recipe.seed}
            errors: Record = {
                "error_seen": run.results["test"]["error"],
                "error_unseen": runner.runs.error_under(run, "test", unseen),
            }
            records.append({**about, **errors, **costs[row.label], "run": run.folder.name})
    tables, picture = [_table(rows, records)], {"frontier": _picture(rows, records)}
    if setting.quick:
        return Outcome(records, tables, picture, conclusion=_conclusion(rows, records))
    wide = {
        row.label: {name: value for name, value in row.recipe.model_options.items() if name != "width"} for row in rows
    }
    note, of_wide = _NOTE.format(seeds=seeds_of(records)), _costs(wide, rows, watch, batch=32, size=32)
    conclusion = _conclusion(rows, records)
    records += [{"network": label, "width": "paper", **cost} for label, cost in of_wide.items()]
    return Outcome(records, [*tables, _wide_table(rows, of_wide)], picture, [note], conclusion)


def _conclusion(rows: Sequence[Row], records: Sequence[Record]) -> list[str]:
    """The cheapest network that keeps most of what the group on all stages gains; or that there is nothing to keep."""
    shares = {row.label: share for row in rows if (share := _share(row.label, records)) is not None}
    if not shares and rows[0].label == _PLAIN and any(row.label.endswith(_ALL) for row in rows):
        return ["The group on all stages gains nothing over the plain network here, so there is nothing to share."]
    if not shares:
        return []
    costs = {label: measured(records, "multiply_adds", network=label).mean for label in shares}
    steps = {label: measured(records, "step_ratio", network=label).mean for label in shares}
    kept = [label for label, share in shares.items() if share >= _KEPT]
    label = min(kept, key=costs.__getitem__)
    said = (
        f"The cheapest network with at least {_KEPT:.0%} of what the group on all stages gains on unseen hues is "
        f"“{label}”: {shares[label]:.0%} of the gain, {costs[label]:.2f} times the multiply-adds of “{rows[0].label}” "
        f"and {steps[label]:.2f} times its training step."
    )
    one = len({record["seed"] for record in records if "seed" in record}) == 1
    return [said, *(["This is one seed."] if one else [])]


def _costs(
    options: Mapping[str, Mapping[str, Any]], rows: Sequence[Row], watch: Watch, *, batch: int, size: int
) -> dict[str, Record]:
    """Parameters, multiply-adds of the bilinear algorithms, and the CPU's time for a step of training.

    The latter two are relative to those of the first row, times in the same rounds.
    """
    draw = torch.Generator().manual_seed(0)
    images = torch.rand(batch, 3, size, size, generator=draw).to(memory_format=torch.channels_last)
    labels = torch.randint(10, (batch,), generator=draw)
    steps, work, parameters = {}, {}, {}
    for row in rows:
        own = {**options[row.label], "num_classes": 10}
        group = row.recipe.group
        fast = create_model("resnet18", group, algorithm="fast", **own)
        work[row.label], parameters[row.label] = multiply_adds(fast, images[:1]).convolutions, fast.num_parameters
        trained = faster_norms(create_model("resnet18", group, **own).to(memory_format=torch.channels_last)).train()  # type: ignore[call-overload]
        steps[row.label] = partial(_step, trained, images, labels)
    title, plain = f"timing {_ROUNDS} steps of each network, in turn", rows[0].label
    timings = interleaved(steps, _ROUNDS, clock=time.process_time, watch=watch, title=title)
    return {
        label: {
            "parameters": parameters[label],
            "multiply_adds": work[label] / work[plain],
            "step_ratio": timings.ratio(label, plain),
        }
        for label in steps
    }


def _step(model: nn.Module, images: Tensor, labels: Tensor) -> None:
    F.cross_entropy(model(images), labels).backward()  # type: ignore[no-untyped-call]
    model.zero_grad()


def _table(rows: Sequence[Row], records: Sequence[Record]) -> Table:
    lines = []
    for row in rows:
        seen, unseen = (measured(records, name, network=row.label) for name in ("error_seen", "error_unseen"))
        share = _share(row.label, records)
        cost = next(record for record in records if record["network"] == row.label)
        lines.append([row.title, f"{seen}", f"{unseen}", "–" if share is None else f"{share:.0%}", *_cells(cost)])
    title = f"Error in % on {_ARC}° of hues, seen in training, and on all others; cost relative to “{rows[0].label}”"
    return Table(title, ["network", "seen", "not seen", "of the gain", *_COSTS], lines)


def _wide_table(rows: Sequence[Row], costs: Mapping[str, Record]) -> Table:
    title = f"The same of ResNet-18 in its full width, 32 images of 32×32; cost relative to “{rows[0].label}”"
    return Table(title, ["network", *_COSTS], [[row.label, *_cells(costs[row.label])] for row in rows])


def _cells(cost: Record) -> list[str]:
    return [f"{cost['parameters']:,}", f"{cost['multiply_adds']:.2f}", f"{cost['step_ratio']:.2f}"]


def _share(label: str, records: Sequence[Record]) -> float | None:
    """How much of what the group on all stages gains on unseen hues over the plain network this one does."""
    names = (_PLAIN, f"{label.partition(',')[0]}, {_ALL}", label)
    errors = [measured(records, "error_unseen", network=name) for name in names]
    if label == _PLAIN or not all(error.values for error in errors):
        return None
    plain, full, here = (error.mean for error in errors)
    return None if plain <= full else (plain - here) / (plain - full)


def _picture(rows: Sequence[Row], records: Sequence[Record]) -> Drawing:
    lines: dict[str, dict[float, float]] = {}
    for row in rows:
        error = 100 * measured(records, "error_unseen", network=row.label).mean
        cost = measured(records, "multiply_adds", network=row.label).mean
        lines.setdefault(row.label.partition(",")[0], {})[cost] = error
    return curves(f"multiply-adds, times those of “{rows[0].label}”", "error on unseen hues, in %", lines, log_y=True)


_NOTE = (
    "Protocol, for all networks alike: 6,000 digits of MNIST in two passes, batches of 64, Adam at 0.004 with warm-up "
    "and cosine, {seeds}; tested on 4,000 of the test digits, with hues of the training arc and with all others. “Of "
    "the gain”: how much of what the group on all stages gains over the plain network on unseen hues. Multiply-adds "
    "are those of a forward by the fast algorithms; narrow layers are computed directly where that takes less time. A "
    "training step is forward, loss and backward: seconds of the CPU, the median of nine in turn with the others, "
    "relative to the plain network in the same rounds."
)
