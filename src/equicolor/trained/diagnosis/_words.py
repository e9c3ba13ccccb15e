"""What a diagnosis of two sets found, in words and tables, for whoever shows it."""

from dataclasses import dataclass

from equicolor._tools.tables import Table
from equicolor._tools.words import in_unit
from equicolor.trained.diagnosis._network import ModelDiagnosis
from equicolor.trained.diagnosis._sets import ColorDiagnosis


@dataclass(frozen=True)
class Words:
    """A report without its pictures.

    Attributes:
        title: of the report.
        lines: what was found and what to do about it, a paragraph each.
        tables: what each family and each quantity explains.
    """

    title: str
    lines: tuple[str, ...]
    tables: tuple[Table, ...]


def words_of_sets(found: ColorDiagnosis) -> Words:
    """A diagnosis in words.

    Args:
        found: what :func:`diagnose_sets` returned.
    """
    counts = f"{found.images[0]:,} and {found.images[1]:,} images"
    often = f"{found.p_value:.1%} of the time"
    verdict = (
        f"The colours of {counts} are {found.distance:.1f} times as far apart as two samples of one set are. Dealt to "
        f"two sets at random, they are so far apart {'at most ' if found.differ else ''}{often}."
    )
    advice = found.recommendation
    lines = [verdict, *found.notes, advice.text]
    if advice.option:
        lines.append(f"To train so: equicolor train … {advice.option}")
    tables = (
        Table(
            "What a family of moves explains, all its quantities at once",
            ("family", "moves", "explained"),
            [(fit.family, str(fit), f"{fit.explained:.0%}") for fit in found.families],
            left=("family", "moves"),
        ),
        Table(
            "And one quantity alone",
            ("family", "move", "explained"),
            [(fit.family, str(fit), f"{fit.explained:.0%}") for fit in found.moves],
            left=("family", "move"),
        ),
    )
    return Words(f"From {found.source} to {found.target}", tuple(lines), tables if found.differ else ())


def words_of_model(found: ModelDiagnosis, title: str) -> Words:
    """What colour would do to a network, in words: what breaks it, the worst first, and what to do about it.

    Args:
        found: what :func:`diagnose_model` returned.
        title: the network and its images.
    """
    broken = [hold for hold in found.moves if hold.breaks_at is not None]
    verdict = f"It errs on {found.error:.1%} of {found.count:,} images as they are, and "
    if broken:
        worst = max(broken, key=lambda hold: hold.worst)
        verdict += (
            f"breaks under {len(broken)} of {len(found.moves)} moves that were tried: worst under {worst.quantity}, "
            f"where it errs on up to {worst.worst:.1%}."
        )
        lines = [verdict, *(each.text for each in found.recommendations.values())]
    elif found.few:
        known = f"that is too few to tell what breaks it: an error up to {found.allowed:.1%} may be chance."
        lines = [f"{verdict}{known}"]
    else:
        lines = [f"{verdict}holds under every move that was tried, as far as jitter goes: nothing to do against those."]
    if found.better is not None:
        hold = found.better
        at = min(hold.errors, key=hold.errors.__getitem__)
        lines.append(
            f"Moved by {hold.quantity} {in_unit(f'{at:+.3g}', hold.unit)} it errs on {hold.best:.1%} only: these "
            "images seem to differ in colour from those of its training: compare both, diagnose --source … --target …"
        )
    rows = [
        (
            hold.quantity,
            hold.range,
            f"{hold.worst:.1%}",
            "" if hold.breaks_at is None else in_unit(f"{hold.breaks_at:+.3g}", hold.unit),
            ", ".join(hold.classes),
            hold.group or "",
        )
        for hold in found.moves
    ]
    lines.append("Between the amounts that were tried, nothing is known: evaluate --curve tries them finely.")
    columns = ("moved", "holds within", "worst", "breaks at", "classes that break first", "would be covered by")
    table = Table(
        f"{title}: error {found.error:.1%} on {found.count:,} images, up to {found.allowed:.1%} holds",
        columns,
        rows,
        left=(columns[0], columns[1], columns[4], columns[5]),
    )
    return Words(title, tuple(lines), (table,))
