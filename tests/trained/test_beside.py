"""The plain network of the same recipe is found where it was trained too, and no other is taken for it."""

from dataclasses import replace

from equicolor.train import fit
from equicolor.trained import plain_beside
from small import SMALL

RECIPE = replace(SMALL, train_size=16, test_size=16, seed=1, seeds=[1])


def test_it_is_found_among_the_runs_beside(tmp_path):
    fit(RECIPE, tmp_path / "hue", quiet=True)
    assert plain_beside(tmp_path / "hue") is None
    fit(replace(RECIPE, group=None, lr=0.5), tmp_path / "another-rate", quiet=True)
    assert plain_beside(tmp_path / "hue") is None
    fit(replace(RECIPE, group=None), tmp_path / "plain", quiet=True)
    assert plain_beside(tmp_path / "hue") == str(tmp_path / "plain")
    assert plain_beside(tmp_path / "plain") is None  # which has no group to be held against it


def test_networks_that_come_with_the_package_have_theirs():
    assert plain_beside("equicolor/shapes-hue4") == "equicolor/shapes-plain"
    assert plain_beside("equicolor/shapes-plain") is None
    assert plain_beside("somebody/else") is None
