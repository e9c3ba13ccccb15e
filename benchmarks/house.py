"""Counts the lines of every room of the house, before the rooms were made and now: the table in docs/architecture.md.

git worktree add ../before c937bbf
python benchmarks/house.py ../before
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path("src") / "equicolor"
#: Where the job of a room was done before, if not in a room of its name: files and packages.
BEFORE = {
    "_tools": (
        "_tools",
        "_output.py",
        "data/_lazy.py",
        "data/_images.py",
        "nn/_computed.py",
        "nn/_leaf.py",
        "nn/_strided.py",
    ),
    "algorithms": ("algorithms.py",),
    "baselines": ("nn/_ceconv.py",),
    "color": ("color.py",),
    "groups": ("groups.py",),
    "nn": ("nn",),
    "convert": ("convert.py", "_convert"),
    "files": ("files.py",),
    "deploy": ("deploy.py",),
    "measure": ("measure.py",),
    "trained": ("_open.py", "evaluate.py", "predict.py", "sorting.py", "inspection.py", "plots.py"),
    "comparison": ("experiments/_runs.py", "experiments/_report.py"),
    "commands": ("commands", "cli.py"),
    "__init__.py": ("__init__.py", "__main__.py"),
}
#: Rooms that are counted with another.
WITH = {"cli.py": "commands", "__main__.py": "__init__.py"}
LEFT_OUT = ("py.typed", "__pycache__")
_EXPERIMENTS = (
    "camelyon17 equivariance feature_maps imagenet invertibility luminance natural sample_efficiency saturation "
    "segmentation shapes3d sorting trajectories"
)
#: Jobs that are the same as before: the folder then and now, and the files in it.
SAME = {
    "the experiments of before; they also say now what came out": (
        ("experiments", _EXPERIMENTS),
        ("experiments", _EXPERIMENTS),
    ),
    "the layers of the group convolution": (
        ("nn", "_bilinear _combine _conv _cost _dropout _linear"),
        ("nn", "_bilinear _combine _conv _cost _dropout _linear"),
    ),
    "the renderer of the shapes": (
        ("data", "_shapes _shapes_cache _shapes_geometry _shapes_solids"),
        ("data/shapes", "_cache _factors _geometry _render _solids"),
    ),
    "downloads": (("data", "_download"), ("data", "_download")),
}


def python_files(root: Path, names: tuple[str, ...]) -> list[Path]:
    """The files that these names stand for."""
    places = [root / SOURCE / name for name in names]
    return [file for place in places for file in ([place] if place.is_file() else sorted(place.rglob("*.py")))]


def without_code(tree: ast.AST) -> Iterator[int]:
    """The numbers of the lines that are docstrings, imports or lists of exports."""
    for node in ast.walk(tree):
        exports = isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
        text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        if exports or text or isinstance(node, ast.Import | ast.ImportFrom):
            yield from range(node.lineno, (node.end_lineno or node.lineno) + 1)


def counted(files: list[Path]) -> tuple[int, int]:
    """All lines, and those of code: no docstrings, imports, exports, comments and blanks."""
    every = code = 0
    for file in files:
        lines = file.read_text(encoding="utf-8").splitlines()
        skipped = set(without_code(ast.parse("\n".join(lines))))
        every += len(lines)
        code += sum(
            bool(line.strip()) and not line.strip().startswith("#") and number not in skipped
            for number, line in enumerate(lines, 1)
        )
    return every, code


def main() -> None:
    """Prints two tables in Markdown: all rooms, and jobs that are the same as before."""
    before, now = Path(sys.argv[1]), Path(__file__).parents[1]
    rooms = [place.name for place in sorted((now / SOURCE).iterdir()) if place.name not in (*LEFT_OUT, *WITH)]
    taken = {name for names in BEFORE.values() for name in names}
    print("| room | lines before | now | of code before | now |\n| --- | ---: | ---: | ---: | ---: |")
    total = [0, 0, 0, 0]
    for room in rooms:
        own = (room, *(name for name, other in WITH.items() if other == room))
        old = [
            file
            for file in python_files(before, BEFORE.get(room, (room,)))
            if file.relative_to(before / SOURCE).as_posix() in BEFORE.get(room, ())
            or file.relative_to(before / SOURCE).as_posix() not in taken
        ]
        numbers = [*counted(old), *counted(python_files(now, own))]
        total = [a + b for a, b in zip(total, numbers, strict=True)]
        print(f"| `{room}` | {numbers[0]:,} | {numbers[2]:,} | {numbers[1]:,} | {numbers[3]:,} |")
    print(f"| all | {total[0]:,} | {total[2]:,} | {total[1]:,} | {total[3]:,} |")
    print("\n| the same job | lines before | now | of code before | now |\n| --- | ---: | ---: | ---: | ---: |")
    for job, places in SAME.items():
        numbers = []
        for root, (folder, names) in zip((before, now), places, strict=True):
            numbers += counted(python_files(root, tuple(f"{folder}/{name}.py" for name in names.split())))
        print(f"| {job} | {numbers[0]:,} | {numbers[2]:,} | {numbers[1]:,} | {numbers[3]:,} |")


if __name__ == "__main__":
    main()
