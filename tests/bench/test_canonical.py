"""The cost of a canonicaliser, against the plain network."""

from equicolor.bench import tables
from equicolor.bench.canonical import measure_canonical


def test_a_canonicaliser_is_measured_against_the_plain_network():
    records = measure_canonical(("temp3-tint3", "anchored:temp3-tint3"), (32,), rounds=1, batch=1)
    assert [(r["canonicalize"], r["phase"]) for r in records] == [
        (group, phase) for phase in ("training", "inference") for group in (None, "temp3-tint3", "anchored:temp3-tint3")
    ]
    assert all(r["ratio"] == r["multiply_adds_ratio"] == 1 for r in records if r["canonicalize"] is None)
    assert all(1 < r["multiply_adds_ratio"] < 1.05 for r in records if r["canonicalize"] == "temp3-tint3")
    assert all(1 <= r["multiply_adds_ratio"] < 1.0001 for r in records if r["canonicalize"] == "anchored:temp3-tint3")
    (table,) = tables({"canonical": records})
    assert [row[0] for row in table.rows] == ["plain", "temp3-tint3", "anchored:temp3-tint3"] * 2
