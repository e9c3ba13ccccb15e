"""Pooling early: every set has its tables, errors are those of its own kind, and costs in full width stand beside."""

import pytest

from equicolor.experiments import Setting, frontier
from small import MadeUp, made_up

COST = {"parameters": 1000, "multiply_adds": 1.2, "step_ratio": 1.5, "memory_ratio": 1.7}


class Trained(MadeUp):
    """Cells have balanced errors, too; digits and photographs err on one in ten under unseen hues."""

    def train(self, rows):
        def run(recipe, error):
            return made_up(recipe, error, balanced_error=error / 2)

        return {row.label: [run(recipe, 0.3 / (n + 1)) for recipe in row.seeded] for n, row in enumerate(rows)}

    @property
    def runs(self):
        return self

    def error_under(self, run, split, shift):
        assert (split, shift) == ("test", "hue:30..360")
        return 0.1 + run.results[split]["error"]


@pytest.fixture
def outcome(tmp_path, monkeypatch):
    monkeypatch.setattr(frontier, "_costs", lambda options, rows, watch, **sizes: {row.label: COST for row in rows})
    monkeypatch.setattr(frontier, "missing", lambda data: "Put it there." if data == "cifar10" else "")
    rows = [
        f"{before}{label}" for before in ("", "ResNet-44, ") for label in ("plain", "Hue-4, stem", "Hue-4, all stages")
    ]
    rows += [f"cells, {before}{label}" for before in ("", "ResNet-44, ") for label in ("plain", "Temp-5, stem")]
    return frontier._run(Setting(seeds=(1, 2), only=tuple(rows)), Trained(tmp_path))


def test_every_set_has_its_errors_and_its_costs_in_full_width(outcome):
    assert [table.title.partition(":")[0] for table in outcome.tables] == [
        *("Digits, ResNet-18",) * 2,
        *("Digits, ResNet-44",) * 2,
        *("Cells, ResNet-18, trained on blue slides and tested on pink ones",) * 2,
        *("Cells, ResNet-44, trained on blue slides and tested on pink ones",) * 2,
    ]
    assert list(outcome.pictures) == ["frontier", "frontier-resnet44", "frontier-cells", "frontier-cells-resnet44"]
    digits, cells = outcome.tables[0].rows, outcome.tables[4].rows
    assert [row[2] for row in digits] == ["40.00 (0.00)", "25.00 (0.00)", "20.00 (0.00)"]
    assert [row[3] for row in digits] == ["–", "75%", "100%"]
    assert cells[0][1:4] == ["2.14 (0.00)", "2.14 (0.00)", "–"]  # balanced, of both stains
    assert len([record for record in outcome.records if record.get("width") == "paper"]) == 10


def test_what_is_not_there_is_said_and_what_was_trained(outcome):
    assert outcome.notes[:2] == [f"CIFAR-10, ResNet-{depth} is left out. Put it there." for depth in (18, 44)]
    assert outcome.notes[2].endswith("tested on 4,000; 2 seeds.")
    assert len(outcome.notes) == 7
    assert outcome.conclusion[0].startswith("The cheapest network with at least 90%")
    assert outcome.conclusion[1].startswith("Digits, ResNet-44: The cheapest")
