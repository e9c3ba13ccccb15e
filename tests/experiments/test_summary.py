"""Summary: numbers of other reports, of networks that are there, and none where nothing was measured."""

import json

import pytest

from equicolor.experiments import Runner, Setting, experiment, light, list_experiments, stain
from equicolor.experiments.canonical import _PARTS as CANONICAL
from equicolor.experiments.coverage import _NETWORKS as COVERAGE
from equicolor.experiments.summary import SOURCES, WAYS


def test_every_network_that_stands_for_a_way_is_a_row_of_its_experiment():
    labels = {
        "stain": {label for part in stain._PARTS.values() for label in part.networks},
        "light": {label for part in light._PARTS for label in part.networks},
        "canonical": {label for part in CANONICAL.values() for label in part.networks},
        "coverage": set(COVERAGE),
    }
    for source in SOURCES:
        assert set(source.networks) <= set(WAYS)
        if source.experiment in labels:
            assert set(source.networks.values()) <= labels[source.experiment], source.title
    assert {source.experiment for source in SOURCES} - set(labels) == {"pretrained"}
    assert len({source.title for source in SOURCES}) == len(SOURCES)


@pytest.fixture
def results(tmp_path):
    """A report of two networks on cells, and the runs behind it."""
    runner = Runner(tmp_path)
    records = []
    errors = {"plain": ((0.05, 0.2), (0.07, 0.4)), "canonical light": ((0.05, 0.06),), "CEConv-3": ((0.9, 0.9),)}
    for network, by_seed in errors.items():
        recipe = {"data": "malaria", "model": "z2cnn", "epochs": 12}
        recipe |= {"canonicalize": "temp-tint"} if network == "canonical light" else {}
        for seed, both in enumerate(by_seed):
            name = f"{network} {seed}"
            runner.runs.ledger.append(name, recipe=recipe, summary={"parameters": 1234 + len(recipe)})
            about = {"network": network, "seed": seed, "run": name}
            for split, error in zip(("blue_test", "pink_test"), both, strict=True):
                records.append({**about, "split": split, "balanced_error": error})
    _write(tmp_path, records)
    return runner


def _write(folder, records, quick=False):
    (folder / "stain").mkdir(exist_ok=True)
    (folder / "stain" / "metrics.json").write_text(json.dumps({"quick": quick, "records": records}))


def test_numbers_are_those_of_the_reports_and_nothing_is_trained(results):
    outcome = experiment("summary").run(Setting(), results)
    unseen, seen, costs = outcome.tables
    for table, plain, canonical in ((unseen, "30.0 ± 14.1", "6.0"), (seen, "6.0 ± 1.4", "5.0")):
        (row,) = table.rows
        expected = {"images": "cells, blue → pink", "plain": plain, "canonical": canonical, "seeds": "1 to 2"}
        assert dict(zip(table.columns, row, strict=True)) == dict.fromkeys(WAYS, "–") | expected
    known = dict(zip(costs.columns, costs.rows[0], strict=True))
    assert (known["plain"], known["grey"]) == ("1,237, 1.00", "–")
    parameters, ratio = known["canonical"].split(", ")
    assert parameters == "1,238"
    assert 1.5 < float(ratio) < 1.7  # as in results/canonical, for the same networks
    assert "pink → blue" in outcome.notes[-1]
    assert not (results.root / "runs").exists()
    assert [record["seeds"] for record in outcome.records] == [2, 1]


def test_quick_reports_are_no_results(results):
    records = json.loads((results.root / "stain" / "metrics.json").read_text())["records"]
    _write(results.root, records, quick=True)
    with pytest.raises(ValueError, match="has no report to sum up: run equicolor reproduce with one of stain, light"):
        experiment("summary").run(Setting(), results)
    assert experiment("summary").run(Setting(quick=True), results).tables[0].rows


def test_it_comes_last():
    assert list_experiments()[-1] == "summary"
