"""Images per second of the full path, load + augment + lift, against one image at a time through PIL.

Ours takes a batch from memory, crops and flips it, and lifts it to hue4 in floating point, as it is or compiled. The
other way is that of the authors' code and many others: each image becomes a PIL image, is cropped and flipped, its hue
is shifted four times through 8-bit HSV, and the results are stacked. Both start from the same decoded CIFAR-10 (or from
noise, without EQUICOLOR_DATA) and run in turn, so that what else the machine does slows both.
"""

import argparse
import os
from collections.abc import Callable
from itertools import count
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import Tensor

import equicolor as ec
from _timing import medians
from equicolor.data import Augment, load

HUES = 4


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--batch-size", type=int, default=128)
    options.add_argument("--rounds", type=int, default=15)
    options.add_argument("--threads", type=int, default=torch.get_num_threads())
    options.add_argument("--no-compile", action="store_true", help="leave out what needs a C++ compiler")
    arguments = options.parse_args()
    torch.set_num_threads(arguments.threads)

    fetch, images = source()
    augment, group = Augment("cifar", 32), ec.Hue(HUES)
    generator = torch.Generator().manual_seed(0)
    batches = [
        torch.randint(len(images), (arguments.batch_size,), generator=generator) for _ in range(arguments.rounds)
    ]

    def batched(indices: Tensor, step: int) -> Tensor:
        return group.lift(augment(fetch(indices), step))

    def one_by_one(indices: Tensor, step: int) -> Tensor:
        return torch.stack([through_pil(images[i], np.random.default_rng((step, i))) for i in indices.tolist()])

    compiled = torch.compile(group.lift)

    def batched_compiled(indices: Tensor, step: int) -> Tensor:
        return compiled(augment(fetch(indices), step))

    ways = {"one by one": one_by_one, "batched": batched}
    if not arguments.no_compile:
        ways["batched, lift compiled"] = batched_compiled
    taken = medians({name: each_on_the_next(way, batches) for name, way in ways.items()}, arguments.rounds, warm_up=1)
    speed = {name: arguments.batch_size / seconds for name, seconds in taken.items()}
    for name, value in speed.items():
        print(f"{name:24}{value:8,.0f} images/s{value / speed['one by one']:7.1f}×")


def source() -> tuple[Callable[[Tensor], Tensor], np.ndarray]:
    """How our way fetches a batch, and the same images as (N, 32, 32, 3) bytes for the other."""
    root = os.environ.get("EQUICOLOR_DATA")
    if root and (Path(root) / "cifar10").is_dir():
        cifar = load("cifar10", root, "test", as_bytes=True)
        return lambda indices: cifar.fetch(indices).images, cifar.images.permute(0, 2, 3, 1).numpy()
    print("EQUICOLOR_DATA has no cifar10: timing noise of the same size")
    noise = torch.randint(256, (10_000, 3, 32, 32), dtype=torch.uint8)
    return lambda indices: noise[indices], noise.permute(0, 2, 3, 1).numpy()


def through_pil(array: np.ndarray, random: np.random.Generator) -> Tensor:
    """One image augmented and lifted through 8-bit PIL images: (HUES, 3, 32, 32)."""
    padded = Image.new("RGB", (40, 40))
    padded.paste(Image.fromarray(array), (4, 4))
    left, top = (int(random.integers(9)) for _ in range(2))
    image = padded.crop((left, top, left + 32, top + 32))
    if random.random() < 0.5:
        image = image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    hue, saturation, value = image.convert("HSV").split()
    turned = []
    for k in range(HUES):
        shifted = Image.fromarray((np.asarray(hue, dtype=np.int16) + 256 * k // HUES).astype(np.uint8))
        rgb = np.array(Image.merge("HSV", (shifted, saturation, value)).convert("RGB"))
        turned.append(torch.from_numpy(rgb).permute(2, 0, 1).float() / 255)
    return torch.stack(turned)


def each_on_the_next(way: Callable[[Tensor, int], Tensor], batches: list[Tensor]) -> Callable[[], Tensor]:
    """A call that takes another batch every time: all ways see the same batches in the same order."""
    steps = count()

    def call() -> Tensor:
        step = next(steps)
        return way(batches[step % len(batches)], step)

    return call


if __name__ == "__main__":
    main()
