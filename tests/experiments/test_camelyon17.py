"""The saturation statistics of hospitals, on embedded shapes whose saturation is known."""

import pytest

from equicolor.data import load
from equicolor.experiments.camelyon17 import saturation_statistics


def test_statistics_are_those_of_the_pixels():
    names = ("test_b", "test_a", "test_c")
    sets = {name: load("saturation_shift_shapes3d", split=name, in_memory=False).sample(60) for name in names}
    records, drawing = saturation_statistics(sets)
    assert [record["set"] for record in records] == list(names)
    assert records[0]["saturation"] < records[1]["saturation"] < records[2]["saturation"]
    # Floor, wall and object have a saturation between 0.1 and 0.4, drawn evenly; the grey sky above them has none.
    assert records[0]["saturation"] == pytest.approx(0.25, abs=0.05)
    assert all(record["images"] == 60 for record in records)
    histograms = [axes for axes in drawing.picture.axes if axes.patches]
    assert len(histograms) == 3
    assert all(axes.get_xlim() == (0, 1) for axes in histograms)
