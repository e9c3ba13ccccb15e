"""A trained network that stays as it is, and around which a canonicaliser learns: described, and taken over."""

from collections.abc import Sequence
from typing import Any

import torch

from equicolor.files import from_pretrained, read_card, saved_folder
from equicolor.models import Model, create_model


def described(around: str) -> dict[str, Any]:
    """The fields of a recipe that say which network it is: ``model``, ``group`` and ``model_options``.

    Raises:
        ValueError: its card does not say how to build it, or it is behind a canonicaliser already.
    """
    architecture = read_card(saved_folder(around)).architecture
    if architecture is None:
        raise ValueError(
            f"the card of {around} names no network of create_model, so a run cannot build it. Put a canonicaliser in "
            "front of it yourself: canonicalize(network, group), then equicolor.train.train_canonicalizer"
        )
    options = dict(architecture)
    if options.pop("canonicalize", None) is not None:
        raise ValueError(f"the network in {around} is behind a canonicaliser already: give the one without")
    return {"model": options.pop("name"), "group": options.pop("group", None), "model_options": options}


def take_over(network: Model, around: str, classes: Sequence[str] | None) -> None:
    """Gives ``network`` the weights and statistics of the saved one, bit for bit, and freezes it.

    Args:
        network: built as the recipe says.
        around: where the saved one is.
        classes: of the images that it is to be tested on; None where they have none.

    Raises:
        ValueError: the saved network is another, or tells other classes apart.
    """
    folder, theirs = saved_folder(around), described(around)
    with torch.device("meta"):
        saved = create_model(theirs["model"], theirs["group"], **theirs["model_options"]).config
    if saved != network.config:
        differ = ", ".join(name for name in {**saved, **network.config} if saved.get(name) != network.config.get(name))
        raise ValueError(
            f"the network in {around} is another than the recipe's, by {differ}: leave model, group and model_options "
            "to its card"
        )
    known = read_card(folder).classes
    if known and classes is not None and list(known) != list(classes):
        raise ValueError(
            f"the network in {around} tells {', '.join(known)} apart, and the images are of {', '.join(classes)}: its "
            "errors on them would mean nothing. Take the data that it was trained on"
        )
    from_pretrained(folder, model=network)
    network.requires_grad_(False).eval()
