"""The tutorials: their code runs, their outputs are those of their code, and readers find them."""

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from convert_networks import torchvision_models

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / "tutorials").glob("*.ipynb"))
EXECUTE = ROOT / "docs" / "scripts" / "execute.py"
#: What a notebook takes beside the extra 'train'.
NEEDS = {"service": ("onnxruntime", "onnxscript", "fastapi", "uvicorn")}
every = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


@pytest.fixture(scope="module")
def execute():
    pytest.importorskip("matplotlib")
    specification = importlib.util.spec_from_file_location("execute", EXECUTE)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def cells(path, kind):
    return [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == kind]


def small(path):
    """The notebook, run as a reader would run it, but for the sizes."""
    if path.stem == "pretrained":
        torchvision_models()  # skips where it is not there
    for module in NEEDS.get(path.stem, ()):
        pytest.importorskip(module)
    beside = os.pathsep.join([str(ROOT / "src"), str(Path(sys.prefix) / "networks")])
    environment = {**os.environ, "PYTHONPATH": beside, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, EXECUTE, path, "--small"]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=500, check=False)


@every
def test_it_runs_from_the_first_cell_to_the_last(path):
    done = small(path)
    assert done.returncode == 0, done.stderr


def test_a_name_that_is_gone_and_a_claim_that_fails_are_errors(tmp_path):
    for wrong in ("import equicolor as ec\nec.shift_everything", "assert 1 == 2"):
        cell = {"cell_type": "code", "metadata": {}, "source": [wrong], "outputs": []}
        path = tmp_path / "wrong.ipynb"
        path.write_text(json.dumps({"cells": [cell], "metadata": {"small": {}}}))
        done = small(path)
        assert done.returncode != 0
        assert f"In cell 1:\n\n{wrong}" in done.stderr


@every
def test_what_it_shows_is_what_this_code_printed_and_drew(path, execute):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    assert notebook["metadata"]["executed"] == execute.digest(notebook), f"python docs/scripts/execute.py {path.name}"
    assert path.read_text(encoding="utf-8") == execute.written(notebook)
    code = cells(path, "code")
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    said = "".join(line for cell in code for output in cell["outputs"] for line in output.get("text", ()))
    assert not re.search(r"site-packages|src/equicolor|/tmp/|Traceback", said)  # nothing of the machine it was run on


@every
def test_every_picture_says_what_is_on_it(path):
    drawn = [
        cell for cell in cells(path, "code") if any("image/png" in each.get("data", {}) for each in cell["outputs"])
    ]
    assert drawn
    assert all(len(cell["metadata"]["alt"]) > 30 for cell in drawn)


@pytest.mark.parametrize("page", ["README.md", "docs/start.md", "docs/index.md", "docs/tutorials/index.md"])
def test_all_are_linked_from_where_readers_begin(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    assert len(NOTEBOOKS) == 6
    assert [path.name for path in NOTEBOOKS if f"{path.name})" not in text] == []
