"""The features that images are sorted by: the penultimate map of a network on hues, for images in batches."""

from collections.abc import Iterable
from typing import Literal

import torch
from torch import Tensor

from equicolor.trained._open import Opened
from equicolor.trained._prepared import prepared
from equicolor.trained._sort import fine_features, hue_factor, layer_features, penultimate_map


def hue_features(
    opened: Opened,
    batches: Iterable[tuple[list[str], Tensor]],
    feature: Literal["mean", "map"] = "mean",
    substeps: int = 3,
) -> tuple[list[str], Tensor, Tensor]:
    """Computes the features of all images for :func:`hue_positions`, with their names and pictures.

    Args:
        opened: a network on a group with hues.
        batches: names and images, from :func:`file_batches` or :func:`set_batches`.
        feature: the mean of the penultimate map over the image, or the whole map.
        substeps: hues from one element of the group to the next.

    Returns:
        Names, pictures as the network sees them, uint8 ``(B, 3, S, S)``, and features ``(B, n·substeps, D)``; empty
        where there are no images.

    Raises:
        ValueError: the network has no hues among its group.
    """
    hue_factor(opened.group)
    assert opened.group is not None
    names, pictures, features = list[str](), list[Tensor](), list[Tensor]()
    layer = ""
    for some, loaded in batches:
        batch = prepared(opened.model, loaded)
        there = batch.to(opened.device)
        layer = layer or penultimate_map(opened.model, there[:1], opened.group)
        feature_map = layer_features(opened.model, layer)
        pooled = (lambda x, f=feature_map: f(x).mean((2, 3))) if feature == "mean" else feature_map
        names += some
        pictures.append(batch if batch.dtype == torch.uint8 else (255 * batch).round().to(torch.uint8))
        features.append(fine_features(pooled, there, opened.group, substeps).cpu())
    if not names:
        return names, torch.empty(0, 3, 1, 1, dtype=torch.uint8), torch.empty(0, 0, 0)
    return names, torch.cat(pictures), torch.cat(features)
