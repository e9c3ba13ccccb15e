"""Tables and the plot of cost against n: what they show, by what is in them."""

import pytest

from equicolor.bench._report import plot_cost, tables


def record(group, order, ratio, algorithm="auto", phase="training"):
    return {
        "network": "resnet44",
        "phase": phase,
        "batch": 32,
        "image_size": 32,
        "parameters": 1_234_567,
        "group": group,
        "order": order,
        "algorithm": algorithm,
        "mode": "eager",
        "seconds": 0.25,
        "ratio": ratio,
        "peak_memory": 2_500_000,
        "memory_ratio": 1.75,
        "multiply_adds": 3_000_000,
        "multiply_adds_ratio": 1.3,
    }


def test_a_network_has_a_table_for_each_phase():
    records = [record(None, 1, 1.0), record("hue4", 4, 1.42), record("hue4", 4, 1.2, phase="inference")]
    training, inference = tables({"networks": records})
    assert "training step, batch 32, 32×32" in training.title
    assert training.rows[0][:3] == ("plain", "", "eager")
    assert training.rows[1] == (
        *("hue4", "auto", "eager", "1,234,567", "250.0 ms", "1.42", "2.5 MB", "1.75", "3 M", "1.30"),
    )
    assert [row[5] for row in inference.rows] == ["1.20"]


def test_the_worst_of_the_sweep_come_first():
    def layer(width, loss):
        phase = {"direct": 0.002, "fast": 0.001, "auto": "fast", "loss": loss}
        shape = {"group": "hue4", "kernel": 3, "width_in": width, "width_out": width, "map_size": 8}
        return {**shape, "training": phase, "inference": {**phase, "loss": 0.0}}

    summary = {"timings": 4, "worst_loss": 0.3, "mean_loss": 0.1, "share_within_5_percent": 0.5}
    (table,) = tables({"layers": [layer(8, 0.1), layer(16, 0.3)], "layers_summary": summary})
    assert [row[2] for row in table.rows[:2]] == ["16→16", "8→8"]
    assert "50.0% of 4 timings" in table.title
    assert "worst 30.0%" in table.title


def test_cost_is_drawn_against_n_beside_what_multiply_adds_would_cost():
    records = [
        record(None, 1, 1.0),
        record("hue12", 12, 2.2),
        record("hue4", 4, 1.4),
        record("hue4", 4, 3.9, algorithm="direct"),
        record("hue4-sat3", 12, 3.0),
    ]
    axes = plot_cost(records).axes[0]
    lines = {line.get_label(): line for line in axes.lines}
    bank = next(line for label, line in lines.items() if label.startswith("n:"))
    ours = next(line for label, line in lines.items() if label.startswith("R/n"))
    assert list(bank.get_ydata()) == list(range(1, 13))
    assert ours.get_ydata()[3] == 5 / 4
    assert ours.get_ydata()[11] == pytest.approx(17 / 12)
    assert list(lines["auto, eager"].get_xdata()) == [1, 4, 12]
    assert list(lines["auto, eager"].get_ydata()) == [1, 1.4, 2.2]
    assert list(lines["direct, eager"].get_ydata()) == [1, 3.9]
    assert [text.get_text() for text in axes.texts] == ["hue4-sat3"]
