"""docs/pretrained.md: its code runs as it stands."""

import re
from pathlib import Path

import torch

import equicolor as ec
from pretrained_weights import lite0_pth

PAGE = Path(__file__).parents[2] / "docs" / "pretrained.md"


def test_the_code_of_the_page_runs(tmp_path, monkeypatch, capsys):
    lite0_pth()
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL):
        exec(compile(block, str(PAGE), "exec"), names)
    images = torch.rand(1, 3, 64, 64)
    assert names["same"](images).shape == (1, 5)
    assert isinstance(names["network"], ec.models.ResNet)
    said = [line.split() for line in capsys.readouterr().out.splitlines()]
    rows = re.findall(r"\| `budget=1\.5.*?` \| `(.*?)` \| (.*?) \| (.*?) \|", PAGE.read_text(encoding="utf-8"))
    assert rows == [(place, f"{float(one):.2f}", f"{float(two):.2f}") for place, one, two in said]
