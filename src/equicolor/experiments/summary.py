"""Summary: plain, grey, jitter, group and canonicalised networks over all data sets, from what was measured before."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import torch
from torch import nn

from equicolor.comparison import Entry, Measured
from equicolor.experiments import Outcome, Record, Runner, Setting, Table, Value, register_experiment
from equicolor.experiments.canonical import REACH
from equicolor.experiments.light import DAYLIGHT, KELVINS
from equicolor.measure import multiply_adds
from equicolor.models import canonicalize, create_model, is_from_elsewhere
from equicolor.train import Recipe

#: The ways, as columns.
WAYS = (
    *("plain", "grey", "normalised", "jitter", "group", "group, jitter", "canonical", "canonical, jitter"),
    *("anchored", "anchored gains"),
)
#: Values that a record must have, by their names: one of these.
Where = Mapping[str, Sequence[Value]]


@dataclass(frozen=True)
class Source:
    """A line: one kind of images, seen and unseen, and the network that stands for each way.

    Attributes:
        title: of the line.
        experiment: whose report has the numbers.
        networks: the label of a row there for each way; chosen by what changes in the images, not by its error.
        seen: which records are of images like those in training.
        unseen: and which of others; the error is the mean over them.
        metrics: of both, by their names in the records.
        image_size: of the network.
        classes: so many.
    """

    title: str
    experiment: str
    networks: Mapping[str, str]
    seen: Where
    unseen: Where
    metrics: tuple[str, str] = ("error", "error")
    image_size: int = 32
    classes: int = 2


_CANONICAL = (
    *("canonical light", "canonical light, jitter of light"),
    *("canonical light, anchored", "canonical gains, anchored"),
)


def _named(prefix: str, *labels: str | None) -> dict[str, str]:
    """Labels in the order of the ways; None where there is no such network."""
    return {way: prefix + label for way, label in zip(WAYS, labels, strict=False) if label is not None}


def _stain(title: str, prefix: str, seen: str, unseen: str, *labels: str | None) -> Source:
    splits: tuple[Where, Where] = ({"split": [seen]}, {"split": [unseen]})
    return Source(title, "stain", _named(prefix, *labels), *splits, ("balanced_error", "balanced_error"))


def _lamps(title: str, name: str, classes: int) -> Source:
    labels = ("plain", "grey", "grey-world white balance", "jitter of light", "Light-3", None, "canonical light")
    others = [kelvin for kelvin in KELVINS if kelvin != DAYLIGHT]
    networks = _named(f"{name}, ", *labels, *_CANONICAL[1:])
    return Source(title, "light", networks, {"kelvin": [DAYLIGHT]}, {"kelvin": others}, classes=classes)


def _pretrained(title: str, seen: Where, unseen: Where, metric: str, classes: int, *labels: str | None) -> Source:
    return Source(title, "pretrained", _named("", *labels), seen, unseen, (metric, metric), 64, classes)


_SMALL = ("plain", "plain, grey", "plain, grey world", "plain, jitter of light", "Light-3, replicated")
_SHAPES = ("plain", "grey", None)
_COVERAGE = ("Z2CNN", "Z2CNN, grey", None, "Z2CNN, hue jitter", "Hue-4", None, "canonical Hue-4")
_TURNS = (60, 90, 120, 180, 240, 270, 300)
_AS_IT_IS: Where = {"move": ["hue"], "place": [0]}
_TURNED: Where = {"move": ["hue"], "place": _TURNS}
_HUE = (*_SHAPES, "jitter of hue", "Hue-4", None, "canonicalised", "canonicalised, jitter")
_LIGHT = (
    *_SHAPES,
    "jitter of light",
    "Light-3",
    None,
    "canonicalised",
    "canonicalised, jitter",
    "canonicalised, anchored",
    "canonicalised by gains, anchored",
)
SOURCES = (
    _stain(
        *("cells, blue → pink", "", "blue_test", "pink_test"),
        *(*_SMALL, "Light-3, replicated, jitter of light", *_CANONICAL),
    ),
    _stain("cells, pink → blue", "from pink, ", "pink_test", "blue_test", *_SMALL, None, *_CANONICAL),
    _stain(
        *("cells, ResNet-18, blue → pink", "ResNet-18", "blue_test", "pink_test"),
        *("", ", grey", ", grey world", ", jitter of light", None, None, ", canonical light"),
        *(f", {label}" for label in _CANONICAL[1:]),
    ),
    _lamps("CIFAR-10, other lamps", "CIFAR-10", 10),
    _lamps("Caltech-101, other lamps", "Caltech-101", 101),
    Source(
        "digits, 10° → other hues",
        "coverage",
        _named("", *_COVERAGE),
        *({"arc": [10]}, {"arc": [10]}),
        ("error_seen", "error_unseen"),
        *(28, 10),
    ),
    Source(
        f"shapes, other light (±{REACH:g})",
        "canonical",
        _named("light, ", *_LIGHT),
        *({"split": ["test_a"]}, {"light": ["any"]}),
        classes=4,
    ),
    Source(
        "shapes, other hues",
        "canonical",
        _named("hue, ", *_HUE),
        *({"split": ["test_a"]}, {"split": ["test_b"]}),
        classes=4,
    ),
    Source(
        "shapes, object alone of another hue",
        "canonical",
        _named("hue, ", *_HUE),
        *({"split": ["test_a"]}, {"split": ["test_c"]}),
        classes=4,
    ),
    Source(
        "shapes, colour is the class",
        "canonical",
        _named("colour, ", *_SHAPES, "jitter of hue", "Hue-4", None, "canonicalised by hue"),
        *({"split": ["test"]}, {}),
    ),
    _pretrained(
        "EfficientNet with a new head, cells, blue → pink",
        *({"split": ["blue_test"]}, {"split": ["pink_test"]}, "balanced_error", 2),
        *("cells, plain", None, None, "cells, plain, jitter of light", "cells, Light-3, new head"),
        *(None, "cells, canonical light"),
    ),
    _pretrained(
        "EfficientNet fine-tuned, cells, blue → pink",
        *({"split": ["blue_test"]}, {"split": ["pink_test"]}, "balanced_error", 2),
        *("cells, plain, fine-tuned", None, None, "cells, plain, fine-tuned, jitter of light"),
        "cells, Light-3, fine-tuned",
    ),
    _pretrained(
        "EfficientNet with a new head, Caltech-101, other hues",
        *(_AS_IT_IS, _TURNED),
        *("error", 101),
        *("Caltech-101, plain", None, None, "Caltech-101, plain, jitter of hue", "Caltech-101, Hue-4, new head"),
        *(None, "Caltech-101, canonical hue"),
    ),
    _pretrained(
        "EfficientNet fine-tuned, Caltech-101, other hues",
        *(_AS_IT_IS, _TURNED),
        *("error", 101),
        *("Caltech-101, plain, fine-tuned", None, None, "Caltech-101, plain, fine-tuned, jitter of hue"),
        "Caltech-101, Hue-4, fine-tuned",
    ),
)


@dataclass(frozen=True)
class Cell:
    """What is known of a network on a kind of images.

    Attributes:
        seen: errors by seed.
        unseen: the same on others; no values where there are none.
        parameters: how many.
        cost: multiplications for an image, in millions; None where a library that has the network is missing.
    """

    seen: Measured
    unseen: Measured
    parameters: int
    cost: float | None


@register_experiment(
    "summary",
    title="Group network, canonicaliser, jitter, grey: which, and when?",
    about=(
        "The same few ways to meet colours that were not seen in training, over all data sets that other experiments "
        "have results of. Nothing is trained: the numbers are those of their reports in the same folder."
    ),
    quick="The same, of reports of quick versions too.",
    place=170,
)
def _run(setting: Setting, runner: Runner) -> Outcome:
    entries = runner.runs.ledger.read()
    found: dict[str, dict[str, Cell]] = {}
    for source in SOURCES:
        records = _records(runner, source.experiment, setting.quick)
        if cells := {way: cell for way in source.networks if (cell := _cell(source, way, records, entries))}:
            found[source.title] = cells
    if not found:
        names = ", ".join(dict.fromkeys(source.experiment for source in SOURCES))
        raise ValueError(f"{runner.root} has no report to sum up: run equicolor reproduce with one of {names} first")
    absent = [source.title for source in SOURCES if source.title not in found]
    tables = [
        _errors(found, "Error in % on colours that were not seen in training", "unseen"),
        _errors(found, "Error in % on colours as in training", "seen"),
        _costs(found),
    ]
    notes = [_NOTE, *([f"No results yet: {'; '.join(absent)}."] if absent else [])]
    return Outcome(_as_records(found), tables, notes=notes, conclusion=_conclusion(found))


def _conclusion(found: Mapping[str, Mapping[str, Cell]]) -> list[str]:
    """Who errs least where colours were not seen, column by column; and how often each way is that."""
    said, best = [], Counter[str]()
    for title, cells in found.items():
        unseen = {way: cell.unseen for way, cell in cells.items() if cell.unseen.values}
        if len(unseen) < 2:
            continue
        least = min(unseen, key=lambda way: unseen[way].mean)
        best[least] += 1
        plain = f" (plain {unseen['plain'].written()})" if least != "plain" and "plain" in unseen else ""
        said.append(f"{title}, {least} {unseen[least].written()}{plain}")
    if not said:
        return []
    often = ", ".join(f"{way} {count}" for way, count in best.most_common())
    return [
        f"On colours that were not seen in training, the least error in %: {'; '.join(said)}.",
        f"Of {len(said)} kinds of images each way errs least on so many: {often}. Differences within the deviations "
        "over seeds are chance.",
    ]


def _records(runner: Runner, experiment: str, quick: bool) -> list[Record]:
    """Those of a report; none where there is none, or one of a quick version that nobody asked for."""
    path = runner.root / experiment / "metrics.json"
    if not path.is_file():
        return []
    report = json.loads(path.read_text(encoding="utf-8"))
    return [] if report["quick"] and not quick else report["records"]


def _cell(source: Source, way: str, records: Sequence[Record], entries: Mapping[str, Entry]) -> Cell | None:
    own = [record for record in records if record.get("network") == source.networks[way]]
    seen, unseen = _by_seed(own, source.seen, source.metrics[0]), _by_seed(own, source.unseen, source.metrics[1])
    name = next((str(record["run"]) for record in own if "run" in record), "")
    if not seen.values or name not in entries:
        return None
    cost = _cost(json.dumps(entries[name].recipe), source.image_size, source.classes)
    return Cell(seen, unseen, int(entries[name].summary["parameters"]), cost)


def _by_seed(records: Sequence[Record], where: Where, metric: str) -> Measured:
    """The mean over the records of each seed that have these values."""
    found: dict[Value, list[float]] = {}
    for record in records:
        error = record.get(metric)
        if where and isinstance(error, float) and all(record.get(name) in values for name, values in where.items()):
            found.setdefault(record.get("seed"), []).append(error)
    return Measured([sum(each) / len(each) for each in found.values()])


@cache
def _cost(recipe: str, image_size: int, classes: int) -> float | None:
    """Multiplications in millions of the network of a recipe, untrained."""
    made = Recipe.from_dict(json.loads(recipe))
    options = {"num_classes": classes, **made.model_options}
    if is_from_elsewhere(made.model):
        options["pretrained"] = False
    try:
        model: nn.Module = create_model(made.model, made.group, **options)
    except ImportError:
        return None
    if made.canonicalize is not None:
        model = canonicalize(model, made.canonicalize, **made.canonicalize_options)
    image = torch.rand(1, 3, image_size, image_size, generator=torch.Generator().manual_seed(0))
    return multiply_adds(model, image).total / 1e6


def _errors(found: Mapping[str, Mapping[str, Cell]], title: str, which: Literal["seen", "unseen"]) -> Table:
    lines = []
    for images, cells in found.items():
        errors = {way: error for way, cell in cells.items() if (error := getattr(cell, which)).values}
        if not errors:
            continue
        seeds = sorted({len(error.values) for error in errors.values()})
        counts = " to ".join(map(str, dict.fromkeys((seeds[0], seeds[-1]))))
        lines.append([images, *(errors[way].written() if way in errors else "–" for way in WAYS), counts])
    return Table(title, ["images", *WAYS, "seeds"], lines)


def _costs(found: Mapping[str, Mapping[str, Cell]]) -> Table:
    lines = []
    for images, cells in found.items():
        line = [images]
        for way in WAYS:
            own, plain = (cells[each].cost if each in cells else None for each in (way, "plain"))
            line.append("–" if own is None or plain is None else f"{cells[way].parameters:,}, {own / plain:.2f}")
        lines.append(line)
    title = "Parameters, and multiplications for an image relative to the plain network"
    return Table(title, ["images", *WAYS], lines)


def _as_records(found: Mapping[str, Mapping[str, Cell]]) -> list[Record]:
    return [
        {
            "images": title,
            "network": way,
            "seen": cell.seen.mean,
            "seen_deviation": cell.seen.deviation,
            "unseen": cell.unseen.mean if cell.unseen.values else None,
            "unseen_deviation": cell.unseen.deviation if cell.unseen.values else None,
            "seeds": len(cell.seen.values),
            "parameters": cell.parameters,
            "million_multiplications": cell.cost,
        }
        for title, cells in found.items()
        for way, cell in cells.items()
    ]


_NOTE = (
    "Means over seeds, ± the standard deviation. Of cells, errors are balanced over both classes. One network stands "
    "for each way, by what changes in the images and not by how it fared: where light or stain changes, jitter of "
    "temperature and tint, the group of both in steps of three, a canonicaliser of both, and normalisation by "
    "the grey world; anchored, a canonicaliser that measures the move instead of learning it, as a shift of logits or "
    "as gains; where hue changes, jitter of hue, Hue-4, and a canonicaliser of hue. The reports of the single "
    "experiments have the others, and how long each was trained. Where "
    "colour is the class there is nothing unseen: the error is that of not seeing it."
)
