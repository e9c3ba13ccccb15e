"""Plans: what a run measures, in which order, and that results come as they are there."""

from dataclasses import replace

from equicolor.bench import FULL, QUICK, _plan


def test_results_are_handed_over_whenever_there_are_new_ones(monkeypatch):
    monkeypatch.setattr(_plan, "measure_network", lambda name, *_, **__: [{"network": name}])
    monkeypatch.setattr(_plan, "measure_lift", lambda *_, **__: [{"way": "lift"}])
    monkeypatch.setattr(_plan, "measure_families", lambda *_, **__: [{"group": "temp3"}])
    plan = replace(FULL, networks=("resnet44", "z2cnn"), parts=("lift", "networks"))
    stages = [{k: v for k, v in results.items() if k in ("networks", "lift", "families")} for results in plan.run()]
    assert stages == [
        {"networks": [{"network": "resnet44"}]},
        {"networks": [{"network": "resnet44"}, {"network": "z2cnn"}]},
        {"networks": [{"network": "resnet44"}, {"network": "z2cnn"}], "lift": [{"way": "lift"}]},
        {
            "networks": [{"network": "resnet44"}, {"network": "z2cnn"}],
            "lift": [{"way": "lift"}],
            "families": [{"group": "temp3"}],
        },
    ]


def test_quick_measures_every_part():
    assert QUICK.parts == FULL.parts
    assert set(QUICK.networks) < set(FULL.networks)
    assert set(QUICK.network_groups) < set(FULL.network_groups)
