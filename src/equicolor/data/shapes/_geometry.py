"""The ray caster behind Shapes: a lit room with one object, as coverage and luminance; its colours come later.

The geometry knows nothing of colour. It is cast once for each of the 8 scales × 4 shapes × 15 orientations, and every
pixel of it says two things: how many of its rays met each surface, and how bright what they met is.

*The same integers on every machine.* Rays see no floating-point operation but +, -, ×, ÷, √ and comparisons in float64,
one NumPy call each, which IEEE 754 rounds in one way only. Sines and cosines, which every library rounds as it likes,
are rounded to nine decimals first; sums over rays, whose order nobody promises, are sums of integers.
"""

import math
import os
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from equicolor.data.shapes._factors import FACTORS
from equicolor.data.shapes._solids import Solid, Vector, make_solid, vector

#: Changes whenever the same variant would be cast to other integers, so that no stale cache is read.
VERSION = 1
SCALES, SHAPES, ORIENTATIONS = FACTORS["scale"], FACTORS["shape"], FACTORS["orientation"]
#: Rays along each side of a pixel, and in all of it.
RAYS_PER_SIDE = 8
RAYS = RAYS_PER_SIDE**2
#: The luminance of white: 16 steps for each of a pixel's 255, so that smooth shading stays smooth.
WHITE = 16 * 255

FLOOR, WALL, OBJECT, SKY = range(4)

#: Few enough that what is between two steps stays in the processor's cache.
_RAYS_AT_ONCE = 2**15

# The room and where the camera stands in it, in units of about the object's height.
_ROOM_HALF = 4.4
_WALL_HEIGHT = 2.9
_CAMERA_DISTANCE = 4.1
_CAMERA_HEIGHT = 2.3
_TARGET_HEIGHT = 0.96
_VIEW_HALF = 0.48  # the tangent of half the angle of view

# A soft lamp behind the camera's left shoulder, a faint one on its right, and light from everywhere.
_LAMP = vector(-0.64, -0.34, 0.69).unit()
_LAMP_RADIUS = 0.22
_LAMP_POWER = 0.72
_FILL = vector(0.95, -0.20, 0.24).unit()
_FILL_POWER = 0.14
_AMBIENT = 0.44
_HIGHLIGHT = 0.34

_ZERO = np.asarray(0.0)


class Geometry(NamedTuple):
    """What was cast, for each variant in the order scale, shape, orientation (the last fastest)."""

    coverage: NDArray[np.uint8]  # [480, 3, S, S]: rays that met floor, wall, object; the rest of RAYS met the sky
    luminance: NDArray[np.int16]  # [480, S, S], in [0, WHITE]


