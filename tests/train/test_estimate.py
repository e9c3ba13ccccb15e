"""How long a run will take, asked before it is trained."""

from equicolor.train import ImageData, _estimate, expected_seconds
from small import SMALL


def ticking(monkeypatch):
    """Every look at the clock is a second after the last."""
    seconds = iter(range(10_000))
    monkeypatch.setattr(_estimate.time, "perf_counter", lambda: float(next(seconds)))


def test_steps_and_tests_are_counted(monkeypatch):
    ticking(monkeypatch)
    data = ImageData(SMALL)
    tests = sum(map(len, data.testing().values()))
    assert expected_seconds(SMALL, data) == data.steps + tests


def test_a_canonicaliser_is_trained_too(monkeypatch):
    ticking(monkeypatch)
    recipe = SMALL.replace(group=None, canonicalize="temp-tint", canonicalizer_steps=100)
    data = ImageData(recipe)
    assert expected_seconds(recipe, data) == expected_seconds(recipe.replace(canonicalizer_steps=0), data) + 50


def test_every_evaluation_counts(monkeypatch):
    ticking(monkeypatch)
    once, often = SMALL.replace(epochs=4), SMALL.replace(epochs=4, evaluate_every=2)
    tests = sum(map(len, ImageData(once).testing().values()))
    assert expected_seconds(often, ImageData(often)) - expected_seconds(once, ImageData(once)) == tests
