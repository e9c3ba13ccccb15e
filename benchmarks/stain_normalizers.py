"""Reinhard and Macenko here and in torchstain: ``pip install torchstain==1.4.1``, then this file.

On rendered tissue, mixtures of haematoxylin and eosin that differ from image to image, and on images without two dyes.
"""

import statistics
import time
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor
from torchstain.torch.normalizers.macenko import TorchMacenkoNormalizer
from torchstain.torch.normalizers.reinhard import TorchReinhardNormalizer

import equicolor as ec


def tissue(count: int = 50, size: int = 64) -> Tensor:
    """Bytes; every pixel has some of both dyes, so that all of them count as coloured in both libraries."""
    generator = torch.Generator().manual_seed(0)
    amounts = 0.5 + torch.rand(count, 2, size, size, generator=generator) ** 2
    dyes = torch.tensor(ec.color.STAINS[:2]) + 0.05 * torch.rand(count, 2, 3, generator=generator)
    return (240 * torch.exp(-torch.einsum("nihw,nic->nchw", amounts, dyes))).round().to(torch.uint8)


def theirs() -> dict[str, Callable[[Tensor], Tensor]]:
    """From one image of bytes to one in [0, 1], with our target."""
    reinhard = TorchReinhardNormalizer()
    reinhard.target_means, reinhard.target_stds = (torch.tensor(each) for each in ec.color.REINHARD_TARGET)
    macenko = TorchMacenkoNormalizer()
    return {
        "reinhard": lambda image: reinhard.normalize(image).permute(2, 0, 1) / 255,
        "macenko": lambda image: macenko.normalize(image, stains=False)[0].permute(2, 0, 1) / 255,
    }


def raised(normalize: Callable[[Tensor], Tensor], image: Tensor) -> str:
    """What becomes of an image."""
    try:
        return "finite" if torch.isfinite(normalize(image)).all() else "not finite"
    except Exception as error:
        return type(error).__name__


def one_by_one(normalize: Callable[[Tensor], Tensor], batch: Tensor) -> Tensor:
    """As a library takes images that has no batches."""
    return torch.stack([normalize(image) for image in batch])


def timed(run: Callable[[Tensor], Tensor]) -> float:
    """Seconds for all images."""
    start = time.perf_counter()
    run(images)
    return time.perf_counter() - start


images = tissue()
odd = {name: torch.full((3, 64, 64), value, dtype=torch.uint8) for name, value in (("black", 0), ("white", 255))}
odd["one colour"] = torch.tensor([200, 120, 160], dtype=torch.uint8).view(3, 1, 1).expand(3, 64, 64).contiguous()
for name, normalize in theirs().items():
    ours = {"reinhard": ec.color.reinhard, "macenko": ec.color.macenko}[name]
    difference = (one_by_one(normalize, images) - ours(images)).abs()
    times = [(timed(partial(one_by_one, normalize)), timed(ours)) for _ in range(5)]  # in turn
    ratio = statistics.median(first for first, _ in times) / statistics.median(second for _, second in times)
    print(f"{name}: largest difference {255 * float(difference.max()):.2f}/255, theirs takes {ratio:.1f} times as long")
    for kind, image in odd.items():
        print(f"    {kind}: theirs {raised(normalize, image)}, ours {raised(ours, image)}")
