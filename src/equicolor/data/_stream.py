"""The order of images that are read from storage row group by row group: a function of the seed and the epoch alone.

Shuffled as they are in memory, every batch would read from everywhere. Here row groups are shuffled, and their rows
within windows. A batch is filled from several lanes, each a part of the epoch of its own: a process that sees a share
of every batch reads the groups of its lanes, and no others.
"""

from math import gcd

import torch
from torch import Tensor

from equicolor.data._random import permutation

#: Lanes that fill a batch: as many processes read nothing twice. Fewer where the size of a batch is no multiple.
LANES = 8
#: Rows of a lane that are shuffled together.
WINDOW = 1024


def stream_order(
    groups: Tensor, batch_size: int, seed: int, epoch: int, lanes: int = LANES, window: int = WINDOW
) -> Tensor:
    """A permutation of images that reads few row groups at a time.

    Args:
        groups: the row group of each image, ``(N,)`` int64.
        batch_size: batches are cut from the result, one after another; process r of w has the r-th of w equal parts of
            each. It does not matter here how many there are.
        seed: what the order depends on.
        epoch: what the order depends on, too.
        lanes: parts of the epoch that fill a batch together; the largest common divisor with ``batch_size`` is taken.
        window: rows of a lane that are shuffled together.

    Returns:
        Every image once, ``(N,)``; those that do not fill a batch come last.

    Example:
        >>> order = stream_order(torch.arange(12) // 4, batch_size=4, seed=0, epoch=0)
        >>> sorted(order.tolist()) == list(range(12))
        True
    """
    count, lanes = len(groups), gcd(batch_size, lanes)
    steps = count // batch_size
    _, dense = torch.unique(groups, return_inverse=True)
    number = int(dense.max()) + 1 if count else 0
    place = torch.argsort(permutation(number, seed, f"groups of epoch {epoch}"))  # of each group in the epoch
    by_group = torch.argsort(place[dense], stable=True)
    whole, rest = by_group[: steps * batch_size], by_group[steps * batch_size :]
    drawn = torch.argsort(permutation(count, seed, f"rows of epoch {epoch}"))
    streams = whole.reshape(lanes, len(whole) // lanes)
    windows = torch.arange(streams.shape[1]) // window
    mixed = streams.gather(1, torch.argsort(windows * count + drawn[streams], dim=1))
    return torch.cat([mixed.reshape(lanes, steps, batch_size // lanes).transpose(0, 1).flatten(), rest])
