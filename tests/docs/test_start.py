"""The pages one reads first: their code runs as it stands, and what they list is complete."""

import re
from pathlib import Path

import pytest

from equicolor.experiments import list_experiments

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("page", ["index.md", "start.md"])
def test_the_code_of_the_page_runs_as_it_stands(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), flags=re.DOTALL)
    assert blocks
    for block in blocks:
        exec(compile(block, page, "exec"), names)


def test_the_page_of_the_paper_names_every_experiment_and_no_other():
    named = set(
        re.findall(r"^\|.*?\| `([a-z0-9-]+)` \|", (DOCS / "paper.md").read_text(encoding="utf-8"), re.MULTILINE)
    )
    beyond = re.findall(r"^\| `([a-z0-9-]+)` \|", (DOCS / "paper.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert named.union(beyond) == set(list_experiments())


def test_the_moving_picture_is_small_enough_for_a_first_page():
    assert (DOCS / "images" / "hue-turns.webp").stat().st_size < 400_000
