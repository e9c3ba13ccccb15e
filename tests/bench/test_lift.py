"""The lift against PIL and kornia: the ways compute the same, and each is compared with the right one."""

import torch

import equicolor as ec
from equicolor.bench import _pil
from equicolor.bench.lift import FAMILIES, measure_families, measure_lift


def test_the_way_of_pil_computes_our_lift_up_to_8_bits():
    images = torch.rand(5, 3, 8, 8)
    theirs = _pil.lift(images, 4).transpose(0, 1).flatten(0, 1)  # group-major
    ours = ec.Hue(4).lift(images)
    # 8 bits of hue are steps of 1.4°, 2.4 % of full scale in the channel that changes; saturation and value add less.
    assert (theirs - ours).abs().max() < 0.06
    assert (theirs - ours).abs().mean() < 0.01


def test_the_lift_is_compared_with_pil_and_one_element_with_kornia():
    records = {record["way"]: record for record in measure_lift(["eager"], rounds=1, batch=4, side=8)}
    pil, kornia, one, lift = (
        next(record for way, record in records.items() if way.startswith(start))
        for start in ("PIL", "kornia", "equicolor, one", "equicolor lift")
    )
    assert len(records) == 4
    assert pil["times_faster_than_pil"] == kornia["times_faster_than_kornia"] == 1
    assert lift["times_faster_than_kornia"] is None  # four elements are no match for one
    assert one["times_faster_than_pil"] is None
    assert min(record["seconds_per_image"] for record in records.values()) > 0


def test_families_are_compared_element_by_element_in_both_layouts():
    records = measure_families(["eager"], rounds=1, batch=2, side=8)
    assert [(r["group"], r["layout"]) for r in records] == [
        (name, layout) for layout in ("contiguous", "channels_last") for name in FAMILIES
    ]
    assert [r["ratio"] for r in records if r["group"] == "hue4"] == [1, 1]
    assert min(r["seconds_per_element"] for r in records) > 0
