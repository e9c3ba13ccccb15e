"""What ``evaluate`` shows and writes: one table of all sets, and for each set its numbers and its predictions."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from equicolor._tools import environment
from equicolor._tools.files import write_csv, write_json
from equicolor._tools.tables import Table, show_table
from equicolor._tools.words import named
from equicolor.commands._page import write_page
from equicolor.commands._sets import NamedSet, free_stem

if TYPE_CHECKING:
    from equicolor.data import ImageSet
    from equicolor.metrics import Score
    from equicolor.trained import Evaluation, Opened

#: Larger confusion matrices, and tables of more classes, are written to a file, not printed.
_LARGEST_PRINTED = 12
#: Resamples of fewer clusters are too much alike: their intervals are too narrow.
_FEW = 10
#: The probabilities of more classes are not written: 'predict' does so.
_MOST_WRITTEN = 100


@dataclass(frozen=True)
class About:
    """What all sets of an evaluation have in common."""

    model: str
    opened: "Opened"
    shift: str | None
    limit: int | None
    folder: Path

    @property
    def title(self) -> str:
        """One line for a table."""
        return self.opened.describe() + (f", under {self.shift}" if self.shift else "")

    def stem(self, name: str, endings: Sequence[str]) -> Path:
        """Of files that are not there yet."""
        moved = (self.shift or "").replace(":", "_").replace(",", "-")
        return free_stem(self.folder, "-".join(filter(None, (name, moved))), endings)


# ------------------------------------------------------------------------------------------------ numbers


def show(about: About, results: "Mapping[str, Evaluation]", metrics: Sequence[str]) -> None:
    """One table: a row for each set, and for each domain of a set that has several."""
    table, known = _numbers(about, results, metrics)
    show_table(table)
    print(*_explained(results, known), sep="\n", end="\n\n")
    if len(results) == 1:
        for each in _class_tables(next(iter(results.values())), [name for name in known if name != "error"]):
            show_table(each)


def _numbers(about: About, results: "Mapping[str, Evaluation]", metrics: Sequence[str]) -> tuple[Table, list[str]]:
    """The table, and the metrics that are in it."""
    from equicolor.metrics import METRICS

    rows: list[tuple[str, Evaluation]] = []
    for name, result in results.items():
        rows.append((name, result))
        if len(result.by_domain) > 1:
            rows += [(f"  {domain}", part) for domain, part in result.by_domain.items()]
    # What is only another's complement is shown where it is asked for.
    asked = [name for name in metrics if name != "balanced_error" or len(metrics) < len(METRICS)]
    known = [name for name in asked if any(name in result.metrics for result in results.values())]
    columns = ("set", "images", *(METRICS[name].replace(" ", "\n") for name in known))
    cells = [
        (name, f"{len(each.predictions):,}", *(_cell(each.metrics.get(metric)) for metric in known))
        for name, each in rows
    ]
    return Table(about.title, columns, cells), known


def _cell(score: "Score | None") -> str:
    """The number, and its interval below it."""
    if score is None or score.value is None:
        return "–"
    return f"{score.value:.2%}" + (f"\n{score.interval.replace(', ', '–')}" if score.interval else "\n")


def _explained(results: "Mapping[str, Evaluation]", metrics: Sequence[str]) -> list[str]:
    """What one must know to read the table."""
    from equicolor.metrics import METRICS

    ways = {f"positive is {r.positive!r}" if r.positive else "means over classes" for r in results.values()}
    names = ", ".join(METRICS[name] for name in metrics if name in ("auc", "f1", "iou", "sensitivity", "specificity"))
    drawn = {"images" if result.clusters is None else "clusters of images" for result in results.values()}
    few = [
        f"{name} has {found} clusters, too few for its intervals to say much."
        for name, result in results.items()
        if result.clusters is not None and (found := len(set(result.clusters.codes.tolist()))) < _FEW
    ]
    return [
        *([f"{names}: {'; '.join(sorted(ways))}."] if names else []),
        f"Below each number: its 95 % interval, by 1,000 resamples of {' or '.join(sorted(drawn))}.",
        *few,
    ]


def _class_tables(result: "Evaluation", metrics: Sequence[str]) -> list[Table]:
    """The confusion of classes, and each of them against the rest; of very many classes, nothing."""
    from equicolor.metrics import METRICS

    if len(result.classes) > _LARGEST_PRINTED:
        return []
    tables = [Table("Confusion", *_confusion(result))]
    per_class = result.per_class
    known = [name for name in metrics if any(name in those for those in per_class.values())]
    counts = result.confusion.sum(1).tolist()
    rows = [
        (name, f"{count:,}", *(_cell(those.get(metric)) for metric in known))
        for (name, those), count in zip(per_class.items(), counts, strict=True)
    ]
    if known:
        columns = ("class", "true", *(METRICS[name] for name in known))
        tables.append(Table("Each class against the rest", columns, rows))
    return tables


def _confusion(result: "Evaluation") -> tuple[tuple[str, ...], list[tuple[object, ...]]]:
    """The header and the rows of the confusion matrix."""
    rows: list[tuple[object, ...]] = [
        (name, *counts, "" if error != error else f"{error:.1%}")
        for name, counts, error in zip(result.classes, result.confusion.tolist(), result.class_errors, strict=True)
    ]
    return ("true \\ predicted", *result.classes, "error"), rows


# ------------------------------------------------------------------------------------------------ files


def write(
    about: About, chosen: NamedSet, images: "ImageSet", result: "Evaluation", metrics: Sequence[str], command: str
) -> str:
    """The files of one set: all numbers, the confusion, the probabilities of every image, a page. Says which."""
    stem = about.stem(chosen.stem, (".json", "-confusion.csv", "-predictions.csv", ".html"))
    written = [write_csv(stem.with_name(f"{stem.name}-confusion.csv"), *_confusion(result))]
    if rows := _predictions(result):
        written.append(write_csv(stem.with_name(f"{stem.name}-predictions.csv"), *rows))
    content = {"title": f"{about.title}, on {chosen.title}", **_context(about, chosen, images), **result.summary()}
    numbers = write_json(stem.with_name(f"{stem.name}.json"), content)
    table, known = _numbers(about, {chosen.title: result}, metrics)
    tables = [table, *_class_tables(result, [name for name in known if name != "error"])]
    said = [*_said(chosen, result), *_explained({chosen.title: result}, known)]
    title = f"{about.title}, on {chosen.title}"
    page = write_page(stem.with_name(f"{stem.name}.html"), title, said, tables, [], command)
    names = [path.name for path in (*written, page)]
    return f"All numbers of {chosen.title}: {numbers}, with {named(names)}"


def _said(chosen: NamedSet, result: "Evaluation") -> list[str]:
    """The error, and what is taken for what most often."""
    score = result.metrics["error"]
    interval = f" (95 %: {score.interval.replace(', ', '–')})" if score.interval else ""
    found = [f"It errs on {result.error:.1%}{interval} of {len(result.predictions):,} images of {chosen.title}."]
    wrong = result.confusion.clone()
    wrong.fill_diagonal_(0)
    if int(wrong.max()) > 0 and len(result.classes) > 2:
        true, called = divmod(int(wrong.argmax()), wrong.shape[1])
        found.append(
            f"Most often {result.classes[true]!r} is taken for {result.classes[called]!r}: {int(wrong.max()):,} times."
        )
    return found


def _context(about: About, chosen: NamedSet, images: "ImageSet") -> dict[str, Any]:
    """What was evaluated, on what, and when."""
    opened = about.opened
    plan = opened.preparation
    return {
        "model": {"folder": about.model, "network": opened.describe(), "sha256": opened.card.sha256},
        "data": {
            "name": chosen.name,
            "root": None if chosen.root is None else str(chosen.root),
            "split": chosen.split,
            "images": len(images),
            "limit": about.limit,
            "shift": about.shift,
            "fingerprint": images.fingerprint().digest,
        },
        "image_size": images.image_size if plan is None else plan.image_size,
        "preprocessing": None if plan is None else {**asdict(plan), "normalization": opened.card.normalization},
        "time": environment.now(),
        "library_version": environment.version("equicolor"),
    }


def _predictions(result: "Evaluation") -> tuple[list[str], list[list[object]]] | None:
    """A header and a row for each image; nothing of a segmentation, or of very many classes."""
    from equicolor.metrics import Predictions

    said = result.predictions
    if not isinstance(said, Predictions) or len(result.classes) > _MOST_WRITTEN:
        return None
    columns = {"domain": result.domains, "cluster": result.clusters}
    known = {name: column.values for name, column in columns.items() if column is not None}
    header, rows = ["file", "true", "predicted", *known, *(f"p({name})" for name in result.classes)], []
    labels, called = said.labels.tolist(), said.called.tolist()
    for place, each in enumerate(said.probabilities.tolist()):
        about = [result.names[place], result.classes[labels[place]], result.classes[called[place]]]
        # Nine digits, from which the very float32 is read again.
        rows.append([*about, *(values[place] for values in known.values()), *(f"{value:.9g}" for value in each)])
    return header, rows
