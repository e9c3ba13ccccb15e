"""docs/compare.md: its code runs as it stands, and its rows are those there are."""

import re
from pathlib import Path

from equicolor.comparison import ROWS, named_rows
from small import SMALL

PAGE = Path(__file__).parents[2] / "docs" / "compare.md"
TEXT = PAGE.read_text(encoding="utf-8")


def test_the_code_of_the_page_runs_as_it_stands(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (block,) = re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL)
    exec(compile(block, str(PAGE), "exec"), {})
    assert capsys.readouterr().out
    assert (tmp_path / "comparison" / "report.html").is_file()


def test_every_row_that_the_page_names_can_be_made_and_every_default_is_named():
    table = TEXT[TEXT.index("| name |") : TEXT.index("`--groups")]
    named = {name for name in re.findall("`([^`]+)`", table) if name in ROWS}
    assert named == set(ROWS)
    named_rows(SMALL, ["hue4+light-jitter", "canonical:temp-tint+hue4", "plain+model_options.width=24"])
