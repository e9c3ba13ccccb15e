"""The experiment pretrained: what a conversion alone computes, and what becomes of the numbers of cells."""

from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

import equicolor as ec
from convert_networks import torchvision_models
from equicolor.comparison import Row, Runner
from equicolor.experiments import pretrained
from equicolor.train import Recipe


@pytest.mark.parametrize("reduce", ["max", "mean"])
def test_a_conversion_alone_pools_what_the_plain_network_makes_of_each_copy(reduce):
    torchvision_models()
    plain = ec.create_model("timm:test_resnet", pretrained=False, num_classes=5).eval()
    converted = pretrained._converted(SimpleNamespace(model=plain), "hue4", reduce).eval()
    images = torch.rand(2, 3, 64, 64)
    copies = torch.stack([plain.features(each) for each in ec.group("hue4").lift(images).chunk(4)])
    pooled = copies.amax(0) if reduce == "max" else copies.mean(0)
    torch.testing.assert_close(converted(images), plain.get_classifier()(pooled), atol=1e-5, rtol=1e-4)
    assert converted.preparation is plain.preparation


def test_errors_on_stains_are_those_of_runs_or_kept_with_the_plain_one(tmp_path):
    part, runner = pretrained._CELLS, Runner(tmp_path)
    results = {split: {"balanced_error": 0.1 * place, "auc": 0.9} for place, split in enumerate(part.columns)}
    recipe = Recipe("digits", "z2cnn", epochs=1)
    run = SimpleNamespace(folder=Path("plain-1999"), results=results, recipe=recipe)
    kept = {f"{split} as hue3, max": {"balanced_error": 0.5, "auc": 0.5} for split in part.columns}
    runner.runs.ledger.append("plain-1999", measured=kept)
    rows = [Row(part.label(name), recipe) for name in ("plain", "Hue-3, nothing trained")]
    networks = [
        pretrained._Network(rows[0].label, run, make=lambda: None),
        pretrained._Network(rows[1].label, run, make=lambda: None, name=" as hue3, max"),
    ]
    records = pretrained._stains(runner, part, networks)
    table = pretrained._stain_table(part, rows, records, "balanced_error", "balanced error in %")
    assert table.rows == [
        ["cells, plain", "0.00", "10.00", "20.00"],
        ["cells, Hue-3, nothing trained", "50.00", "50.00", "50.00"],
    ]
    assert "pink: plain 10.0, Hue-3, nothing trained 50.0" in pretrained._stain_picture(part, rows, records).alt
