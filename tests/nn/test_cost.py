"""The model behind ``auto``, held against the times it was fitted to: records of ``equicolor bench --parts layers``."""

import json
from pathlib import Path

import pytest
import torch

from equicolor.bench.layers import PHASES, Size, taken_by_auto
from equicolor.nn import GroupConv2d, _cost

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"


def losses(machine, folder, monkeypatch):
    """How much longer than the better way the chosen one took, at every size, in training and inference."""
    monkeypatch.setattr(_cost, "HERE", machine)
    found = []
    for record in json.loads((RESULTS / folder / "bench.json").read_text())["layers"]:
        size = Size(**{name: record[name] for name in Size.__dataclass_fields__})
        chosen = taken_by_auto(size)
        for phase in PHASES:
            seconds = {way: record[phase][way] for way in ("direct", "fast")}
            found.append(seconds[chosen] / min(seconds.values()) - 1)
    return found


@pytest.mark.parametrize(
    ("machine", "folder", "least", "at_worst"), [("AVX512", "layers", 800, 0.5), ("AVX2", "layers-avx2", 300, 0.7)]
)
def test_auto_is_within_5_percent_of_the_better_way_at_19_of_20_sizes(machine, folder, least, at_worst, monkeypatch):
    found = losses(getattr(_cost, machine), folder, monkeypatch)
    assert len(found) > least
    assert sum(loss <= 0.05 for loss in found) / len(found) > 0.95
    assert sum(found) / len(found) < 0.01
    assert max(found) < at_worst


def test_the_constants_are_those_of_this_cpu():
    wide = torch.backends.cpu.get_cpu_capability().startswith("AVX512")
    assert _cost.HERE is (_cost.AVX512 if wide else _cost.AVX2)


def test_the_two_kinds_of_cpu_do_not_choose_alike_everywhere():
    sizes = [
        _cost.Size(4, 5, width, width, 9, pixels, pixels) for width in (4, 8, 16) for pixels in (2048, 8192, 32768)
    ]
    chosen = [
        [_cost._fast(size, kind) < _cost._direct(size, kind) for size in sizes] for kind in (_cost.AVX512, _cost.AVX2)
    ]
    assert chosen[0] != chosen[1]


def test_settling_decides_for_the_size_of_a_feature():
    for side, expected in ((4, "direct"), (32, "fast")):
        layer = GroupConv2d("hue4", 24, 24, 3, padding=1)
        layer.settle(torch.empty(4 * 32, 24, side, side, device="meta"))
        assert layer.algorithm == expected


def test_a_choice_of_ones_own_stays():
    layer = GroupConv2d("hue4", 24, 24, 3, padding=1, algorithm="fast")
    layer.settle(torch.empty(4, 24, 1, 1, device="meta"))
    assert layer.algorithm == "fast"
