"""Which images a split has: some rows of a release, or a random share of them, which keeps groups together."""

from collections.abc import Iterable

import numpy as np
import torch
from torch import Tensor

from equicolor.data._description import Raw, Split
from equicolor.data._random import permutation


def rows_of(raw: Raw, cut: Split, seed: int, others: Iterable[Split] = ()) -> Tensor:
    """The rows of a split, in the order of the original files.

    A random share of images that belong together, by ``raw.clusters``, has all of a cluster or nothing.

    Args:
        raw: what the split is cut from.
        cut: the split.
        seed: of a random share.
        others: the other splits of the set, so that shares of clusters lie edge to edge.
    """
    keep = torch.ones(len(raw.source), dtype=torch.bool)
    for column, values in cut.only.items():
        keep &= torch.isin(raw.columns[column], torch.tensor(values))
    rows = keep.nonzero().flatten()
    if cut.share is None:
        return rows
    start, stop, of = cut.share
    if raw.clusters is None:
        order = permutation(len(rows), seed)
        return rows[order[len(rows) * start // of : len(rows) * stop // of].sort().values]
    edges = {0, start, stop, of}
    for other in others:
        if other.share and (other.part, other.only, other.share[2]) == (cut.part, cut.only, of):
            edges |= set(other.share[:2])
    bounds = sorted(edges)
    parts = cluster_parts(raw.clusters.codes[rows], bounds, seed)
    return rows[(parts >= bounds.index(start)) & (parts < bounds.index(stop))]


def cluster_parts(clusters: Tensor, bounds: list[int], seed: int) -> Tensor:
    """Which part each image is in, of a random cut that divides no cluster.

    Clusters stand in a circle in a random order. It is opened at the place from where parts come closest to their
    sizes, and none of them is empty.

    Args:
        clusters: the cluster of each image, ``(N,)`` int64.
        bounds: where parts begin and end, from 0 on: ``[0, 8, 9, 10]`` for 80 %, 10 % and 10 % of the images.
        seed: of the order.

    Returns:
        The number of its part for each image, ``(N,)``.

    Raises:
        ValueError: there are fewer clusters than parts.

    Example:
        >>> cluster_parts(torch.tensor([0, 0, 1, 1, 2, 2]), [0, 1, 3], seed=0).tolist()
        [1, 1, 0, 0, 1, 1]
    """
    names, members = torch.unique(clusters, return_inverse=True)
    count, parts = len(names), len(bounds) - 1
    if count < parts:
        raise ValueError(
            f"{count} groups of images that belong together cannot be cut into {parts} parts without dividing one: "
            "give a column 'split', or use the split 'all'"
        )
    order = permutation(count, seed, "clusters")
    sizes = torch.bincount(members)[order].numpy()
    images, of = int(sizes.sum()), bounds[-1]
    before = np.concatenate([[0], np.cumsum(np.tile(sizes, 2))])  # images before each place, twice around
    begin = np.arange(count)
    ends, missed = [begin], np.zeros(count, dtype=np.int64)
    for number, bound in enumerate(bounds[1:], start=1):
        wanted = before[begin] * of + images * bound  # all in whole numbers, the same on every machine
        place = np.searchsorted(before * of, wanted).clip(1, 2 * count)
        place -= wanted - before[place - 1] * of <= before[place] * of - wanted
        ends.append(place.clip(ends[-1] + 1, begin + count - (parts - number)))
        share = images * (bound - bounds[number - 1])
        missed += np.abs((before[ends[-1]] - before[ends[-2]]) * of - share)
    first = int(missed.argmin())
    part_of = torch.empty(count, dtype=torch.long)
    for number in range(parts):
        part_of[order[torch.arange(int(ends[number][first]), int(ends[number + 1][first])) % count]] = number
    return part_of[members]
