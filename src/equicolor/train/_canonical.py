"""Training a canonicaliser: images are moved at random by known amounts, and it is asked for the move. No labels."""

from collections.abc import Callable

import torch
from torch import Tensor

from equicolor.color import as_images
from equicolor.data import ImageSet, key
from equicolor.nn import Canonicalizer
from equicolor.train._data import StepSampler

#: Of every batch so many parts are left as they are: on images of the training set, the answer is to be no move.
_UNMOVED = 4


def train_canonicalizer(
    canonicalizer: Canonicalizer,
    images: ImageSet,
    *,
    steps: int = 1000,
    batch_size: int = 128,
    lr: float = 3e-3,
    seed: int = 0,
    advance: Callable[[], None] = lambda: None,
) -> float:
    """Trains a canonicaliser by itself, on any images. What it does is a function of the images and the seed.

    The colours that the images have count as the usual ones. So around a network that was trained on such images, and
    that is left as it is, the canonicaliser learns to hand it what it knows: a quarter of the images is not moved, and
    the answer is to be no move.

    Args:
        canonicalizer: left in eval mode, wherever its weights are.
        images: any set; labels are not looked at.
        steps, batch_size: how long, and images of each step; no more than there are.
        lr: the initial rate of Adam, which falls along a cosine.
        seed: of the order of the images and of the moves.
        advance: called after every step.

    Returns:
        The mean loss of the last tenth of the steps.
    """
    like = next(canonicalizer.parameters())
    batch_size = min(batch_size, len(images))
    canonicalizer.requires_grad_(True).train()
    optimizer = torch.optim.Adam(canonicalizer.parameters(), lr=lr)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    losses = []
    for step, indices in enumerate(StepSampler(len(images), batch_size, steps, seed)):
        batch = images.fetch(indices).images.to(like.device)
        loss = canonicalizer.loss(*moved_at_random(canonicalizer, batch, seed, step))
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        optimizer.zero_grad()
        schedule.step()
        losses.append(loss.detach())
        advance()
    canonicalizer.eval()
    return float(torch.stack(losses[-max(1, steps // 10) :]).mean())


def moved_at_random(
    canonicalizer: Canonicalizer, images: Tensor, seed: int, step: int, rank: int = 0, world: int = 1
) -> tuple[Tensor, Tensor]:
    """``images`` moved, all but a part of them, and by how much: a function of the seed and the step.

    They are the share that process ``rank`` of ``world`` has of a batch, and moved as they are by one for all.
    """
    images = as_images(images, canonicalizer.group.channels)
    whole, factors = len(images) * world, len(canonicalizer.group.factors)
    generator = torch.Generator().manual_seed(int(key(seed, f"canonicaliser {step}")) & 0x7FFFFFFFFFFFFFFF)
    amounts = canonicalizer.draw(torch.rand(whole, factors, generator=generator))
    amounts[: whole // _UNMOVED] = 0
    amounts = amounts[rank * len(images) : (rank + 1) * len(images)].to(images.device)
    return canonicalizer.group.move_by(images, amounts), amounts
