"""Draws which room of the house imports which, from the imports as they are: docs/images/import-graph.png.

python benchmarks/import_graph.py [FILE]
"""

import sys
from collections import Counter
from pathlib import Path
from typing import Any

import grimp
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    import tomli as tomllib

ROOT = Path(__file__).parents[1]
PACKAGE = "equicolor"
#: Shared by all: lines to it from everywhere would say nothing.
TOOLS = "_tools"
COLOURS = {
    "what people start": "#c44e52",
    "work with images": "#55a868",
    "the library": "#4c72b0",
    "helpers": "#8c8c8c",
}
FLOORS = {"the library": "files", "work with images": "metrics", "what people start": "comparison"}


def layers() -> list[list[str]]:
    """The rooms from the lowest floor up, as the linter has them."""
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    (found,) = [contract["layers"] for contract in config["contracts"] if contract["type"] == "layers"]
    rooms = [[room.strip(" ()") for room in floor.split("|")] for floor in found]
    return [floor for floor in reversed(rooms) if floor != ["__main__"]]


def imports() -> Counter[tuple[str, str]]:
    """How many modules of one room import modules of another."""
    graph = grimp.build_graph(PACKAGE, cache_dir=None)
    pairs: Counter[tuple[str, str]] = Counter()
    for importer in graph.modules:
        for imported in graph.find_modules_directly_imported_by(importer):
            rooms = [name.split(".")[1] for name in (importer, imported) if "." in name]
            if len(rooms) == 2 and rooms[0] != rooms[1] and "__main__" not in rooms:
                pairs[rooms[0], rooms[1]] += 1
    return pairs


def is_implied(pair: tuple[str, str], pairs: Counter[tuple[str, str]]) -> bool:
    """Whether a room is reached from another by way of a third, too."""
    importer, imported = pair
    ways = [middle for start, middle in pairs if start == importer and middle != imported]
    return any((middle, imported) in pairs or is_implied((middle, imported), pairs) for middle in ways)


def lines(room: str) -> int:
    """Of the source of a room."""
    place = ROOT / "src" / PACKAGE / room
    files = place.rglob("*.py") if place.is_dir() else [place.with_suffix(".py")]
    return sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)


def colour(height: int, floors: list[list[str]]) -> str:
    """By what a floor is for: the helpers, the library, work with images, what people start."""
    starts = {name: next(i for i, floor in enumerate(floors) if first in floor) for name, first in FLOORS.items()}
    if floors[height] == [TOOLS]:
        return COLOURS["helpers"]
    if height >= starts["what people start"]:
        return COLOURS["what people start"]
    return COLOURS["work with images" if height >= starts["work with images"] else "the library"]


def draw(floors: list[list[str]], pairs: Counter[tuple[str, str]]) -> Figure:
    """A tower of rooms, its floors those of the linter, with a line down for each import of one room by another.

    Faint where there is a way through a third room, too.
    """
    figure = Figure(figsize=(9, 11.5), layout="constrained")
    axes: Any = figure.subplots()
    places = {
        room: (2.6 * (column - (len(floor) - 1) / 2), height)
        for height, floor in enumerate(floors)
        for column, room in enumerate(floor)
    }
    for (importer, imported), count in sorted(pairs.items()):
        if TOOLS in (importer, imported):
            continue
        (x0, y0), (x1, y1) = places[importer], places[imported]
        near = y0 - y1 <= 1
        alpha = 0.13 if is_implied((importer, imported), pairs) else 0.85
        # Further down, the line bends further out; lines that start on one floor part to both sides.
        side = 1 if (int(y0) + int(y1)) % 2 else -1
        bend = 0 if near else side * 0.11
        style = {
            "arrowstyle": "-|>",
            "color": colour(int(y0), floors),
            "alpha": alpha,
            "shrinkA": 0,
            "shrinkB": 0,
            "zorder": 1,
        }
        ends = (0.0, 0.0) if near else (side * 1.05, side * 1.05)
        axes.annotate(
            "",
            xy=(x1 + ends[1], y1 + (0.3 if near else 0)),
            xytext=(x0 + ends[0], y0 - (0.3 if near else 0)),
            arrowprops={**style, "lw": 0.5 + 0.35 * count**0.6, "connectionstyle": f"arc3,rad={-3.2 * bend}"},
        )
    for room, (x, y) in places.items():
        shade = colour(int(y), floors)
        axes.add_patch(
            FancyBboxPatch(
                (x - 1, y - 0.26), 2, 0.52, "round,pad=0.04", facecolor="white", edgecolor=shade, lw=2, zorder=5
            )
        )
        axes.text(x, y + 0.07, room, ha="center", va="center", fontsize=12, weight="bold", color=shade, zorder=6)
        axes.text(x, y - 0.15, f"{lines(room):,} lines", ha="center", va="center", fontsize=8, color="0.35", zorder=6)
    users = len({importer for importer, imported in pairs if imported == TOOLS})
    axes.text(
        1.25, 0, f"imported by {users} of the other {len(places) - 1} rooms", va="center", fontsize=9, color="0.35"
    )
    for number, (name, shade) in enumerate(COLOURS.items()):
        axes.text(-4.6, len(floors) - 1 - 0.45 * number, name, color=shade, fontsize=11, weight="bold")
    axes.set(xlim=(-4.8, 4.8), ylim=(-0.6, len(floors) - 0.4))
    axes.axis("off")
    return figure


def main() -> None:
    """Draws, and prints what is drawn."""
    floors, pairs = layers(), imports()
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "images" / "import-graph.png"
    draw(floors, pairs).savefig(path, dpi=110)
    print(f"{sum(map(len, floors))} rooms, {len(pairs)} pairs of which one imports the other")


if __name__ == "__main__":
    main()