def cast(image_size: int) -> Geometry:
    """All 480 variants at ``image_size`` × ``image_size`` pixels."""
    coverage = np.empty((SCALES * SHAPES, ORIENTATIONS, 3, image_size, image_size), np.uint8)
    luminance = np.empty((SCALES * SHAPES, ORIENTATIONS, image_size, image_size), np.int16)
    height = max(1, _RAYS_AT_ONCE // (RAYS * image_size))
    bands = [slice(top, min(top + height, image_size)) for top in range(0, image_size, height)]

    def fill(orientation: int, rows: slice) -> None:
        band = _cast_band(image_size, orientation, rows)
        coverage[:, orientation, :, rows] = band.coverage
        luminance[:, orientation, rows] = band.luminance

    # Bands share nothing, and NumPy releases the interpreter lock while it computes.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda task: fill(*task), product(range(ORIENTATIONS), bands)))
    return Geometry(coverage.reshape(-1, *coverage.shape[2:]), luminance.reshape(-1, *luminance.shape[2:]))


def _cast_band(image_size: int, orientation: int, rows: slice) -> Geometry:
    """Some rows of the 32 variants of one orientation, in the order scale, shape."""
    view = _look(image_size, orientation, rows)
    grid = (RAYS, -1, image_size)
    coverages, luminances = [], []
    for scale in range(SCALES):
        for shape in range(SHAPES):
            solid = make_solid(shape, 0.75 + 0.5 * scale / (SCALES - 1))
            surface, luminance = view.surface.copy(), view.luminance.copy()
            _cast_shadow(solid, view, luminance)
            _draw_object(solid, view, surface, luminance)
            met = [surface.reshape(grid) == each for each in (FLOOR, WALL, OBJECT)]
            coverages.append([rays.sum(axis=0, dtype=np.uint8) for rays in met])
            total = luminance.reshape(grid).sum(axis=0, dtype=np.int32)
            luminances.append((total + RAYS // 2) // RAYS)
    return Geometry(np.array(coverages, np.uint8), np.array(luminances, np.int16))


def _quantised(luminance: NDArray[np.float64]) -> NDArray[np.int32]:
    return np.rint(luminance * WHITE).astype(np.int32)


# ------------------------------------------------------------------------------------------------ the empty room


class _View(NamedTuple):
    """The empty room from one orientation; arrays have one entry for each ray, in the order ``[RAYS, rows, S]``."""

    eye: Vector
    ray: Vector
    lamp: Vector  # towards a point of the lamp, another one for each ray of a pixel
    above: Vector  # towards some point of the hemisphere above, likewise
    surface: NDArray[np.uint8]
    point: Vector  # where the ray meets it
    luminance: NDArray[np.int32]


def _look(image_size: int, orientation: int, rows: slice) -> _View:
    """Rows of the empty room as the camera sees it that has walked round the object by ``orientation``."""
    drop = _CAMERA_HEIGHT - _TARGET_HEIGHT
    length = math.sqrt(_CAMERA_DISTANCE * _CAMERA_DISTANCE + drop * drop)
    forward, down = _CAMERA_DISTANCE / length, drop / length
    rays = image_size * RAYS_PER_SIDE
    offset = ((2 * np.arange(rays) + 1 - rays) / rays * _VIEW_HALF).reshape(image_size, RAYS_PER_SIDE).T
    up, x = (grid.ravel() for grid in np.broadcast_arrays(-offset[:, None, rows, None], offset[None, :, None, :]))
    y, z = forward + up * down, up * forward - down
    turn = math.radians(-30 + 60 * orientation / (ORIENTATIONS - 1))
    cosine, sine = round(math.cos(turn), 9), round(math.sin(turn), 9)
    eye = vector(sine * _CAMERA_DISTANCE, -cosine * _CAMERA_DISTANCE, _CAMERA_HEIGHT)
    ray = Vector(x * cosine - y * sine, x * sine + y * cosine, z).unit()

    with np.errstate(divide="ignore"):
        to_floor = np.where(ray.z < 0, -eye.z / ray.z, np.inf)
        to_side = (np.where(ray.x < 0, -_ROOM_HALF, _ROOM_HALF) - eye.x) / ray.x
        to_back = (np.where(ray.y < 0, -_ROOM_HALF, _ROOM_HALF) - eye.y) / ray.y
    to_wall = np.minimum(to_side, to_back)
    point = eye.along(ray, np.minimum(to_floor, to_wall))
    behind = np.where(point.z > _WALL_HEIGHT, SKY, WALL)
    surface = np.where(to_floor < to_wall, FLOOR, behind).astype(np.uint8)

    is_side = to_side < to_back
    towards_room = Vector(np.where(is_side, -np.sign(ray.x), 0.0), np.where(is_side, 0.0, -np.sign(ray.y)), _ZERO)
    corner = np.minimum(np.abs(point.x), np.abs(point.y)) / _ROOM_HALF  # 1 where two walls meet
    shade = (0.84 + 0.16 * point.z / _WALL_HEIGHT) * (1.0 - 0.12 * corner * corner)
    wall = 0.5 * shade * _matt(towards_room, _LAMP)
    sky = 0.97 - 1.2 * np.maximum(ray.z, 0.0)
    floor = _floor(point, True, True)
    luminance = np.where(surface == FLOOR, floor, np.where(surface == WALL, wall, sky))
    return _View(eye, ray, *_light_samples(len(x) // RAYS), surface, point, _quantised(luminance))


# ------------------------------------------------------------------------------------------------ light


def _light_samples(pixels: int) -> tuple[Vector, Vector]:
    """For each ray a direction to the lamp and one to the hemisphere above, the same 64 in every pixel.

    A pixel averages its rays and so sees the whole lamp: shadows are soft at the price of hard ones.
    """
    number = np.arange(RAYS)
    radius = np.sqrt((number + 0.5) / RAYS)
    turns = [i * math.pi * (3 - math.sqrt(5)) for i in range(RAYS)]  # a sunflower: evenly spread over the disc
    u = radius * np.array([round(math.cos(turn), 9) for turn in turns])
    v = radius * np.array([round(math.sin(turn), 9) for turn in turns])
    above = Vector(u, v, np.sqrt(1.0 - radius * radius))  # a disc lifted to the hemisphere is weighted by the cosine
    level = np.sqrt(_LAMP.x * _LAMP.x + _LAMP.y * _LAMP.y)
    across = Vector(-_LAMP.y / level, _LAMP.x / level, _ZERO)
    over = Vector(-_LAMP.z * _LAMP.x / level, -_LAMP.z * _LAMP.y / level, level)
    lamp = _LAMP.along(across, u * _LAMP_RADIUS).along(over, v * _LAMP_RADIUS).unit()
    # 27 has no factor in common with 64: neighbouring rays look at far parts of the lamp.
    of_ray = np.repeat(27 * number % RAYS, pixels)
    return lamp.take(of_ray), above.take(of_ray)


def _matt(normal: Vector, lamp: Vector) -> NDArray[np.float64]:
    """What a matt surface returns of lamp, fill light and ambient light; about 1 where it faces the lamp."""
    direct, fill = np.maximum(normal.dot(lamp), 0.0), np.maximum(normal.dot(_FILL), 0.0)
    return _AMBIENT * (0.85 + 0.15 * normal.z) + _LAMP_POWER * direct + _FILL_POWER * fill


def _floor(point: Vector, lit: NDArray[np.bool_] | bool, open_above: NDArray[np.bool_] | bool) -> NDArray[np.float64]:
    """The luminance of the floor, which fades a little towards the walls."""
    light = _AMBIENT * open_above + _LAMP_POWER * _LAMP.z * lit + _FILL_POWER * _FILL.z
    fade = 1.0 - 0.012 * (point.x * point.x + point.y * point.y)
    return 0.5 * fade * light


# ------------------------------------------------------------------------------------------------ the object


def _cast_shadow(solid: Solid, view: _View, luminance: NDArray[np.int32]) -> None:
    """Darkens the floor where the object hides the lamp, or some of what is above."""
    x, y = view.point.x, view.point.y
    reach = 2.4 * solid.height
    near = np.flatnonzero((view.surface == FLOOR) & (x * x + y * y < reach * reach))
    start = view.point.take(near)._replace(z=_ZERO)
    lit = np.isinf(solid.distance(start, view.lamp.take(near)))
    open_above = np.isinf(solid.distance(start, view.above.take(near)))
    luminance[near] = _quantised(_floor(start, lit, open_above))


def _draw_object(solid: Solid, view: _View, surface: NDArray[np.uint8], luminance: NDArray[np.int32]) -> None:
    """Writes the object over the room."""
    # Only rays that pass the ball around it can meet it.
    middle = view.eye._replace(z=view.eye.z - solid.height / 2)
    passing = middle.dot(view.ray)
    near = np.flatnonzero(middle.dot(middle) - passing * passing < solid.bound * solid.bound)
    distance = solid.distance(view.eye, view.ray.take(near))
    met = np.isfinite(distance)
    hit = near[met]
    ray, lamp = view.ray.take(hit), view.lamp.take(hit)
    normal = solid.normal(view.eye.along(ray, distance[met]))
    gloss = np.maximum(normal.dot(Vector(lamp.x - ray.x, lamp.y - ray.y, lamp.z - ray.z).unit()), 0.0)
    for _ in range(5):  # to the 32nd power
        gloss = gloss * gloss
    surface[hit] = OBJECT
    luminance[hit] = _quantised(0.5 * _matt(normal, lamp) + _HIGHLIGHT * gloss)
