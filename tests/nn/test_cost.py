"""The model behind ``auto``, held against the times it was fitted to: records of ``equicolor bench --parts layers``."""

import json
from pathlib import Path

import pytest
import torch

from equicolor.bench.layers import PHASES, Size, taken_by_auto
from equicolor.nn import GroupConv2d

RECORDS = Path(__file__).parents[2] / "benchmarks" / "results" / "layers" / "bench.json"


@pytest.fixture(scope="module")
def losses():
    """How much longer than the better way the chosen one took, at every size, in training and inference."""
    found = []
    for record in json.loads(RECORDS.read_text())["layers"]:
        size = Size(**{name: record[name] for name in Size.__dataclass_fields__})
        chosen = taken_by_auto(size)
        for phase in PHASES:
            seconds = {way: record[phase][way] for way in ("direct", "fast")}
            found.append(seconds[chosen] / min(seconds.values()) - 1)
    return found


def test_auto_is_within_5_percent_of_the_better_way_at_19_of_20_sizes(losses):
    assert len(losses) > 800
    assert sum(loss <= 0.05 for loss in losses) / len(losses) > 0.95


def test_auto_loses_less_than_1_percent_on_average_and_less_than_half_at_worst(losses):
    assert sum(losses) / len(losses) < 0.01
    assert max(losses) < 0.5


def test_settling_decides_for_the_size_of_a_feature():
    for side, expected in ((4, "direct"), (32, "fast")):
        layer = GroupConv2d("hue4", 24, 24, 3, padding=1)
        layer.settle(torch.empty(4 * 32, 24, side, side, device="meta"))
        assert layer.algorithm == expected


def test_a_choice_of_ones_own_stays():
    layer = GroupConv2d("hue4", 24, 24, 3, padding=1, algorithm="fast")
    layer.settle(torch.empty(4, 24, 1, 1, device="meta"))
    assert layer.algorithm == "fast"
