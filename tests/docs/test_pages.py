"""All pages: the commands they show have the options they give them; and the code of those that no other test runs."""

import functools
import io
import json
import re
import shlex
from contextlib import redirect_stdout
from pathlib import Path

import pytest
import torch

import equicolor as ec
from cells import CLASSES, cells
from equicolor import cli
from equicolor.experiments import _registry

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
NOTEBOOKS = sorted((ROOT / "docs" / "tutorials").glob("*.ipynb"))


def text(path):
    if path.suffix == ".ipynb":
        cells_ = json.loads(path.read_text(encoding="utf-8"))["cells"]
        return "\n".join("".join(cell["source"]) for cell in cells_ if cell["cell_type"] == "markdown")
    return path.read_text(encoding="utf-8")


def commands(path):
    """The commands of a page as words, without the name of the program: of blocks for a shell, and after a prompt."""
    for kind, block in re.findall(r"```(sh|console)\n(.*?)```", text(path), flags=re.DOTALL):
        for line in block.replace("\\\n", " ").splitlines():
            if kind == "sh" or line.startswith("$ "):
                program, *words = shlex.split(line.removeprefix("$ "), comments=True) or [""]
                if program == "equicolor" and words:
                    yield words


@functools.cache
def told(command):
    said = io.StringIO()
    with redirect_stdout(said), pytest.raises(SystemExit):
        cli.main([command, "--help"])
    return said.getvalue().replace("-", "_")


@pytest.mark.parametrize("path", [*PAGES, *NOTEBOOKS], ids=lambda path: path.stem)
def test_commands_have_the_options_that_the_page_gives_them(path):
    for command, *words in commands(path):
        if command.startswith("-"):
            continue
        options = [word.split("=")[0].replace("-", "_") for word in words if word.startswith("--")]
        assert [option for option in options if option not in told(command)] == [], (command, words)


def test_commands_are_found_on_pages():
    assert sum(len(list(commands(path))) for path in PAGES) > 60
    assert all(list(commands(ROOT / "docs" / name)) for name in ("cli.md", "start.md", "serve.md", "which-group.md"))


def blocks(page):
    return re.findall(r"```python\n(.*?)```", (ROOT / "docs" / page).read_text(encoding="utf-8"), flags=re.DOTALL)


def run(page, number, **names):
    """A block of a page, with what the page takes for granted; gives the names that it leaves."""
    exec(compile(blocks(page)[number], page, "exec"), names)
    return names


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_training_in_python_and_by_a_loop_of_ones_own(home, monkeypatch):
    load = ec.train.Recipe.load
    short = {"epochs": None, "iterations": 2, "test_size": 10, "batch_size": 8}
    monkeypatch.setattr(ec.train.Recipe, "load", lambda name, changes: load(name, {**changes, **short}))
    assert 0 <= run("training.md", 0)["run"].results["test_b"]["error"] <= 1
    assert run("training.md", 1)["learner"].model.num_parameters > 0


def test_canonicalising_a_network(home, monkeypatch):
    train = ec.train.train_canonicalizer
    monkeypatch.setattr(ec.train, "train_canonicalizer", functools.partial(train, steps=1, batch_size=2))
    cells(home / "any" / "images", count=8)
    network, images = ec.create_model("z2cnn", num_classes=2).eval(), torch.rand(2, 3, 32, 32)
    assert run("canonicalise.md", 0, network=network, images=images)["move"].shape == (2, 2)


def test_predicting_files(home, capsys):
    cells(home / "photos", count=4)
    model = ec.create_model("z2cnn", "hue3", num_classes=2).eval()
    ec.save_pretrained(model, home / "cells", CLASSES, preparation=ec.models.Preparation(32))
    run("predict.md", 0)
    assert capsys.readouterr().out.count(".png") == 4


def test_an_experiment_of_ones_own_is_registered(monkeypatch):
    monkeypatch.setattr(_registry, "_EXPERIMENTS", dict(_registry._EXPERIMENTS))
    run("reproduce.md", 0)
    assert _registry._EXPERIMENTS["mine"].title == "My table"


def test_shards_are_written_from_a_folder(home):
    pytest.importorskip("datasets")
    cells(home / "photos", count=64)
    (home / "shards").mkdir()
    run("scale.md", 0)
    assert len(list((home / "shards").glob("*.parquet"))) == 64


def test_networks_that_come_with_the_package():
    assert run("app.md", 0)["model"].group == ec.Hue(4)
