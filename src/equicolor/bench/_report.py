"""Measurements as tables for the terminal, and as a plot of cost against n."""

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from equicolor import algorithms
from equicolor._tools.pictures import new_figure
from equicolor._tools.tables import Table
from equicolor.bench.networks import PHASES
from equicolor.groups import Hue

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Record = dict[str, Any]
#: Sizes of the sweep that are shown: where ``auto`` loses most. All are in the JSON file.
_SHOWN_LAYERS = 10
_PHASE_NAMES = {"training": "training step", "inference": "inference"}


def tables(results: dict[str, Any]) -> list[Table]:
    """One for each network and phase, and one for each other part that was measured."""
    found = []
    for (network, phase), records in groupby(results.get("networks", []), lambda r: (r["network"], r["phase"])):
        those = list(records)
        found.append(_network_table(network, phase, those))
        if profiled := [record for record in those if "profile" in record]:
            found.append(_profile_table(network, phase, profiled))
    if results.get("layers"):
        found.append(_layer_table(results["layers"], results["layers_summary"]))
    parts = {"canonical": _canonical_table, "lift": _lift_table, "families": _family_table, "data": _data_table}
    return found + [make(results[name]) for name, make in parts.items() if results.get(name)]


def _network_table(network: str, phase: str, records: list[Record]) -> Table:
    size = records[0]["image_size"]
    title = f"{network}, {_PHASE_NAMES[phase]}, batch {records[0]['batch']}, {size}×{size}"
    columns = ("group", "algorithm", "mode", "parameters", "time", "×", "memory", "×", "multiply-adds", "×")
    rows = [
        (
            r["group"] or "plain",
            r["algorithm"] if r["group"] else "",
            r["mode"],
            f"{r['parameters']:,}",
            f"{1e3 * r['seconds']:,.1f} ms",
            f"{r['ratio']:.2f}",
            f"{r['peak_memory'] / 1e6:,.1f} MB",
            f"{r['memory_ratio']:.2f}",
            f"{r['multiply_adds'] / 1e6:,.0f} M",
            f"{r['multiply_adds_ratio']:.2f}",
        )
        for r in records
    ]
    return Table(f"{title} (×: relative to plain in the same mode)", columns, rows, columns[:3])


def _profile_table(network: str, phase: str, records: list[Record]) -> Table:
    kinds = tuple(records[0]["profile"])
    rows = [
        (
            r["group"] or "plain",
            r["algorithm"] if r["group"] else "",
            *(f"{1e3 * r['profile'][kind]:,.1f}" for kind in kinds),
        )
        for r in records
    ]
    return Table(
        f"{network}, {_PHASE_NAMES[phase]}: where the time goes, in ms of a profiled call",
        ("group", "algorithm", *kinds),
        rows,
        ("group", "algorithm"),
    )


def _canonical_table(records: list[Record]) -> Table:
    columns = ("canonicalised", "images", "phase", "time", "×", "memory ×", "multiply-adds ×")
    rows = [
        (
            r["canonicalize"] or "plain",
            f"{r['batch']} of {r['image_size']}×{r['image_size']}",
            _PHASE_NAMES[r["phase"]],
            f"{1e3 * r['seconds']:,.1f} ms",
            f"{r['ratio']:.2f}",
            f"{r['memory_ratio']:.2f}",
            f"{r['multiply_adds_ratio']:.3f}",
        )
        for r in records
    ]
    return Table(f"{records[0]['network']} behind a canonicaliser (×: relative to plain)", columns, rows, columns[:3])


def _layer_table(records: list[Record], summary: dict[str, float]) -> Table:
    share = f"{summary['share_within_5_percent']:.1%} of {summary['timings']:,} timings within 5 %"
    loss = f"mean loss {summary['mean_loss']:.1%}, worst {summary['worst_loss']:.1%}"
    title = f"auto against the better of direct and fast: {share}, {loss}; where it loses most:"
    columns = ("group", "kernel", "channels", "map", "phase", "direct", "fast", "auto", "loss")
    every = [(r[phase]["loss"], r, phase) for r in records for phase in PHASES]
    every.sort(key=lambda each: -each[0])
    rows = [
        (
            r["group"],
            f"{r['kernel']}×{r['kernel']}",
            f"{r['width_in']}→{r['width_out']}",
            f"{r['map_size']}×{r['map_size']}",
            phase,
            f"{1e3 * r[phase]['direct']:.3f} ms",
            f"{1e3 * r[phase]['fast']:.3f} ms",
            r[phase]["auto"],
            f"{loss:.1%}",
        )
        for loss, r, phase in every[:_SHOWN_LAYERS]
    ]
    return Table(title, columns, rows, ("group", "phase", "auto"))


