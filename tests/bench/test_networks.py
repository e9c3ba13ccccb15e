"""Whole networks: who is compared with whom, and what is recorded of it."""

from functools import partial

import pytest

from equicolor.bench import networks
from equicolor.bench.networks import Candidate, candidates, measure_network


def test_every_mode_has_its_own_plain_network():
    which = candidates(["hue3", "hue8"])
    assert {each.plain for each in which} == {Candidate(None), Candidate(None, mode="compiled")} <= set(which)
    assert [each for each in which if each.algorithm != "auto"] == [
        Candidate("hue8", "fast"),
        Candidate("hue8", "direct"),
    ]


def test_all_candidates_are_timed_in_one_loop_for_each_phase(monkeypatch):
    seen = []

    def spy(calls, rounds, **_):
        seen.append(list(calls))
        return interleaved(calls, rounds, warm_up=0)

    interleaved = networks.interleaved
    monkeypatch.setattr(networks, "interleaved", spy)
    which = candidates(["hue2", "sat3"], ["eager"])
    measure_network("z2cnn", which, rounds=1, batch=2)
    assert seen == [which, which]


def test_a_record_says_what_a_network_costs_relative_to_the_plain_one():
    which = [Candidate(None), Candidate("hue4", "fast"), Candidate("hue4", "direct")]
    records = measure_network("z2cnn", which, rounds=1, batch=2)
    assert [record["phase"] for record in records] == ["training"] * 3 + ["inference"] * 3
    for plain, fast, direct in (records[:3], records[3:]):
        assert plain["ratio"] == plain["memory_ratio"] == plain["multiply_adds_ratio"] == 1
        assert (plain["group"], plain["order"], plain["rank"]) == (None, 1, 1)
        assert (fast["order"], fast["rank"], fast["batch"], fast["image_size"]) == (4, 5, 2, 28)
        assert fast["parameters"] == direct["parameters"] == 25_620
        assert fast["ratio"] == pytest.approx(fast["seconds"] / plain["seconds"])  # of a single round
        assert fast["multiply_adds"] == pytest.approx(direct["multiply_adds"] * 5 / 16)
        assert fast["peak_memory"] > plain["peak_memory"] > 0
    assert records[0]["peak_memory"] > records[3]["peak_memory"]  # training keeps what inference lets go


@pytest.mark.parametrize("group", ["hue4", "hue4-sat3"])
def test_the_floor_has_the_convolutions_of_the_algorithm_and_not_its_transforms(group):
    which = [Candidate(None), Candidate(group, "fast"), Candidate(group, "floor")]
    records = measure_network("resnet44", which, rounds=1, batch=2)
    for _, fast, floor in (records[:3], records[3:]):
        assert (floor["group"], floor["algorithm"]) == (group, "floor")
        assert floor["multiply_adds"] == fast["multiply_adds"]
        beside = [r["multiply_adds_with_transforms"] - r["multiply_adds"] for r in (floor, fast)]
        assert 0 < beside[0] < beside[1] / 100  # the linear layer is left


def test_the_floor_is_timed_beside_auto_where_it_is_asked_for():
    which = candidates(["hue3"], floor=True)
    assert [each for each in which if each.algorithm == "floor"] == [Candidate("hue3", "floor")]


def test_compiled_networks_are_timed_beside_eager_ones(monkeypatch):
    """With a backend that compiles nothing, to be quick; blocks and limits are those of the real one."""
    monkeypatch.setattr(networks, "compile_blocks", partial(networks.compile_blocks, backend="eager"))
    records = measure_network("z2cnn", candidates(["hue2"]), rounds=1, batch=2)
    assert [(r["group"], r["mode"]) for r in records[:4]] == [
        (None, "eager"),
        ("hue2", "eager"),
        (None, "compiled"),
        ("hue2", "compiled"),
    ]
    assert all(r["ratio"] == 1 for r in records if r["group"] is None)


def test_fused_networks_are_timed_in_training_and_inference(monkeypatch):
    asked = []

    def optimize(model, images, **options):
        asked.append(options["compile"])
        return optimized(model, images)

    optimized = networks.optimize_for_inference
    monkeypatch.setattr(networks, "optimize_for_inference", optimize)
    monkeypatch.setattr(networks, "fuse_for_training", lambda model, images: asked.append("training") or model)
    which = [each for each in candidates(["hue2"], ["eager"], fused=True) if each.algorithm in ("auto", "fused")]
    records = measure_network("z2cnn", which, rounds=1, batch=2)
    assert [(r["phase"], r["algorithm"]) for r in records if r["group"]] == [
        (phase, algorithm) for phase in ("training", "inference") for algorithm in ("auto", "fused")
    ]
    assert asked == ["training", False, False, True]
    assert records[-1]["multiply_adds"] == records[-2]["multiply_adds"]
