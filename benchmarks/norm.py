"""``equicolor.nn.BatchNorm2d`` against PyTorch's: forward and backward, channels_last, at widths of the ResNets.

python benchmarks/norm.py
"""

from functools import partial

import torch
from torch import Tensor, nn

import equicolor as ec
from equicolor.bench import interleaved

#: Elements of the group, channels, height and width, at batch 32.
SIZES = ((12, 9, 32), (8, 11, 32), (3, 18, 32), (12, 18, 16), (8, 22, 16), (3, 36, 16), (3, 37, 32), (4, 32, 32))


def step(norm: nn.Module, features: Tensor, gradient: Tensor) -> None:
    """What is timed."""
    norm(features).backward(gradient)


def main() -> None:
    """Prints a line for each size."""
    torch.manual_seed(0)
    print("elements channels  map   PyTorch      ours  times faster")
    for order, channels, side in SIZES:
        shape = (32 * order, channels, side, side)
        features, gradient = (torch.randn(shape).to(memory_format=torch.channels_last) for _ in range(2))
        features.requires_grad_()
        norms = {"torch": nn.BatchNorm2d(channels), "ours": ec.nn.BatchNorm2d(channels)}
        timings = interleaved({name: partial(step, norm, features, gradient) for name, norm in norms.items()})
        theirs, ours = (1e3 * timings.median(name) for name in norms)
        ratio = timings.ratio("torch", "ours")
        print(f"{order:8} {channels:8} {side:4} {theirs:6.1f} ms {ours:6.1f} ms {ratio:13.1f}")


if __name__ == "__main__":
    main()
