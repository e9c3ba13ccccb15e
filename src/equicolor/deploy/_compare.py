"""Whether a file computes what the network does that it was made of."""

from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from equicolor.deploy._graph import as_probabilities, channels_of, plain_copy
from equicolor.models import Preparation


@dataclass(frozen=True)
class Agreement:
    """How far two results for the same images are apart.

    Attributes:
        images: how many there were.
        largest: the largest difference of two numbers.
        mean: the mean of all differences.
        scale: the largest number itself, and at least 1: what differences are to be seen in relation to.
        same: the share of images, or pixels, whose likeliest class is the same.
    """

    images: int
    largest: float
    mean: float
    scale: float
    same: float


def agreement(found: Tensor, expected: Tensor) -> Agreement:
    """Compares two results, logits or probabilities.

    Args:
        found: a result, ``(B, K, ...)``.
        expected: what it should be, of the same shape.

    Returns:
        How far they are apart.

    Raises:
        ValueError: they differ in shape, or one of them is not finite.

    Example:
        >>> agreement(torch.tensor([[0.0, 2.0]]), torch.tensor([[1.0, 2.0]]))
        Agreement(images=1, largest=1.0, mean=0.5, scale=2.0, same=1.0)
    """
    if found.shape != expected.shape:
        raise ValueError(f"the file gives numbers of shape {tuple(found.shape)}, the network {tuple(expected.shape)}")
    if not (torch.isfinite(found).all() and torch.isfinite(expected).all()):
        raise ValueError("not all numbers are finite: of the file, or of the network that it was made of")
    difference = (found - expected).abs()
    same = found.argmax(1) == expected.argmax(1) if found.shape[1] > 1 else (found > 0) == (expected > 0)
    return Agreement(
        len(found),
        float(difference.max()),
        float(difference.mean()),
        max(1.0, float(expected.abs().max())),
        float(same.double().mean()),
    )


def made_up_images(network: nn.Module, side: int) -> Tensor:
    """16 images to compare on where there are no others: uint8, larger than ``side``, smooth as photographs are."""
    draw = torch.Generator().manual_seed(0)
    small = torch.rand(16, channels_of(network), 6, 6, generator=draw)
    images = F.interpolate(small, (side + side // 2 + 1, 2 * side + 3), mode="bicubic").clamp(0, 1)
    return (255 * images).round().to(torch.uint8)


def expected_of(model: nn.Module, plan: Preparation, images: Tensor, with_preparation: bool) -> Tensor:
    """What the network itself says of images: logits, or with preparation probabilities.

    Args:
        model: the network.
        plan: how its images are prepared.
        images: uint8 ``(B, C, H, W)``; with preparation they are scaled by PIL, as files are.
        with_preparation: what the file has inside.
    """
    network = plain_copy(model)
    with torch.no_grad():
        if not with_preparation:
            logits: Tensor = network(plan(images))
            return logits.float()
        if images.shape[1] != 3:
            raise ValueError(f"images of {images.shape[1]} channels are not prepared by PIL: export the network alone")
        pictures = [np.ascontiguousarray(image) for image in images.permute(0, 2, 3, 1).numpy()]
        return as_probabilities(network(plan(pictures)).float())
