"""Training a canonicaliser: images are moved at random by known amounts, and it is asked for the move. No labels."""

import os
import time
from collections.abc import Callable

import torch
from torch import Tensor

from equicolor.color import as_images
from equicolor.data import ImageSet, key, load_unlabeled
from equicolor.models import CanonicalizedModel
from equicolor.nn import Canonicalizer
from equicolor.train._around import take_over
from equicolor.train._data import ImageData, StepSampler
from equicolor.train._progress import Bar
from equicolor.train._recipe import Recipe

#: Of every batch so many parts are left as they are: on images of the training set, the answer is to be no move.
_UNMOVED = 4


def train_canonicalizer(
    canonicalizer: Canonicalizer,
    images: ImageSet | str | os.PathLike[str],
    *,
    steps: int = 1000,
    batch_size: int = 128,
    lr: float = 3e-3,
    seed: int = 0,
    advance: Callable[[], None] = lambda: None,
) -> float:
    """Trains a canonicaliser by itself, on any images and without labels.

    The result is a function of the images and the seed. The colours that the images have count as the usual ones. So
    around a network that was trained on such images, and that is left as it is, the canonicaliser learns to hand it
    what it knows: a quarter of the images is not moved, and the answer is to be no move.

    Args:
        canonicalizer: what is trained, wherever its weights are; it is left in eval mode.
        images: any set; labels are not looked at. Or the path of a folder: all images below it.
        steps: how many steps.
        batch_size: images of each step; no more than there are.
        lr: the initial rate of Adam, which falls along a cosine.
        seed: what the order of the images and the moves depend on.
        advance: called after every step.

    Returns:
        The mean loss of the last tenth of the steps.

    Raises:
        ValueError: there are no images.
    """
    if not isinstance(images, ImageSet):
        images = load_unlabeled(images, canonicalizer.size)
    if not len(images):
        raise ValueError(f"{images.name} {images.split} holds no images to train a canonicaliser on")
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


def begin_canonicalized(
    model: CanonicalizedModel, recipe: Recipe, data: ImageData, device: torch.device, begins: bool, quiet: bool
) -> float:
    """Makes a canonicalised network ready for a run.

    Where the run begins, the canonicaliser is trained, by every process alike, or the network taken over that it is to
    learn around. Then what is not to learn is frozen.

    Args:
        model: the network.
        recipe: what is trained of it, and how.
        data: the images of the run.
        device: where the canonicaliser is trained.
        begins: whether the run does; else the weights of a checkpoint follow.
        quiet: show no progress.

    Returns:
        The seconds that its training took.
    """
    began = time.perf_counter()
    if recipe.around is not None:
        if begins:
            classes = data.train.classes if recipe.task == "classification" else None
            take_over(model.network, recipe.around, classes)
        model.network.requires_grad_(False).eval()
        return 0.0
    steps = recipe.canonicalizer_steps if begins else 0
    if steps:
        model.canonicalizer.to(device)
        with Bar(steps, 0, not quiet, steps, "training the canonicaliser") as bar:
            train_canonicalizer(model.canonicalizer, data.train, steps=steps, seed=recipe.seed, advance=bar.step)
    if recipe.canonicalizer_training == "first":
        model.canonicalizer.requires_grad_(False).eval()
    return time.perf_counter() - began if steps else 0.0
