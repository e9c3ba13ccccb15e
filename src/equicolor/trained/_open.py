"""A trained network by whatever the user has of it: a saved model, a run with a model inside, or a name on the hub."""

import os
from dataclasses import dataclass
from typing import Any, cast

import torch

from equicolor._tools.devices import chosen_device
from equicolor.files import Card, from_pretrained, read_card, saved_folder
from equicolor.groups import Group
from equicolor.models import Model, Preparation


@dataclass(frozen=True)
class Opened:
    """A network in eval mode, with the card that was saved beside it."""

    model: Model
    card: Card

    @property
    def architecture(self) -> dict[str, Any]:
        """The arguments of :func:`equicolor.create_model`."""
        return dict(self.card.architecture or {})

    @property
    def group(self) -> Group | None:
        """What its features live on; the hues of CEConv, None for a conventional network."""
        return self.model.group

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of the logits, or of the two classes that one tells apart; numbers where the card has no names."""
        return tuple(self.card.classes or map(str, range(max(2, int(self.architecture["num_classes"])))))

    @property
    def preparation(self) -> Preparation | None:
        """How images are prepared for it, where that is known; everything in ``trained`` does so by itself."""
        return self.model.preparation

    def seed_of(self, data: str) -> int:
        """What the splits of a data set are cut by: as in its training, so that no image of it is tested on."""
        recipe = self.card.recipe or {}
        options = recipe.get("data_options") if recipe.get("data") == data else None
        seed = options.get("seed", 0) if isinstance(options, dict) else 0
        if isinstance(seed, bool) or not isinstance(seed, int):
            raise ValueError(f"the recipe on the card has a seed of {seed!r}, expected a whole number")
        return seed

    @property
    def device(self) -> torch.device:
        """Where its weights are."""
        return next(self.model.parameters()).device

    def describe(self) -> str:
        """One line: the network, its group and its size."""
        name, group = self.architecture["name"], self.architecture["group"] or "no group"
        return f"{name}, {group}, {self.model.num_parameters:,} parameters"


def open_model(run_or_model: str | os.PathLike[str], device: str = "auto", image_size: int | None = None) -> Opened:
    """The network in a folder that ``save_pretrained`` wrote, in the folder of a run, or of a hub id ``owner/name``.

    Args:
        run_or_model: where it is.
        device: of PyTorch's, ``"cpu"`` or ``"cuda"`` say; ``"auto"`` takes an accelerator where there is one.
        image_size: show it images of another size than that of its training.
    """
    folder = saved_folder(run_or_model)
    model = cast("Model", from_pretrained(folder))  # its card named one, or there would be an error
    if image_size is not None:
        model.preparation = (model.preparation or Preparation(image_size)).at(image_size)
    return Opened(model.to(chosen_device(device)), read_card(folder))
