"""docs/diagnose.md: its code runs as it stands, and its commands are there."""

import re
from pathlib import Path

import pytest

from equicolor import cli

PAGE = Path(__file__).parents[2] / "docs" / "diagnose.md"
TEXT = PAGE.read_text(encoding="utf-8")


def test_the_code_of_the_page_finds_the_light_that_it_made(capsys):
    (block,) = re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL)
    exec(compile(block, str(PAGE), "exec"), {})
    said = capsys.readouterr().out
    assert said.startswith("temperature +0.8")
    assert "canonicalize='temp'" in said


def test_the_options_of_the_page_are_those_of_the_command(capsys):
    with pytest.raises(SystemExit):
        cli.main(["diagnose", "--help"])
    told = capsys.readouterr().out
    for option in set(re.findall(r"(?<=\s)--[a-z-]+", TEXT)) - {"--canonicalize"}:
        assert option in told
