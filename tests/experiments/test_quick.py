"""The quick version of every table from end to end, without any data on the machine, smaller still than it is."""

import csv
import json

import pytest
from PIL import Image

from equicolor.cli import main
from equicolor.comparison._report import QUICK
from pretrained_weights import lite0_pth

SIZES = {"train_size": 32, "test_size": 32, "batch_size": 16, "epochs": 1}
#: Experiment → rows that are run, columns of the first table, pictures.
RUNS = {
    "camelyon17": (["ResNet50", "Sat-3 (d=1/2)"], ["A/A", "A/B", "A/C"], ["saturation"]),
    "natural": (["ResNet-aug", "Hue-4"], ["CIFAR-10 recipe", "STL-10 recipe"], []),
    "small-norb": (["ResNet18", "Lum-3"], ["A/A", "A/B", "A/C"], ["examples"]),
    "imagenet": (["Hue-3", "CEConv-3"], ["ImageNet recipe", "Tiny-ImageNet recipe"], []),
    "segmentation": (["Conv", "Hue-3"], ["A/A", "A/B", "A/C"], ["masks"]),
    "saturation": (["Sat-3-clamp", "Sat-3-exact"], ["A/A", "A/B", "A/C"], ["saturation-shapes"]),
    "luminance": (["Lum-3-clamp", "Lum-3-exact"], ["A/A", "A/B", "A/C"], ["luminance-shapes"]),
    "canonical": (["hue, plain", "hue, canonicalised"], ["A/A", "A/B", "A/C"], []),
    "stain": (["plain, grey", "canonical light"], ["A/A", "A/B", "A/C"], ["from-blue"]),
    "light": (["CIFAR-10, grey-world white balance", "CIFAR-10, canonical light"], [], ["lamps-cifar10"]),
    "pretrained": (
        ["Caltech-101, plain", "Caltech-101, Hue-3, nothing trained"],
        [],
        ["caltech101-hue", "caltech101-lamp"],
    ),
    "frontier": (["plain", "Hue-4, stage 1"], [], ["frontier"]),
    "windows": (["Sat-3, mean", "Sat-5, valid"], ["A/A", "A/B", "A/C"], []),
}


@pytest.mark.parametrize("name", RUNS)
def test_the_quick_version_runs_from_end_to_end_without_data(name, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("EQUICOLOR_DATA", str(tmp_path / "nothing"))
    if name == "pretrained":
        lite0_pth()
    rows, columns, pictures = RUNS[name]
    reduce = [f"{row}:{field}={value}" for row in rows for field, value in SIZES.items()]
    out = tmp_path / "out"
    arguments = ["reproduce", name, "--quick", "--rows", *rows, "--reduce", *reduce, "--folder", str(out)]
    assert main(arguments) == 0
    shown = capsys.readouterr().out
    assert "This was the quick version" in shown
    assert "the paper's" not in shown.replace("without the paper's numbers", "").replace("by the paper's", "")
    folder = out / name
    report = (folder / "report.html").read_text()
    assert QUICK in report
    for row in rows:
        assert f"<td>{row} [32 training images, 32 testing images, batch size 16, epochs 1]</td>" in report
    for column in columns:
        assert f"<th>{column}</th>" in report
    assert report.count("data:image/png;base64,") == len(pictures)
    for picture in pictures:
        with Image.open(folder / f"{picture}.png") as image:
            assert image.width > 300
    with (folder / "metrics.csv").open(newline="") as file:
        from_csv = list(csv.DictReader(file))
    records = json.loads((folder / "metrics.json").read_text())["records"]
    assert len(from_csv) == len(records)
    assert {record["network"] for record in records if "network" in record} == set(rows)
    _assert_cells_are_the_records(report, records, rows, columns)


def _assert_cells_are_the_records(report, records, rows, columns):
    """One seed: a cell is the error of its record in %."""
    for row in rows:
        line = next(line for line in report.splitlines() if line.startswith(f"<tr><td>{row} ["))
        cells = line.split("</td><td>")[1:]
        for column, cell in zip(columns, cells, strict=False):
            mine = [r for r in records if r.get("network") == row and "split" in r]
            if column.endswith("recipe"):
                mine = [r for r in mine if r["data"] == column][-1:]
            else:
                mine = [r for r in mine if r["split"] == f"test_{column[-1].lower()}"]
            errors = [record.get("error", record.get("balanced_error")) for record in mine]
            assert [f"{100 * error:.2f}" for error in errors] == [cell]