def _lift_table(records: list[Record]) -> Table:
    first = records[0]
    title = f"Lift to {first['group']}, batch {first['batch']}, {first['image_size']}×{first['image_size']}"
    columns = ("way", "µs per image", "times faster than PIL", "than kornia")
    faster = ("times_faster_than_pil", "times_faster_than_kornia")
    rows = [
        (r["way"], f"{1e6 * r['seconds_per_image']:.2f}", *("" if r[k] is None else f"{r[k]:.1f}" for k in faster))
        for r in records
    ]
    return Table(title, columns, rows, columns[:1])


def _family_table(records: list[Record]) -> Table:
    first = records[0]
    title = f"Lift, one element of the group, batch {first['batch']}, {first['image_size']}×{first['image_size']}"
    columns = ("group", "layout", "mode", "µs per image", f"× {first['group']}")
    rows = [
        (r["group"], r["layout"], r["mode"], f"{1e6 * r['seconds_per_element']:.2f}", f"{r['ratio']:.2f}")
        for r in records
    ]
    return Table(title, columns, rows, columns[:3])


def _data_table(records: list[Record]) -> Table:
    first = records[0]
    title = f"Load, augment and lift {first['data']} to {first['group']}, batch {first['batch']}"
    columns = ("way", "images per second", "times faster than PIL")
    rows = [(r["way"], f"{r['images_per_second']:,.0f}", f"{r['times_faster_than_pil']:.1f}") for r in records]
    return Table(title, columns, rows, columns[:1])


def plot_cost(records: Sequence[Record]) -> "Figure":
    """Cost against n: for each network and phase the hue groups as lines, with what multiply-adds alone would cost.

    Groups other than hue are points with their names.
    """
    networks = list(dict.fromkeys(record["network"] for record in records))
    figure = new_figure(11, 3.8 * len(networks))
    grid = figure.subplots(len(networks), len(PHASES), squeeze=False)
    for row, network in enumerate(networks):
        for column, phase in enumerate(PHASES):
            own = [r for r in records if (r["network"], r["phase"]) == (network, phase) and r["group"]]
            _draw(grid[row, column], own, f"{network}, {_PHASE_NAMES[phase]}")
    return figure


def _draw(axes: "Axes", records: Sequence[Record], title: str) -> None:
    largest = max(12, *(r["order"] for r in records)) if records else 12
    orders = range(1, largest + 1)
    axes.plot(orders, orders, ":", color="0.6", label="n: the filter bank, in multiply-adds")
    bound = [algorithms.fast(Hue(n)).rank / n if n > 1 else 1.0 for n in orders]
    axes.plot(orders, bound, "--", color="0.6", label="R/n: ours, in multiply-adds")
    ways = list(dict.fromkeys((r["algorithm"], r["mode"]) for r in records))
    for number, way in enumerate(ways):
        own = sorted((r for r in records if (r["algorithm"], r["mode"]) == way), key=lambda r: r["order"])
        hues = [r for r in own if r["group"] == f"hue{r['order']}"]
        colour, label = f"C{number}", ", ".join(way).replace("floor", "floor: without transforms")
        axes.plot([1, *(r["order"] for r in hues)], [1, *(r["ratio"] for r in hues)], "o-", color=colour, label=label)
        for r in own:
            if r not in hues:
                axes.plot(r["order"], r["ratio"], "x", color=colour)
                place = (r["order"], r["ratio"])
                axes.annotate(r["group"], place, color=colour, fontsize="x-small", ha="right", va="bottom")
    axes.set(title=title, xlabel="n, elements of the group", ylabel="time relative to the plain network")
    axes.set(xlim=(0.5, largest + 0.5), ylim=(0, None), xticks=orders)
    axes.grid(alpha=0.3)
    axes.legend(fontsize="x-small")
