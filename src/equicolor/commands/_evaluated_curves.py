"""What ``evaluate --curve`` shows and writes: the error against a colour shift, and another network's beside it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from equicolor._tools.files import write_csv, write_picture
from equicolor._tools.pages import Drawing
from equicolor._tools.tables import Table, show_table
from equicolor._tools.words import in_unit
from equicolor.commands import _console as console
from equicolor.commands._evaluated import About
from equicolor.commands._page import write_page
from equicolor.commands._sets import NamedSet

if TYPE_CHECKING:
    from equicolor.trained import Evaluation, Opened

    #: By the set, by the shift.
    Curves = Mapping[str, Mapping[float, Evaluation]]


@dataclass(frozen=True)
class Other:
    """Another network, and its curves on the same sets."""

    opened: "Opened"
    results: "Curves"

    @property
    def label(self) -> str:
        """What it is called beside the first."""
        return _label(self.opened)


def _label(opened: "Opened") -> str:
    network = opened.architecture
    return f"{network['name']}, {network['group'] or 'no group'}"


def show_curves(
    about: About, quantity: str, results: "Curves", metrics: Sequence[str], other: Other | None = None
) -> Table:
    """A row for each shift: of one set its metrics, of several the first metric of each; then the other network's."""
    from equicolor.groups import factor_kind
    from equicolor.metrics import METRICS

    unit = factor_kind(quantity).unit
    several = len(results) > 1
    names = list(results) if several else [METRICS[name] for name in metrics]
    if other is not None:
        names += [f"{name} of {other.label}" for name in (results if several else [METRICS[metrics[0]]])]
    rows = []
    for shift in next(iter(results.values())):
        found = [curve[shift].values() for curve in results.values()]
        values = [each.get(metrics[0]) for each in found] if several else [found[0].get(name) for name in metrics]
        if other is not None:
            values += [curve[shift].values().get(metrics[0]) for curve in other.results.values()]
        rows.append((in_unit(f"{shift:g}", unit), *("–" if value is None else f"{value:.2%}" for value in values)))
    what = f"{METRICS[metrics[0]]} on several sets" if several else f"on {next(iter(results))}"
    table = Table(f"{about.title}, {what}", (f"{quantity} shift", *names), rows, left=())
    show_table(table)
    return table


def write_curves(
    about: About,
    quantity: str,
    sets: Sequence[NamedSet],
    results: "Curves",
    metrics: Sequence[str],
    other: Other | None,
    table: Table,
    command: str,
) -> None:
    """A table for each set, and one plot of the first metric on all of them, also on a page."""
    from equicolor.metrics import METRICS
    from equicolor.trained import plot_curve

    ending = f"-{quantity}-curve.csv"
    for chosen in sets:
        numbers = {shift: result.values() for shift, result in results[chosen.title].items()}
        beside = {} if other is None else {s: r.values() for s, r in other.results[chosen.title].items()}
        stem = about.stem(chosen.stem, (ending,))
        rows = [
            (shift, *(each.get(name) for name in metrics), *([beside[shift].get(metrics[0])] if beside else []))
            for shift, each in numbers.items()
        ]
        header = ("shift", *map(_column, metrics), *([f"{_column(metrics[0])}_against"] if beside else []))
        console.note(f"Table: {write_csv(stem.with_name(stem.name + ending), header, rows)}")
    factors = getattr(about.opened.group, "factors", ())
    order = next((factor.order for factor in factors if factor.prefix == quantity), 0)
    title = about.title if len(results) > 1 else f"{about.title}, on {sets[0].title}"
    own = _label(about.opened)
    curves = {own: _values(results, metrics[0])} | ({other.label: _values(other.results, metrics[0])} if other else {})
    if other is not None and other.label == own:  # two seeds, say
        curves = {own: _values(results, metrics[0]), f"{own} (against)": _values(other.results, metrics[0])}
    rest = {label: each for label, each in curves.items() if label != own}
    figure = plot_curve(quantity, curves[own], title, order, METRICS[metrics[0]], network=own, against=rest)
    joined = "-".join(chosen.stem for chosen in sets)
    endings = (f"-{quantity}-curve.png", f"-{quantity}-curve.html")
    stem = about.stem(joined if len(joined) <= 100 else f"{len(sets)}-sets", endings)
    said = _said(quantity, METRICS[metrics[0]], curves)
    for line in said:
        print(line)
    drawing = Drawing(figure, f"Lines of the {METRICS[metrics[0]]} against a {quantity} shift. {' '.join(said)}")
    picture = write_picture(stem.with_name(stem.name + endings[0]), figure)
    page = write_page(stem.with_name(stem.name + endings[1]), title, said, [table], [drawing], command)
    console.note(f"Plot: {picture}, with its numbers on a page: {page}")


def _values(results: "Curves", metric: str) -> dict[str, dict[float, float]]:
    """Set → shift → number, where there is one."""
    return {
        name: {shift: value for shift, each in curve.items() if (value := each.values().get(metric)) is not None}
        for name, curve in results.items()
    }


def _said(quantity: str, metric: str, curves: Mapping[str, Mapping[str, Mapping[float, float]]]) -> list[str]:
    """From where to where each line goes, and where it is highest."""
    from equicolor.groups import factor_kind

    unit, found = factor_kind(quantity).unit, []
    for label, sets in curves.items():
        for name, curve in sets.items():
            if not curve:
                continue
            most = max(curve, key=lambda shift: curve[shift])
            if curve[most] == min(curve.values()):
                found.append(f"{label}, on {name}: {metric} {curve[most]:.1%}, whatever the {quantity}.")
                continue
            found.append(
                f"{label}, on {name}: {metric} from {min(curve.values()):.1%} to {curve[most]:.1%} over shifts of "
                f"{quantity}, most at {in_unit(format(most, 'g'), unit)}."
            )
    return found


def _column(metric: str) -> str:
    return "calibration_error" if metric == "ece" else metric
