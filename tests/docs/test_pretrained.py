"""docs/pretrained.md: its code runs as it stands."""

import re
from pathlib import Path

import pytest
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
    rows = re.findall(r"\| `budget=1\.5.*?` \| `(.*?)` \| (.*?) \| (.*?) \| (.*?) \|", PAGE.read_text(encoding="utf-8"))
    assert [row[:2] for row in rows] == [(place, f"{float(parameters):.2f}") for place, parameters, _ in said]
    # How a layer is computed depends on the CPU, as the page says, and with it the multiplications.
    kind = 3 if torch.backends.cpu.get_cpu_capability().startswith("AVX512") else 2
    assert [float(row[kind]) for row in rows] == pytest.approx([float(times) for _, _, times in said], abs=0.01)
