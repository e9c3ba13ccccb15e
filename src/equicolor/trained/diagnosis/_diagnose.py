"""``diagnose``: one door to both questions."""

import os
from pathlib import Path
from typing import overload

from torch import nn

from equicolor.data import ImageSet, list_datasets, load
from equicolor.trained._open import Opened, open_model
from equicolor.trained.diagnosis._colors import LIMIT, Images, named_split
from equicolor.trained.diagnosis._network import ModelDiagnosis, diagnose_model
from equicolor.trained.diagnosis._sets import ColorDiagnosis, diagnose_sets


@overload
def diagnose(*, source: Images, target: Images, limit: int | None = None, seed: int = 0) -> ColorDiagnosis: ...


@overload
def diagnose(
    model: nn.Module | str | os.PathLike[str],
    *,
    data: ImageSet | str | os.PathLike[str],
    limit: int | None = None,
    seed: int = 0,
) -> ModelDiagnosis: ...


def diagnose(
    model: nn.Module | str | os.PathLike[str] | None = None,
    *,
    data: ImageSet | str | os.PathLike[str] | None = None,
    source: Images | None = None,
    target: Images | None = None,
    limit: int | None = None,
    seed: int = 0,
) -> ColorDiagnosis | ModelDiagnosis:
    """Says how the colours of two sets differ, or what colour would do to a network.

    Give ``source`` and ``target`` for the first, ``model`` and ``data`` for the second.

    Args:
        model: a trained network, or the folder of its run or model, or its name on the hub.
        data: labelled images that it is tried on: a set that was loaded, the path of one, or a name, ``"digits:test"``.
        source: a set: loaded, a tensor ``(N, 3, H, W)``, the path of a folder of images (with labels or without) or of
            a table, or a name, ``"malaria:blue"``.
        target: the set that it is compared with, given likewise.
        limit: how many images are looked at: by default 1,000 of each set, or 500 that a network is tried on.
        seed: decides which images are looked at.

    Returns:
        How the two sets differ, or how far the network holds; and what to do about it.

    Raises:
        ValueError: neither of the two was asked, or both; a set is not there or has too few images.

    Example:
        >>> found = diagnose(source="train/", target="clinic/")  # doctest: +SKIP
        >>> print(found.best, found.recommendation.text)  # doctest: +SKIP
        >>> print(diagnose("runs/digits", data="digits:test").recommendations)  # doctest: +SKIP
    """
    if model is None and data is None and source is not None and target is not None:
        return diagnose_sets(source, target, limit=LIMIT if limit is None else limit, seed=seed)
    if model is None or data is None or source is not None or target is not None:
        raise ValueError("diagnose takes two sets, source and target, or a trained model and the data to try it on")
    opened = None if isinstance(model, nn.Module) else open_model(model)
    network = model if opened is None else opened.model
    assert isinstance(network, nn.Module)
    images = data if isinstance(data, ImageSet) else labelled(data, opened)
    return diagnose_model(network, images.sample(min(500 if limit is None else limit, len(images)), seed))


def labelled(data: str | os.PathLike[str], opened: Opened | None) -> ImageSet:
    """A labelled set by its path or name, ``NAME:SPLIT``, in the size that a network is shown; else to test on."""
    name, split = named_split(os.fspath(data))
    plan = None if opened is None else opened.preparation
    size, fit = (None, None) if plan is None else (plan.side, plan.fit)
    seed = 0 if opened is None else opened.seed_of(name)
    if name not in list_datasets() and Path(name).is_dir():
        return load("folder", name, split or "all", seed=seed, image_size=size, fit=fit, in_memory=False)
    return load(name, split=split or "test", seed=seed, image_size=size, fit=fit, in_memory=False)
