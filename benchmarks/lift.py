"""Lifting 32×32 images to Hue-4, against converting them through 8-bit PIL images one by one and against kornia.

Run: python benchmarks/lift.py
"""

import kornia
import numpy as np
import torch
from _timing import medians
from PIL import Image
from torch import Tensor

import equicolor as ec


def pil_lift(images: Tensor, order: int) -> Tensor:
    """The usual way: each image to 8-bit HSV, its hue channel shifted, and back, once for every element."""
    lifted = []
    for element in range(order):
        for image in images:
            pixels = (image.permute(1, 2, 0) * 255).to(torch.uint8).numpy()
            hsv = np.array(Image.fromarray(pixels).convert("HSV"))
            hsv[..., 0] += np.uint8(256 * element // order)  # wraps around
            shifted = np.array(Image.fromarray(hsv, mode="HSV").convert("RGB"))
            lifted.append(torch.from_numpy(shifted).permute(2, 0, 1).float() / 255)
    return torch.stack(lifted)


def main(batch: int = 128, order: int = 4) -> None:
    """Prints a table of times per image and ratios."""
    images = torch.rand(batch, 3, 32, 32, generator=torch.Generator().manual_seed(0))
    group = ec.Hue(order)
    compiled = torch.compile(group.lift, fullgraph=True)
    seconds = medians(
        {
            "PIL, 8 bit, one by one": lambda: pil_lift(images, order),
            "kornia to HSV and back, one element": lambda: kornia.color.hsv_to_rgb(kornia.color.rgb_to_hsv(images)),
            "equicolor, one element": lambda: ec.color.shift_hue(images, 90.0),
            "equicolor lift": lambda: group.lift(images),
            "equicolor lift, compiled": lambda: compiled(images),
        }
    )
    slowest = seconds["PIL, 8 bit, one by one"]
    print(f"{torch.get_num_threads()} threads, batch {batch}, 32×32, hue{order}; medians of interleaved runs")
    for name, time in seconds.items():
        print(f"{name:38s} {time / batch * 1e6:9.2f} µs per image   {slowest / time:7.1f}× the PIL route")


if __name__ == "__main__":
    main()
