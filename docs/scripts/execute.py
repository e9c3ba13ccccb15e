"""Runs the code of a notebook from its first cell to its last, and saves in it what the cells print and draw.

    python docs/scripts/execute.py docs/tutorials/first-steps.ipynb
    python docs/scripts/execute.py docs/tutorials/first-steps.ipynb --small   # a rehearsal: quick, and nothing is saved

The cells are plain Python, run one after the other in this process, in an empty folder. As in Jupyter, a figure that is
open at the end of a cell is shown, and so is the value of its last line. In the small form, the names that the metadata
of the notebook has under "small" get these values after the cell that is tagged "parameters".
"""

import argparse
import ast
import base64
import contextlib
import hashlib
import io
import json
import os
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("agg")

from matplotlib import pyplot as plt
from matplotlib.figure import Figure

_DPI = 100


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("notebook", type=Path)
    parser.add_argument("--small", action="store_true", help="as little of everything as will do, and save nothing")
    options = parser.parse_args()
    path = options.notebook.resolve()
    notebook = json.loads(path.read_text(encoding="utf-8"))
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            run(notebook, small=options.small)
        finally:
            os.chdir(here)
    if not options.small:
        path.write_text(written(notebook), encoding="utf-8")


def run(notebook: dict[str, Any], *, small: bool) -> None:
    """Runs the cells, and puts their outputs in; an error is shown with its cell, and raised."""
    warnings.formatwarning = lambda message, category, *_: (
        f"{category.__name__}: {message}\n"
    )  # no paths of this machine
    names: dict[str, Any] = {"__name__": "__main__"}
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for number, cell in enumerate(cells, start=1):
        cell["execution_count"] = number
        try:
            cell["outputs"] = outputs("".join(cell["source"]), names, number)
        except BaseException:
            print(f"In cell {number}:\n\n{''.join(cell['source'])}\n", file=sys.stderr)
            raise
        if small and "parameters" in cell["metadata"].get("tags", ()):
            changes = notebook["metadata"]["small"]
            if unknown := changes.keys() - names.keys():
                raise KeyError(f"the small form sets {unknown}, which the parameters have not")
            names.update(changes)
    notebook["metadata"]["executed"] = digest(notebook)


def outputs(code: str, names: dict[str, Any], number: int) -> list[dict[str, Any]]:
    """What a cell prints, what its last line is, and what it draws."""
    tree = ast.parse(code, f"cell {number}")
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    said, complained, value = io.StringIO(), io.StringIO(), None
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(complained):
        exec(compile(tree, f"cell {number}", "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), f"cell {number}", "eval"), names)
    found = [
        {"name": name, "output_type": "stream", "text": stream.getvalue().splitlines(keepends=True)}
        for name, stream in (("stdout", said), ("stderr", complained))
        if stream.getvalue()
    ]
    if isinstance(value, Figure):
        found.append(drawn(value))
    elif value is not None:
        data = {"text/plain": repr(value).splitlines(keepends=True)}
        found.append({"data": data, "execution_count": number, "metadata": {}, "output_type": "execute_result"})
    found += [drawn(plt.figure(figure)) for figure in plt.get_fignums()]
    plt.close("all")
    return found


def drawn(figure: Figure) -> dict[str, Any]:
    """A figure as an output."""
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=_DPI, metadata={"Software": None}, pil_kwargs={"optimize": True})
    data = {"image/png": base64.b64encode(file.getvalue()).decode(), "text/plain": ["<Figure>"]}
    return {"data": data, "metadata": {}, "output_type": "display_data"}


def digest(notebook: dict[str, Any]) -> str:
    """Of all code: outputs with another one are not of this code."""
    code = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return hashlib.sha256(json.dumps(code).encode()).hexdigest()


def written(notebook: dict[str, Any]) -> str:
    """A notebook as Jupyter writes it."""
    return json.dumps(notebook, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    main()
