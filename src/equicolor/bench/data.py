"""The data path, load + augment + lift, against one image at a time through PIL.

Ours takes a batch from memory, crops and flips it, and lifts it to hue4 in floating point, as it is or compiled. The
other way is that of the authors' code and many others: each image becomes a PIL image, is cropped and flipped, its hue
is turned four times through 8-bit HSV, and the results are stacked.
"""

import os
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from equicolor._tools.progress import Watch, unwatched
from equicolor._tools.timing import interleaved
from equicolor.bench import _pil
from equicolor.bench._compile import compiling
from equicolor.bench.networks import Mode
from equicolor.data import Augment, load
from equicolor.groups import Hue

_ONE_BY_ONE = "PIL, 8 bit, one by one"
_SIDE, _ORDER = 32, 4


def measure_data(
    modes: Sequence[Mode] = ("eager", "compiled"), rounds: int = 15, batch: int = 128, watch: Watch = unwatched
) -> list[dict[str, Any]]:
    """Images per second of each way, from the same decoded CIFAR-10; from noise, where EQUICOLOR_DATA has none."""
    name, fetch, pixels = _source()
    augment, group = Augment("cifar", _SIDE), Hue(_ORDER)
    generator = torch.Generator().manual_seed(0)
    batches = [torch.randint(len(pixels), (batch,), generator=generator) for _ in range(rounds)]

    def one_by_one(indices: Tensor, step: int) -> Tensor:
        draws = ((pixels[i], np.random.default_rng((step, i))) for i in indices.tolist())
        return torch.stack([_pil.turned_hues(_pil.cropped_and_flipped(*each), _ORDER) for each in draws])

    ways: dict[str, Callable[[Tensor, int], Tensor]] = {_ONE_BY_ONE: one_by_one}
    if "eager" in modes:
        ways["equicolor, batches"] = lambda indices, step: group.lift(augment(fetch(indices), step))
    if "compiled" in modes:
        compiled = torch.compile(group.lift, fullgraph=True, dynamic=False)
        ways["equicolor, batches, lift compiled"] = lambda indices, step: compiled(augment(fetch(indices), step))
    with compiling():
        calls = {name: _on_the_next(way, batches) for name, way in ways.items()}
        timings = interleaved(calls, rounds, warm_up=1, watch=watch, title="data")
    return [
        {
            "way": way,
            "data": name,
            "group": str(group),
            "batch": batch,
            "images_per_second": batch / timings.median(way),
            "times_faster_than_pil": timings.ratio(_ONE_BY_ONE, way),
        }
        for way in ways
    ]


def _source() -> tuple[str, Callable[[Tensor], Tensor], _pil.Bytes]:
    """What it is, how our way fetches a batch of it, and the same images as (N, 32, 32, 3) bytes for the other."""
    root = os.environ.get("EQUICOLOR_DATA")
    if root and (Path(root) / "cifar10").is_dir():
        cifar = load("cifar10", root, "test", as_bytes=True)
        return "cifar10", lambda indices: cifar.fetch(indices).images, cifar.images.permute(0, 2, 3, 1).numpy()
    noise = torch.randint(256, (10_000, 3, _SIDE, _SIDE), dtype=torch.uint8)
    return "noise", lambda indices: noise[indices], noise.permute(0, 2, 3, 1).numpy()


def _on_the_next(way: Callable[[Tensor, int], Tensor], batches: Sequence[Tensor]) -> Callable[[], Tensor]:
    """A call that takes another batch every time: all ways see the same batches in the same order."""
    steps = count()

    def call() -> Tensor:
        step = next(steps)
        return way(batches[step % len(batches)], step)

    return call
