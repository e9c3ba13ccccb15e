"""What stands around the convolutions of one group convolution: features so small that nothing else takes time.

python benchmarks/overhead.py
"""

import time
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

import equicolor as ec
from equicolor.bench import interleaved

_GROUPS = ("hue4", "hue12", "hue4-sat3")


def alone(slabs: list[Tensor], filters: list[Tensor]) -> list[Tensor]:
    """The convolutions, and nothing else."""
    return [F.conv2d(slab, each, None, padding=1) for slab, each in zip(slabs, filters, strict=True)]


def main() -> None:
    """Prints a line for each group: medians of the time of one thread of the CPU, in turn."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    print("group      convolutions  forward  forward and backward")
    for group in _GROUPS:
        layer = ec.nn.GroupConv2d(group, 2, 2, 3, padding=1, algorithm="fast")
        features = torch.rand(layer.group.order, 2, 4, 4, requires_grad=True)
        rank = ec.algorithms.fast(layer.group).rank
        convolutions = [list(torch.rand(rank, 1, 2, 4, 4)), list(torch.rand(rank, 2, 2, 3, 3))]

        def step(layer: nn.Module = layer, features: Tensor = features) -> None:
            layer(features).sum().backward()

        calls = {"alone": partial(alone, *convolutions), "forward": partial(layer, features), "step": step}
        with torch.autograd.set_multithreading_enabled(False):
            timings = interleaved(calls, rounds=501, clock=time.thread_time)
        row = "".join(f"{1e3 * timings.median(name):{width}.2f} ms" for name, width in (("alone", 11), ("forward", 6)))
        print(f"{group:9}{row}{1e3 * timings.median('step'):19.2f} ms")


if __name__ == "__main__":
    main()
