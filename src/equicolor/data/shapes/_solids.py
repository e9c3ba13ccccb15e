"""The four solids of Shapes, and the vectors they are met with: where a ray enters, and which way the surface faces.

Vectors are three arrays, one for each axis, so that every step is one NumPy operation on plain arrays; see
``_geometry`` for why that matters. Solids stand on the floor ``z = 0`` around the axis ``x = y = 0``.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray


class Vector(NamedTuple):
    """x to the right, y away from the camera at orientation 0°, z up; numbers or arrays that broadcast."""

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    z: NDArray[np.float64]

    def dot(self, other: "Vector") -> NDArray[np.float64]:
        """The inner product."""
        return self.x * other.x + self.y * other.y + self.z * other.z

    def unit(self) -> "Vector":
        """The same direction at length 1."""
        length = np.sqrt(self.dot(self))
        return Vector(self.x / length, self.y / length, self.z / length)

    def along(self, direction: "Vector", distance: NDArray[np.float64]) -> "Vector":
        """The point that lies ``distance`` from here in that direction."""
        return Vector(*(a + distance * b for a, b in zip(self, direction, strict=True)))

    def take(self, where: NDArray[np.intp]) -> "Vector":
        """The vectors at these places; a vector that all rays share stays as it is."""
        return Vector(*(c[where] if c.ndim else c for c in self))


def vector(x: float, y: float, z: float) -> Vector:
    """One vector for all rays."""
    return Vector(np.asarray(x, np.float64), np.asarray(y, np.float64), np.asarray(z, np.float64))


class Solid(Protocol):
    """A convex body of the given height inside a sphere of the given radius about its middle."""

    @property
    def height(self) -> float: ...
    @property
    def bound(self) -> float: ...

    def distance(self, start: Vector, ray: Vector) -> NDArray[np.float64]:
        """How far each unit ray goes from ``start``, outside the solid, until it enters; infinity where it misses."""
        ...

    def normal(self, point: Vector) -> Vector:
        """The outward unit normal at points of the surface."""
        ...


def make_solid(shape: int, scale: float) -> Solid:
    """Cube, cylinder, sphere or capsule (0 to 3).

    The proportions are chosen so that the four cover the same area of the image, averaged over orientations: the share
    of a picture that has the object's colour does not give the shape away.
    """
    if shape == 0:
        return Cube(0.62 * scale)
    if shape == 1:
        return Cylinder(0.63 * scale, 1.58 * scale)
    if shape == 2:
        return Capsule(0.84 * scale, 0.0)
    return Capsule(0.62 * scale, 0.79 * scale)


@dataclass(frozen=True)
class Cube:
    """A cube whose faces are parallel to the walls."""

    half: float

    @property
    def height(self) -> float:
        return 2 * self.half

    @property
    def bound(self) -> float:
        return math.sqrt(3) * self.half

    def distance(self, start: Vector, ray: Vector) -> NDArray[np.float64]:
        near_x, far_x = _slab(start.x, ray.x, -self.half, self.half)
        near_y, far_y = _slab(start.y, ray.y, -self.half, self.half)
        near_z, far_z = _slab(start.z, ray.z, 0.0, self.height)
        near = np.maximum(np.maximum(near_x, near_y), near_z)
        far = np.minimum(np.minimum(far_x, far_y), far_z)
        return _entry(near, far)

    def normal(self, point: Vector) -> Vector:
        x, y, z = point.x, point.y, point.z - self.half
        top = np.abs(z) > np.maximum(np.abs(x), np.abs(y))
        side = ~top & (np.abs(x) > np.abs(y))
        return Vector(np.where(side, np.sign(x), 0.0), np.where(side | top, 0.0, np.sign(y)), np.where(top, 1.0, 0.0))


@dataclass(frozen=True)
class Cylinder:
    """An upright cylinder."""

    radius: float
    height: float

    @property
    def bound(self) -> float:
        return math.sqrt(self.radius * self.radius + self.height * self.height / 4)

    def distance(self, start: Vector, ray: Vector) -> NDArray[np.float64]:
        near_side, far_side = _round(start._replace(z=_ZERO), ray._replace(z=_ZERO), self.radius)
        near_z, far_z = _slab(start.z, ray.z, 0.0, self.height)
        near, far = np.maximum(near_side, near_z), np.minimum(far_side, far_z)
        return _entry(near, far)

    def normal(self, point: Vector) -> Vector:
        top = point.z > self.height * (1 - 1e-9)
        across = np.where(top, 0.0, 1 / self.radius)
        return Vector(point.x * across, point.y * across, np.where(top, 1.0, 0.0))


@dataclass(frozen=True)
class Capsule:
    """Two half balls with an upright cylinder of this length between them; without length, a sphere."""

    radius: float
    length: float

    @property
    def height(self) -> float:
        return 2 * self.radius + self.length

    @property
    def bound(self) -> float:
        return self.height / 2

    def distance(self, start: Vector, ray: Vector) -> NDArray[np.float64]:
        low, high = self.radius, self.radius + self.length
        entry = _entry(*_round(start._replace(z=start.z - low), ray, self.radius))
        if self.length:
            # The three parts make one convex body: a ray enters it where it first enters any of them.
            top = _entry(*_round(start._replace(z=start.z - high), ray, self.radius))
            near_side, far_side = _round(start._replace(z=_ZERO), ray._replace(z=_ZERO), self.radius)
            near_z, far_z = _slab(start.z, ray.z, low, high)
            side = _entry(np.maximum(near_side, near_z), np.minimum(far_side, far_z))
            entry = np.minimum(np.minimum(entry, top), side)
        return entry

    def normal(self, point: Vector) -> Vector:
        core = np.clip(point.z, self.radius, self.radius + self.length)
        return Vector(point.x / self.radius, point.y / self.radius, (point.z - core) / self.radius)


_ZERO = np.asarray(0.0)


def _slab(
    start: NDArray[np.float64], ray: NDArray[np.float64], low: float, high: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Where rays enter and leave the space between two parallel planes, along one axis."""
    with np.errstate(divide="ignore", invalid="ignore"):
        one, other = (low - start) / ray, (high - start) / ray
    return np.minimum(one, other), np.maximum(one, other)


def _round(start: Vector, ray: Vector, radius: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Where rays enter and leave a ball about the origin, or a round pillar when the vectors are flat (z = 0).

    Straight up or down, along the pillar, nobody looks and no light falls: those rays are not handled.
    Solves |start + t·ray|² = radius²; entry and exit are equal and infinite for rays that miss.
    """
    a, b = ray.dot(ray), start.dot(ray)
    inside = b * b - a * (start.dot(start) - radius * radius)
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.sqrt(np.maximum(inside, 0.0))
        near, far = (-b - root) / a, (root - b) / a
    return np.where(inside > 0, near, np.inf), np.where(inside > 0, far, np.inf)


def _entry(near: NDArray[np.float64], far: NDArray[np.float64]) -> NDArray[np.float64]:
    """Where rays enter what they are in between ``near`` and ``far``; infinity where that is nowhere or behind them."""
    return np.where((near < far) & (far > 0), near, np.inf)
