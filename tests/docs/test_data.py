"""docs/data.md: its code runs as it stands, and its commands print what it says."""

import re
from pathlib import Path

from equicolor.cli import main

PAGE = (Path(__file__).parents[2] / "docs" / "data.md").read_text(encoding="utf-8")


def test_the_code_of_the_page_runs_and_the_table_is_described_so(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL):
        exec(compile(block, "data.md", "exec"), names)
    assert main(["data", "cells.csv"]) == 0
    said = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    shown = PAGE.partition("$ equicolor data cells.csv\n")[2].partition("\n$ ")[0].splitlines()
    assert shown == said
