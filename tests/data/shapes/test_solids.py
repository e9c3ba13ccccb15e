"""Rays meet the solids where the solids are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from equicolor.data.shapes._solids import Vector, make_solid, vector

SHAPES = pytest.mark.parametrize("shape", range(4), ids=["cube", "cylinder", "sphere", "capsule"])


def outside(solid, shape, point):
    """Negative inside the solid, 0 on it, positive outside: written another way than the solids are."""
    level = np.hypot(point.x, point.y)
    if shape == 0:
        away = np.maximum(np.abs(point.x), np.abs(point.y))
        return np.maximum(away, np.abs(point.z - solid.half)) - solid.half
    if shape == 1:
        return np.maximum(level - solid.radius, np.abs(point.z - solid.height / 2) - solid.height / 2)
    axis = np.clip(point.z, solid.radius, solid.height - solid.radius)
    return np.hypot(level, point.z - axis) - solid.radius


def rays(seed, solid, count=150):
    """Rays from around the solid towards places in and about it."""
    random = np.random.default_rng(seed)
    start = Vector(*random.normal(size=(3, count))).unit()
    start = vector(0, 0, solid.height / 2).along(start, np.full(count, 4.0))
    target = Vector(*random.uniform(-1.2, 1.2, size=(3, count)))
    return start, Vector(target.x - start.x, target.y - start.y, target.z + solid.height / 2 - start.z).unit()


@SHAPES
@given(seed=st.integers(0, 2**32 - 1), scale=st.floats(0.75, 1.25))
def test_a_ray_first_meets_a_solid_at_its_distance(shape, seed, scale):
    solid = make_solid(shape, scale)
    start, ray = rays(seed, solid)
    distance = solid.distance(start, ray)
    met = np.isfinite(distance)
    assert met.any()
    assert not met.all()
    assert (np.abs(outside(solid, shape, start.along(ray, np.where(met, distance, 0.0)))) < 1e-9)[met].all()
    for step in np.linspace(0.0, 8.0, 60):  # nowhere before that, and nowhere on a ray that misses
        before = np.minimum(step, distance)
        assert (outside(solid, shape, start.along(ray, before)) > -1e-9).all()


@SHAPES
@given(seed=st.integers(0, 2**32 - 1))
def test_normals_are_unit_vectors_towards_the_outside(shape, seed):
    solid = make_solid(shape, 1.0)
    start, ray = rays(seed, solid)
    distance = solid.distance(start, ray)
    met = np.flatnonzero(np.isfinite(distance) & (start.z > solid.height / 2))  # from below the camera never looks
    start, ray = start.take(met), ray.take(met)
    point = start.along(ray, distance[met])
    normal = solid.normal(point)
    np.testing.assert_allclose(normal.dot(normal), 1.0, atol=1e-9)
    assert (normal.dot(ray) < 1e-9).all()
    assert (outside(solid, shape, point.along(normal, np.full(len(met), 1e-3))) > 0).all()


@SHAPES
@given(seed=st.integers(0, 2**32 - 1))
def test_a_solid_lies_in_its_ball_and_stands_on_the_floor(shape, seed):
    solid = make_solid(shape, 1.0)
    start, ray = rays(seed, solid)
    distance = solid.distance(start, ray)
    met = np.flatnonzero(np.isfinite(distance))
    x, y, z = start.take(met).along(ray.take(met), distance[met])
    assert (x**2 + y**2 + (z - solid.height / 2) ** 2 < solid.bound**2 + 1e-9).all()
    assert (z > -1e-9).all()
    assert (z < solid.height + 1e-9).all()
    down = solid.distance(vector(0, 0, 10), vector(1e-6, 0, -1).unit())
    np.testing.assert_allclose(down, 10 - solid.height)
