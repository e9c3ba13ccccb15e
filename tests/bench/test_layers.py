"""The sweep behind ``auto``: which sizes, what it takes, and what that loses."""

import pytest
import torch

from equicolor import group
from equicolor.bench import layers
from equicolor.bench.layers import Size, measure_layer, sizes_in, summary, sweep, taken_by_auto
from equicolor.measure import multiply_adds


def test_the_sweep_has_every_size_that_fits():
    sizes = set(sweep())
    assert {size.width_in for size in sizes} == set(layers.WIDTHS)
    assert {size.map_size for size in sizes} == set(layers.MAPS)
    assert Size("hue4", 3, 512, 512, 4, padding=1) in sizes
    assert Size("hue2", 1, 512, 512, 56) not in sizes  # a feature of 411 MB
    assert Size("hue12", 3, 512, 512, 4, padding=1) not in sizes  # a filter bank of 1.4 GB


def test_the_layers_of_a_network_are_found_at_their_sizes():
    sizes = sizes_in("resnet18", ["hue4"], 16, 32)
    assert sizes[0] == Size("hue4", 3, 3, 32, 32, 16, padding=1)
    assert Size("hue4", 1, 32, 64, 32, 16, stride=2) in sizes  # a shortcut
    assert Size("hue4", 3, 256, 256, 4, 16, padding=1) in sizes
    # The stem, and in each stage the blocks' convolution; where a stage begins also a strided one and a shortcut.
    assert len(sizes) == 1 + 4 + 3 * 2


@pytest.mark.parametrize("name", ["hue3", "hue8", "sat3"])
@pytest.mark.parametrize("width", [8, 64])
@pytest.mark.parametrize("side", [4, 16])
def test_what_auto_is_said_to_take_is_what_it_computes(name, width, side):
    size = Size(name, 3, width, width, side, batch=4)
    features = torch.rand(4 * group(name).order, width, side, side)
    layer, same = size.layer("auto"), size.layer(taken_by_auto(size))
    assert multiply_adds(layer, features).convolutions == multiply_adds(same, features).convolutions
    layer.settle(features)
    layer.freeze()
    assert multiply_adds(layer, features).convolutions == multiply_adds(same, features).convolutions


def test_a_record_has_all_that_a_model_of_the_cost_is_fitted_to():
    record = measure_layer(Size("hue4", 3, 8, 6, 5, batch=2, stride=2), rounds=1)
    shape = {"group": "hue4", "kernel": 3, "width_in": 8, "width_out": 6, "map_size": 5, "batch": 2, "stride": 2}
    assert record.items() >= {**shape, "padding": 0, "order": 4, "rank": 5}.items()
    for phase in layers.PHASES:
        one = record[phase]
        assert min(one["direct"], one["fast"]) > 0
        assert one["loss"] == one[one["auto"]] / min(one["direct"], one["fast"]) - 1


def test_a_loss_is_measured_again_before_it_is_believed(monkeypatch):
    asked = []

    def seconds(size, phase, rounds, device, hasty=True):
        asked.append((phase, rounds, hasty))
        noise = 2.0 if phase == "training" and hasty else 1.0
        return {"direct": noise, "fast": noise / 2 if phase == "training" and hasty else 1.0}

    monkeypatch.setattr(layers, "_seconds", seconds)
    monkeypatch.setattr(layers, "taken_by_auto", lambda size: "direct")
    record = measure_layer(Size("hue4", 1, 8, 8, 4), rounds=4)
    assert asked == [("training", 4, True), ("training", 12, False), ("inference", 4, True)]
    assert record["training"]["loss"] == 0


def test_the_summary_counts_training_and_inference():
    records = [
        {"training": {"loss": 0.0}, "inference": {"loss": 0.05}},
        {"training": {"loss": 0.11}, "inference": {"loss": 0.0}},
    ]
    found = summary(records)
    assert (found["timings"], found["worst_loss"], found["share_within_5_percent"]) == (4, 0.11, 0.75)
    assert found["mean_loss"] == pytest.approx(0.04)
