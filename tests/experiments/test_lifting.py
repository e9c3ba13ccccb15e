"""The figures of lifting: every move drawn, and what leaves the RGB cube counted."""

import json

import pytest

from equicolor import cli
from equicolor.experiments.lifting import cube, outside


def test_the_cube_has_all_its_corners():
    corners = cube(2).flatten(1).T.tolist()
    assert sorted(corners) == sorted([float(r), float(g), float(b)] for r in (0, 1) for g in (0, 1) for b in (0, 1))


@pytest.mark.parametrize("degrees", [0, 120, 240])
def test_the_cube_turned_by_a_third_is_the_cube(degrees):
    assert outside(degrees, rotated=True) == 0


@pytest.mark.parametrize("degrees", [30, 60, 90, 180])
def test_otherwise_a_quarter_of_the_colours_leave_it_and_none_by_a_shift_of_hue(degrees):
    assert 0.2 < outside(degrees, rotated=True) < 0.35
    assert outside(degrees, rotated=False) == 0


def test_the_command_draws_the_figures(tmp_path, capsys):
    assert cli.main(["reproduce", "lifting", "--quick", "--folder", str(tmp_path)]) == 0
    assert "CEConv's rotation" in capsys.readouterr().out
    folder = tmp_path / "lifting"
    names = {path.name for path in folder.glob("*.png")}
    lifted = {f"lift-{name}.png" for name in ("hue", "hue-saturation", "luminance", "light")}
    assert names == lifted | {"cube-120.png", "cube-90.png"}
    records = json.loads((folder / "metrics.json").read_text())["records"]
    assert [record["degrees"] for record in records] == [0, 30, 60, 90, 120, 180]
