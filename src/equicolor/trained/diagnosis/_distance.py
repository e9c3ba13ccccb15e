"""How far the colours of two sets are apart, and how far they would be by chance.

The distance is a sliced Wasserstein distance: pixels are projected on directions of RGB, and along each it is the mean
way that they have to go for the one set to become the other. It knows of no bins, and of no order among pixels. Each
direction is held against what chance does along it: brightness varies between any two images, hue may not.

By chance: images are what is drawn, and pixels of one image, or images of one slide, are much alike. So images (or the
clusters they come in) are dealt anew, never pixels.

Whether two sets differ is asked twice, by this distance and by the means of what each image is like as a whole: how
colourful, and along which axes, which tells paler or turned photographs apart, of which most pixels are grey.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from equicolor.trained.diagnosis._colors import Colors

#: Directions, quantiles, and how often images are dealt anew.
_DIRECTIONS, _QUANTILES, _HALVES, _DEALS = 16, 128, 20, 399
#: Means cost nothing to be dealt. To their correlations this is added, so that few images do not make up a direction.
_MORE_DEALS, _RIDGE = 1999, 0.1
#: Fewer clusters than this in a set cannot be dealt: then images are.
_LEAST_CLUSTERS = 5
#: What is added to the ways of chance, of their mean and besides: half a step of 8 bits.
_SOME, _LITTLE = 0.25, 0.002

Array = NDArray[np.float32]
Array64 = NDArray[np.float64]
#: The images of each cluster, or each image by itself.
Members = list[NDArray[np.intp]]


def _directions() -> Array:
    """Evenly over half a sphere, along a spiral: the other half has the same distances."""
    place = np.arange(_DIRECTIONS) + 0.5
    up, turn = place / _DIRECTIONS, place * math.pi * (3 - math.sqrt(5))
    flat = np.sqrt(1 - up**2)
    return np.stack([flat * np.cos(turn), flat * np.sin(turn), up], axis=1).astype(np.float32)


_ALONG = _directions()


def profile(pixels: Tensor) -> Array:
    """Quantiles along each direction, of pixels and of the means of images: all that the distance looks at.

    Images of many lamps have other means than those of one, where all their pixels together may look much the same.

    Args:
        pixels: ``(images, 3, 1, pixels)``.

    Returns:
        ``(2 · directions, quantiles)``.
    """
    return np.concatenate([_quantiles(pixels), _quantiles(pixels.mean(-1, keepdim=True))])


def _quantiles(pixels: Tensor) -> Array:
    flat = pixels.detach().permute(1, 0, 2, 3).reshape(3, -1).numpy().astype(np.float32)
    ordered = np.sort(_ALONG @ flat, axis=1)
    places = np.clip((np.arange(_QUANTILES) + 0.5) / _QUANTILES * ordered.shape[1] - 0.5, 0, ordered.shape[1] - 1)
    low = places.astype(int)
    part = (places - low).astype(np.float32)
    found: Array = ordered[:, low] * (1 - part) + ordered[:, np.minimum(low + 1, ordered.shape[1] - 1)] * part
    return found


def ways(one: Array, other: Array) -> Array:
    """The mean way along each direction from one profile to another, where a channel is from 0 to 1."""
    found: Array = np.abs(one - other).mean(axis=1)
    return found


@dataclass(frozen=True, eq=False)
class Chance:
    """What chance alone does.

    Attributes:
        ways: along each direction, how far two samples of one set are apart that are as large as those here; in such
            units that the mean over all directions is 1.
        p_value: how often sets dealt at random from both are as far apart as these.
        clustered: whether whole clusters were dealt.
    """

    ways: Array
    p_value: float
    clustered: bool

    def distance(self, one: Array, other: Array) -> float:
        """Between two profiles, in units of what chance does: 1 is the distance of two samples of one set."""
        return _in_units(ways(one, other), self.ways)


def by_chance(source: Colors, target: Colors, seed: int = 0) -> Chance:
    """What the distance of two sets has to be held against."""
    units = [clusters_of(colors) for colors in (source, target)]
    clustered = all(each is not None for each in units)
    dealt = [_members(colors, own if clustered else None) for colors, own in zip((source, target), units, strict=True)]
    draw = np.random.default_rng(seed)
    # Halves are half as large as the sets, so by chance √2 times as far apart.
    within = [
        _halves(colors.pixels, own, draw) / math.sqrt(2) for colors, own in zip((source, target), dealt, strict=True)
    ]
    usual = np.sqrt((within[0] ** 2 + within[1] ** 2) / 2)
    more = usual + _SOME * usual.mean() + _LITTLE  # of grey images no direction of colour varies at all
    usual = more * _in_units(usual, more)
    seen = _in_units(ways(profile(source.pixels), profile(target.pixels)), usual)
    pool = torch.cat([source.pixels, target.pixels])
    members = dealt[0] + [own + len(source) for own in dealt[1]]
    farther = sum(_in_units(_parted(pool, members, draw, len(dealt[0])), usual) >= seen for _ in range(_DEALS))
    p_value = min((farther + 1) / (_DEALS + 1), _by_means((source, target), dealt, draw))
    return Chance(usual, min(1.0, 2 * p_value), clustered)  # of two questions, either may be answered by chance


def _by_means(sets: tuple[Colors, Colors], dealt: Sequence[Members], draw: np.random.Generator) -> float:
    """How often the means of what images are like are as far apart when they are dealt at random, by Hotelling's T²."""
    own = [
        np.stack([each.features[place].mean(0).numpy() for place in members])
        for each, members in zip(sets, dealt, strict=True)
    ]
    every = np.concatenate(own).astype(np.float64)
    every = (every - every.mean(0)) / (every.std(0) + 1e-6)
    turned, axes = np.linalg.eigh(every.T @ every / len(every) + _RIDGE * np.eye(every.shape[1]))
    every = every @ axes / np.sqrt(turned)
    first, total = len(own[0]), every.sum(0)

    def apart(part: Array64) -> float:
        return float(np.square(part / first - (total - part) / (len(every) - first)).sum())

    seen = apart(every[:first].sum(0)) - 1e-9
    farther = sum(apart(every[draw.permutation(len(every))[:first]].sum(0)) >= seen for _ in range(_MORE_DEALS))
    return (farther + 1) / (_MORE_DEALS + 1)


def _in_units(found: Array, usual: Array) -> float:
    return float((found / usual).mean())


def clusters_of(colors: Colors) -> Tensor | None:
    """The clusters of a set, if they are known, and enough of them to be dealt."""
    clusters = colors.clusters
    return clusters if clusters is not None and len(torch.unique(clusters)) >= _LEAST_CLUSTERS else None


def _members(colors: Colors, clusters: Tensor | None) -> Members:
    """The images of each cluster, or each image by itself."""
    if clusters is None:
        return [np.array([place]) for place in range(len(colors))]
    return [np.flatnonzero((clusters == cluster).numpy()) for cluster in torch.unique(clusters)]


def _halves(pixels: Tensor, members: Members, draw: np.random.Generator) -> Array:
    """The usual way along each direction between two random halves of a set."""
    found: Array = np.mean([_parted(pixels, members, draw, len(members) // 2) for _ in range(_HALVES)], axis=0)
    return found


def _parted(pixels: Tensor, members: Members, draw: np.random.Generator, first: int) -> Array:
    """The ways between two parts of a pool that are dealt at random, the one of so many members."""
    order = draw.permutation(len(members))
    one, other = (
        profile(pixels[np.concatenate([members[place] for place in part])]) for part in (order[:first], order[first:])
    )
    return ways(one, other)
