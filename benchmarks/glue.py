"""Inference with compiled glue, and transforms factor by factor: the CPU's time of one thread, medians in turn.

python benchmarks/glue.py resnet18 hue4 --batch 16 --rounds 9
python benchmarks/glue.py --transforms
"""

import argparse
import time
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn

import equicolor as ec
from equicolor.bench import interleaved
from equicolor.bench._floor import leave_out_transforms


@torch.inference_mode()
def infer(model: nn.Module, images: Tensor) -> Tensor:
    """What is timed of a network."""
    result: Tensor = model(images)
    return result


def network(name: str, group: str, batch: int, rounds: int) -> None:
    """Prints a line each for the plain network and those on a group: eager, fused, without transforms."""
    torch.manual_seed(0)
    images = torch.rand(batch, 3, 32, 32).to(memory_format=torch.channels_last)

    def ready(on: str | None, compiled: bool = False, **options: str) -> nn.Module:
        model = ec.create_model(name, on, **options).to(memory_format=torch.channels_last).eval()
        return ec.optimize_for_inference(model, images, compile=compiled)

    began = time.process_time()
    models = {"plain": ready(None), group: ready(group), f"{group}, fused": ready(group, compiled=True)}
    print(f"made in {time.process_time() - began:.1f} s of this process")
    models[f"{group}, floor"] = leave_out_transforms(ready(group, algorithm="fast"))
    calls = {label: partial(infer, model, images) for label, model in models.items()}
    timings = interleaved(calls, rounds, clock=time.process_time)
    for label in models:
        print(f"{label:16} {1e3 * timings.median(label):8.1f} ms  {timings.ratio(label, 'plain'):.2f}")


def transforms(rounds: int) -> None:
    """Prints a line for each transform and size: whole, and step by step, factor by factor."""
    for group in ("hue4-sat3", "temp3-tint3"):
        algorithm = ec.algorithms.fast(ec.group(group))
        for which in ("feature", "inverse"):
            whole = torch.tensor(getattr(algorithm, which))
            steps = [[torch.tensor(factor) for factor in step] for step in getattr(algorithm, f"{which}_steps")]
            steps = [step for step in steps if len(step) > 1 or not _is_identity(step[0])]
            for numbers in (32 * 18 * 1024, 32 * 36 * 256, 32 * 147 * 16):
                slabs = torch.rand(whole.shape[1], numbers)
                torch.testing.assert_close(_stepwise(steps, slabs), whole @ slabs, atol=1e-4, rtol=1e-4)
                calls: dict[str, Callable[[], Tensor]] = {
                    "whole": partial(torch.mm, whole, slabs),
                    "steps": partial(_stepwise, steps, slabs),
                }
                timings = interleaved(calls, rounds, clock=time.process_time)
                print(f"{group:12} {which:8} {numbers:8} {1e3 * timings.median('whole'):7.1f} ms whole, "
                      f"{timings.ratio('steps', 'whole'):.2f} times as long step by step")  # fmt: skip


def _is_identity(matrix: Tensor) -> bool:
    return matrix.shape[0] == matrix.shape[1] and bool((matrix == torch.eye(len(matrix))).all())


def _stepwise(steps: list[list[Tensor]], slabs: Tensor) -> Tensor:
    for outer, *inner in steps:
        slabs = outer @ slabs.reshape(outer.shape[1], -1)
        for each in inner:  # one, at most
            slabs = each @ slabs.reshape(outer.shape[0], each.shape[1], -1)
    return slabs.flatten(0, -2)


def main() -> None:
    """Measures what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("network", nargs="?", default="resnet18")
    parser.add_argument("group", nargs="?", default="hue4")
    parser.add_argument("--transforms", action="store_true")
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=9)
    given = parser.parse_args()
    torch.set_num_threads(1)
    if given.transforms:
        transforms(given.rounds)
    else:
        network(given.network, given.group, given.batch, given.rounds)


if __name__ == "__main__":
    main()
