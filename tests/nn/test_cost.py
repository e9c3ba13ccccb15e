"""The model behind ``auto``, held against the times it was fitted to: records of ``equicolor bench --parts layers``."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from equicolor.bench.layers import PHASES, recorded, taken_by_auto
from equicolor.nn import GroupConv2d, _calibration, _cost, calibrated

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"


def records(*folders):
    """What sweeps have measured of the algorithms that are used today."""
    for folder in folders:
        yield from recorded(json.loads((RESULTS / folder / "bench.json").read_text())["layers"])


def losses(machine, folders, monkeypatch):
    """How much longer than the better way the chosen one took, at every size, in training and inference."""
    monkeypatch.setitem(_cost.MACHINES, "cpu", machine)
    found = []
    for size, record in records(*folders):
        chosen = taken_by_auto(size)
        for phase in PHASES:
            seconds = {way: record[phase][way] for way in ("direct", "fast")}
            found.append(seconds[chosen] / min(seconds.values()) - 1)
    return found


@pytest.mark.parametrize(
    ("machine", "folders", "least", "share", "at_worst"),
    [
        ("AVX512", ["layers", "layers-windows"], 900, 0.955, 0.4),
        ("AVX512", ["layers-again", "layers-windows-again"], 900, 0.965, 0.55),
        ("AVX2", ["layers-avx2", "layers-avx2-windows"], 500, 0.95, 0.45),
    ],
)
def test_auto_is_nearly_always_within_5_percent_of_the_better_way(
    machine, folders, least, share, at_worst, monkeypatch
):
    found = losses(getattr(_cost, machine), folders, monkeypatch)
    assert len(found) > least
    assert sum(loss <= 0.05 for loss in found) / len(found) > share
    assert sum(found) / len(found) < 0.01
    assert max(found) < at_worst


def test_the_constants_are_those_of_this_cpu():
    wide = torch.backends.cpu.get_cpu_capability().startswith("AVX512")
    assert _cost.MACHINES["cpu"] is (_cost.AVX512 if wide else _cost.AVX2)


def test_the_two_kinds_of_cpu_do_not_choose_alike_everywhere():
    sizes = [
        _cost.Size(4, 5, width, width, 9, pixels, pixels) for width in (4, 8, 16) for pixels in (2048, 8192, 32768)
    ]
    chosen = [[_cost.prefers_fast(size, kind) for size in sizes] for kind in (_cost.AVX512, _cost.AVX2)]
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


def test_on_cuda_large_products_are_fast_and_small_ones_direct():
    both = ((16, 32 * 4 * 4), (128, 32 * 56 * 56))
    sizes = [_cost.Size(4, 5, width, width, 9, pixels, pixels) for width, pixels in both]
    assert [_cost.prefers_fast(size, _cost.CUDA) for size in sizes] == [False, True]


def timings(folder):
    for size, record in records(folder):
        for phase in PHASES:
            yield size.layer("auto"), size.shape, record[phase]


def test_calibrated_it_chooses_better_on_what_was_measured_and_the_file_says_so(tmp_path, monkeypatch):
    # As if this were another kind of machine than the one measured.
    monkeypatch.setitem(_cost.MACHINES, "cpu", _cost.AVX512._replace(direct=_cost.CUDA.direct, fast=_cost.CUDA.fast))
    found = calibrated(timings("layers-again"))
    assert found["mean_loss"] < 0.6 * found["mean_loss_before"]
    assert found == calibrated(timings("layers-again"))
    (tmp_path / "here.json").write_text(json.dumps(found))
    device, machine = _calibration.read(tmp_path / "here.json")
    assert device == "cpu"
    measured = losses(machine, ["layers-again"], monkeypatch)
    assert sum(measured) / len(measured) == pytest.approx(found["mean_loss"])


@pytest.mark.parametrize("text", ["", "[]", '{"format": 2}', '{"format": 1, "device": "cpu", "lanes": 8}'])
def test_a_file_without_constants_is_refused_with_a_word_on_what_to_do(text, tmp_path):
    (tmp_path / "bad.json").write_text(text)
    with pytest.raises(ValueError, match=r"bad.json names no constants .* 'equicolor bench --calibrate', or unset"):
        _calibration.read(tmp_path / "bad.json")


def test_nothing_measured_is_nothing_fitted():
    with pytest.raises(ValueError, match="nothing was measured"):
        calibrated([])


def test_a_process_reads_the_file_that_is_named_and_records_it(tmp_path):
    fields = dict.fromkeys(("multiply", "move", "filter", "call", "product"), 1.0)
    expensive = {**fields, "call": 1e18}
    content = {"format": 1, "device": "cpu", "lanes": 8, "direct": expensive, "fast": fields}
    (tmp_path / "here.json").write_text(json.dumps(content))
    program = (
        "from equicolor.nn import GroupConv2d; from equicolor._tools import environment;"
        "print(GroupConv2d('hue4', 1, 1, 1).chosen_algorithm, environment.machine()['calibration'])"
    )
    environment = {**os.environ, "EQUICOLOR_CALIBRATION": str(tmp_path / "here.json")}
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=True)
    chosen, recorded = run.stdout.split()
    assert chosen == "fast"
    assert len(recorded) == 16
