"""Whether a network is evaluated on what it was trained on, as far as its card tells."""

import os

import torch

from equicolor.data import DataNotFoundError, ImageSet, load
from equicolor.trained._open import Opened


def seen_in_training(opened: Opened, images: ImageSet, name: str, root: str | os.PathLike[str] | None = None) -> int:
    """Counts how many images of a set the network was trained on.

    It is known where the card has a fingerprint of the training images: that of ``images`` is compared with it, and
    that of the training split of the same set in the same place.

    Args:
        opened: the network and its card.
        images: the set, as it was loaded.
        name: what was loaded.
        root: where it was loaded from.

    Returns:
        Their number; 0 where there are none, or nothing is known.
    """
    about, recipe = opened.card.data or {}, opened.card.recipe or {}
    known = about.get("fingerprint")
    if not known:
        return 0
    if images.fingerprint().digest == known:
        return len(images)
    options, size = recipe.get("data_options"), recipe.get("train_size")
    if recipe.get("data") != name or not isinstance(options, dict):
        return 0
    try:
        chosen = {**options, "root": root, "task": images.task, "in_memory": False}
        training = load(name, split=str(recipe.get("train_split", "train")), **chosen)
        training = training.sample(size) if isinstance(size, int) else training
    except (DataNotFoundError, ValueError, TypeError, OSError):
        return 0  # the training images are elsewhere
    if training.draws != images.draws:  # numbered by other files
        return 0
    both = torch.isin(images.original_rows, training.original_rows)
    return int(both.sum()) if both.any() and training.fingerprint().digest == known else 0
