"""The frontier: what is gained on unseen colours, and at what cost, where the group ends after the stem, or later."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
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
from equicolor.experiments._pictures import curves_beside
from equicolor.experiments._rows import chosen_parts, rows_of
from equicolor.experiments._several import missing
from equicolor.measure import multiply_adds, peak_memory
from equicolor.models import create_model
from equicolor.nn import faster_norms
from equicolor.train import Run

#: Hues seen in training, in degrees.
_ARC = 30
_SEEN, _UNSEEN = hue_coverage(_ARC)
#: Of the gain, what is worth the name of most.
_KEPT = 0.9
_PLAIN = "plain"
_ALL = "all stages"
_COSTS = ("parameters", "multiply-adds", "training step", "training memory")
#: Steps of training that are timed of each network, in turn.
_ROUNDS = 5


def _places(group: str, variant: str, stages: int) -> dict[str, str]:
    """Where a group of a ResNet of so many stages may end, and the variants of the recipe."""
    names = ["stem", "stage 1", *(f"stages 1–{number}" for number in range(2, stages)), _ALL]
    variants = [*(f"{variant}-{number}" for number in range(stages)), variant]
    return {f"{group}, {name}": each for name, each in zip(names, variants, strict=True)}


@dataclass(frozen=True)
class _Part:
    """Images and a network: what rows begin with, the recipe and its variants, what was seen and what was not.

    Attributes:
        name: of its picture.
        title: of its tables.
        before: what the labels of its rows begin with.
        recipe: of its networks.
        data: which it needs.
        networks: labels, and variants of the recipe; the plain one first.
        changes: of the recipe.
        metric: what is measured.
        seen: the test split.
        unseen: the split of other colours, where these are real; otherwise hues are turned.
        size: of the images, for what is timed.
        wide: whether its networks are timed in their full width, too.
        note: what was trained.
    """

    name: str
    title: str
    before: str
    recipe: str
    data: str
    networks: Mapping[str, str]
    note: str
    changes: Mapping[str, Any] | None = None
    metric: str = "error"
    seen: str = "test"
    unseen: str = ""
    size: int = 32
    wide: bool = False

    @property
    def variants(self) -> dict[str, str]:
        return {f"{self.before}{label}": variant for label, variant in self.networks.items()}

    def own(self, label: str) -> str:
        """What a row is called within its part."""
        return label.removeprefix(self.before)

    def errors(self, runner: Runner, run: Run) -> Record:
        """Of a network, on colours as in training and on others."""
        if self.unseen:
            return {
                f"error_{kind}": run.results[s][self.metric]
                for kind, s in (("seen", self.seen), ("unseen", self.unseen))
            }
        unseen = runner.runs.error_under(run, self.seen, _UNSEEN)
        return {"error_seen": run.results[self.seen][self.metric], "error_unseen": unseen}


_TURNED = {"data_options": {"shift": _SEEN}}
_DIGITS = _Part(
    "frontier",
    "Digits, ResNet-18",
    "",
    "frontier",
    "mnist",
    {_PLAIN: "plain", **_places("Hue-4", "hue4", 4), **_places("Hue-12", "hue12", 4)},
    "6,000 digits of MNIST in two passes, batches of 64, Adam at 0.004 with warm-up and cosine, tested on 4,000",
    changes=_TURNED,
    size=28,
    wide=True,
)
_CIFAR10 = _Part(
    "frontier-cifar10",
    "CIFAR-10, ResNet-18",
    "CIFAR-10, ",
    "frontier",
    "cifar10",
    {_PLAIN: "cifar10", **_places("Hue-4", "cifar10-hue4", 4)},
    "5,000 photographs in five passes, batches of 32, Adam at 0.002, tested on 2,000",
    changes=_TURNED,
)
_CELLS = _Part(
    "frontier-cells",
    "Cells, ResNet-18, trained on blue slides and tested on pink ones",
    "cells, ",
    "malaria",
    "malaria",
    {_PLAIN: "resnet18", **_places("Temp-5", "resnet18-temp5", 4)},
    "4,000 malaria cells of blue slides in six passes, batches of 16, Adam at 0.001; balanced errors",
    metric="balanced_error",
    seen="blue_test",
    unseen="pink_test",
    wide=True,
)


def _deeper(part: _Part, plain: str, group: str) -> _Part:
    """The same images with ResNet-44, which has three stages; its variants begin with the name of the plain one."""
    variant = f"{plain}-{group.lower().replace('-', '')}"
    return replace(
        part,
        name=f"{part.name}-resnet44",
        title=part.title.replace("ResNet-18", "ResNet-44"),
        before=f"{part.before}ResNet-44, ",
        networks={_PLAIN: plain, **_places(group, variant, 3)},
        note="the same",
    )


_PARTS = (
    _DIGITS,
    _deeper(_DIGITS, "resnet44", "Hue-4"),
    _CIFAR10,
    _deeper(_CIFAR10, "cifar10-resnet44", "Hue-4"),
    _CELLS,
    _deeper(_CELLS, "resnet44", "Temp-5"),
)


@register_experiment(
    "frontier",
    title="Pooling early: what is gained, and what it costs",
    about=(
        "A network is invariant wherever it pools over the group; what stands behind is conventional. Narrow ResNets "
        "of about equally many parameters, with the group on the stem, the first stage, the first two … or all, see "
        f"digits and photographs in {_ARC}° of hue, or cells of one stain, and are tested on all others. How much of "
        "the full network's gain over the plain one remains, and for what cost?"
    ),
    quick="A few embedded digits, one seed.",
    place=105,
)
def _run(setting: Setting, runner: Runner) -> Outcome:
    parts = _PARTS[:1] if setting.quick else _PARTS
    absent = {} if setting.quick else {part.title: text for part in parts if (text := missing(part.data))}
    there = {part.name: part for part in parts if part.title not in absent}
    quick = {**_TURNED, "data": "digits", "train_size": 128, "test_size": 128, "epochs": 1, "batch_size": 32}
    every = {name: rows_of(setting, part.recipe, part.variants, part.changes, quick) for name, part in there.items()}
    chosen = chosen_parts(setting, every)
    runs = runner.train([row for rows in chosen.values() for row in rows])
    watch = partial(runner.progress, unit="steps", still=True)
    records: list[Record] = []
    tables: list[Table] = []
    pictures, notes, conclusion = {}, [f"{name} is left out. {text}" for name, text in absent.items()], list[str]()
    for name, rows in chosen.items():
        part = there[name]
        options = {row.label: row.recipe.model_options for row in rows}
        costs = _costs(options, rows, watch, batch=rows[0].recipe.batch_size, size=part.size)
        own: list[Record] = [
            {
                "network": row.label,
                "seed": run.recipe.seed,
                **part.errors(runner, run),
                **costs[row.label],
                "run": run.folder.name,
            }
            for row in rows
            for run in runs[row.label]
        ]
        tables.append(_table(part, rows, own))
        pictures[name] = _picture(part, rows, own)
        conclusion += _conclusion(rows, own, part)
        notes += [] if setting.quick else [f"{part.title}: {part.note}; {seeds_of(own)}."]
        if part.wide and not setting.quick:
            wide = {label: {k: v for k, v in given.items() if k != "width"} for label, given in options.items()}
            of_wide = _costs(wide, rows, watch, batch=32, size=32)
            tables.append(_wide_table(part, rows, of_wide))
            own += [{"network": label, "width": "paper", **cost} for label, cost in of_wide.items()]
        records += own
    return Outcome(records, tables, pictures, [*notes, *([] if setting.quick else [_NOTE])], conclusion)


def _conclusion(rows: Sequence[Row], records: Sequence[Record], part: _Part = _DIGITS) -> list[str]:
    """The cheapest network that keeps most of what the group on all stages gains; or that there is nothing to keep."""
    shares = {row.label: share for row in rows if (share := _share(part, row.label, records)) is not None}
    before = f"{part.title}: " if part.before else ""
    if not shares and part.own(rows[0].label) == _PLAIN and any(row.label.endswith(_ALL) for row in rows):
        return [
            f"{before}The group on all stages gains nothing over the plain network here, so there is nothing to share."
        ]
    if not shares:
        return []
    costs = {label: measured(records, "multiply_adds", network=label).mean for label in shares}
    steps = {label: measured(records, "step_ratio", network=label).mean for label in shares}
    kept = [label for label, share in shares.items() if share >= _KEPT]
    label = min(kept, key=costs.__getitem__)
    said = (
        f"{before}The cheapest network with at least {_KEPT:.0%} of what the group on all stages gains on unseen "
        f"colours is “{part.own(label)}”: {shares[label]:.0%} of the gain, {costs[label]:.2f} times the multiply-adds "
        f"of “{part.own(rows[0].label)}” and {steps[label]:.2f} times its training step."
    )
    one = len({record["seed"] for record in records if "seed" in record}) == 1
    return [said, *(["This is one seed."] if one else [])]


def _costs(
    options: Mapping[str, Mapping[str, Any]], rows: Sequence[Row], watch: Watch, *, batch: int, size: int
) -> dict[str, Record]:
    """Parameters, multiply-adds of the bilinear algorithms, the CPU's time for a step of training, and its memory.

    All but the parameters are relative to those of the first row, times in the same rounds.
    """
    draw = torch.Generator().manual_seed(0)
    images = torch.rand(batch, 3, size, size, generator=draw).to(memory_format=torch.channels_last)
    labels = torch.randint(10, (batch,), generator=draw)
    steps, work, parameters = {}, {}, {}
    for row in rows:
        own = {**options[row.label], "num_classes": 10}
        group = row.recipe.group
        fast = create_model(row.recipe.model, group, algorithm="fast", **own)
        work[row.label], parameters[row.label] = multiply_adds(fast, images[:1]).convolutions, fast.num_parameters
        model: nn.Module = create_model(row.recipe.model, group, **own)
        trained = faster_norms(model.to(memory_format=torch.channels_last)).train()  # type: ignore[call-overload]
        steps[row.label] = partial(_step, trained, images, labels)
    title, plain = f"timing {_ROUNDS} steps of each network, in turn", rows[0].label
    timings = interleaved(steps, _ROUNDS, clock=time.process_time, watch=watch, title=title)
    memory = {label: peak_memory(step) for label, step in steps.items()}
    return {
        label: {
            "parameters": parameters[label],
            "multiply_adds": work[label] / work[plain],
            "step_ratio": timings.ratio(label, plain),
            "memory_ratio": memory[label] / memory[plain],
        }
        for label in steps
    }


def _step(model: nn.Module, images: Tensor, labels: Tensor) -> None:
    F.cross_entropy(model(images), labels).backward()  # type: ignore[no-untyped-call]
    model.zero_grad()


def _table(part: _Part, rows: Sequence[Row], records: Sequence[Record]) -> Table:
    lines = []
    for row in rows:
        seen, unseen = (measured(records, name, network=row.label) for name in ("error_seen", "error_unseen"))
        share = _share(part, row.label, records)
        cost = next(record for record in records if record["network"] == row.label)
        lines.append([row.title, f"{seen}", f"{unseen}", "–" if share is None else f"{share:.0%}", *_cells(cost)])
    what = "slides of both stains" if part.unseen else f"{_ARC}° of hues, seen in training, and on all others"
    title = f"{part.title}: error in % on {what}; cost relative to “{part.own(rows[0].label)}”"
    return Table(title, ["network", "seen", "not seen", "of the gain", *_COSTS], lines)


def _wide_table(part: _Part, rows: Sequence[Row], costs: Mapping[str, Record]) -> Table:
    plain = part.own(rows[0].label)
    title = f"{part.title}: in full width, 32 images of 32×32; cost relative to “{plain}”"
    return Table(title, ["network", *_COSTS], [[row.label, *_cells(costs[row.label])] for row in rows])


def _cells(cost: Record) -> list[str]:
    ratios = (cost[name] for name in ("multiply_adds", "step_ratio", "memory_ratio"))
    return [f"{cost['parameters']:,}", *(f"{ratio:.2f}" for ratio in ratios)]


def _share(part: _Part, label: str, records: Sequence[Record]) -> float | None:
    """How much of what the group on all stages gains on unseen colours over the plain network this one does."""
    group, comma, _ = part.own(label).partition(",")
    names = (f"{part.before}{_PLAIN}", f"{part.before}{group}, {_ALL}", label)
    errors = [measured(records, "error_unseen", network=name) for name in names]
    if not comma or not all(error.values for error in errors):
        return None
    plain, full, here = (error.mean for error in errors)
    return None if plain <= full else (plain - here) / (plain - full)


def _picture(part: _Part, rows: Sequence[Row], records: Sequence[Record]) -> Drawing:
    panels: dict[str, dict[str, dict[float, float]]] = {}
    for name, title in (("step_ratio", "time of a training step"), ("memory_ratio", "memory of a training step")):
        lines = panels.setdefault(f"{title}, times “{part.own(rows[0].label)}”", {})
        for row in rows:
            error = 100 * measured(records, "error_unseen", network=row.label).mean
            cost = measured(records, name, network=row.label).mean
            lines.setdefault(part.own(row.label).partition(",")[0], {})[cost] = error
    caption = "From left to right, as a rule: the group on the stem, the first stage, the first two … and all."
    return curves_beside("error on unseen colours, in %", panels, caption)


_NOTE = (
    "All networks of a table are trained alike, and have about as many parameters. “Of the gain”: how much of what the "
    "group on all stages gains over the plain network on unseen colours. Temp-5, five steps of colour temperature, has "
    "its window replicated. Multiply-adds are those of a forward by the fast algorithms; narrow layers are computed "
    "directly where that takes less time. A training step is forward, loss and backward: seconds of the CPU, the "
    "median of five in turn with the others, relative to the plain network in the same rounds. Its memory is the most "
    "bytes of tensors that are alive at once, beyond weights and images."
)
