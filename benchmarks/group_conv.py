"""One group convolution, fast against direct, over sizes: the measurement behind ``algorithm="auto"``.

Run: python benchmarks/group_conv.py [--quick]

Prints time of direct / time of fast for a training step (forward and backward) and for inference: above 1, fast wins.
The last columns say what ``auto`` takes, and how much slower than the better of the two that is.
"""

import argparse
from collections.abc import Callable
from typing import Literal

import torch

import equicolor as ec
from _timing import medians

GROUPS = ("hue2", "hue3", "hue4", "hue8", "hue12", "sat3", "hue4-sat3")
WIDTHS = (4, 8, 16, 32, 64, 128)
MAPS = (4, 8, 16, 32, 56)
KERNELS = (1, 3)
CHOICES: tuple[Literal["direct", "fast"], ...] = ("direct", "fast")


def training_step(layer: torch.nn.Module, features: torch.Tensor) -> Callable[[], object]:
    def step() -> None:
        layer.zero_grad()
        features.grad = None
        layer(features).sum().backward()

    return step


def inference(layer: torch.nn.Module, features: torch.Tensor) -> Callable[[], object]:
    def run() -> None:
        with torch.inference_mode():
            layer(features)

    return run


def main() -> None:
    """Prints one line for each size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a coarse sweep")
    parser.add_argument("--batch", type=int, default=32, help="images")
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    groups = GROUPS[1::3] if arguments.quick else GROUPS
    widths = WIDTHS[::2] if arguments.quick else WIDTHS
    maps = MAPS[1::2] if arguments.quick else MAPS
    print(f"{torch.get_num_threads()} threads, batch {arguments.batch}, channels_last, medians of interleaved runs")
    print("group      width  map  kernel   train  inference   auto    loss (train, inference)")
    worst = 0.0
    for group in map(ec.group, groups):
        for kernel in KERNELS:
            for width in widths:
                for size in maps:
                    if group.order * width * size * size * arguments.batch > 1e7:
                        continue  # more than 40 MB a feature: as the largest of these
                    shape = (group.order * arguments.batch, width, size, size)
                    features = torch.rand(shape).to(memory_format=torch.channels_last).requires_grad_()
                    layers: dict[str, torch.nn.Module] = {}
                    for name in CHOICES:
                        layer = ec.nn.GroupConv2d(
                            group, width, width, kernel, padding=kernel // 2, bias=False, algorithm=name
                        )
                        layers[name] = layer.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
                    train = medians({n: training_step(m, features) for n, m in layers.items()}, arguments.rounds, 1)
                    still = features.detach()
                    infer = medians({n: inference(m.eval(), still) for n, m in layers.items()}, arguments.rounds, 1)
                    auto = ec.nn.GroupConv2d(group, width, width, kernel)._choose(arguments.batch * size**2)
                    losses = [t[auto] / min(t.values()) - 1 for t in (train, infer)]
                    worst = max(worst, *losses)
                    print(
                        f"{group!s:10s} {width:5d} {size:4d} {kernel:5d}   {train['direct'] / train['fast']:7.2f} "
                        f"{infer['direct'] / infer['fast']:9.2f}   {auto:6s}  {losses[0]:6.0%} {losses[1]:6.0%}",
                        flush=True,
                    )
    print(f"auto is at most {worst:.0%} slower than the better of the two")


if __name__ == "__main__":
    main()
