"""A trained network by whatever the user has of it: a saved model, a run with a model inside, or a name on the hub."""

import os
from dataclasses import dataclass
from typing import Any, cast

import torch

from equicolor._tools.devices import chosen_device
from equicolor.data import Layout
from equicolor.files import Card, from_pretrained, read_card, saved_folder
from equicolor.groups import Group
from equicolor.models import Model, Preparation


@dataclass(frozen=True)
class Opened:
    """A trained network, in eval mode, with the card that was saved beside it.

    Args:
        model: the network.
        card: its card.
    """

    model: Model
    card: Card

    @property
    def architecture(self) -> dict[str, Any]:
        """The arguments of :func:`equicolor.create_model`."""
        return dict(self.card.architecture or {})

    @property
    def group(self) -> Group | None:
        """The group of its features; the hues for CEConv, None for a conventional network."""
        return self.model.group

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of the logits, or of the two classes that one tells apart; numbers where the card has no names."""
        return tuple(self.card.classes or map(str, range(max(2, int(self.architecture["num_classes"])))))

    @property
    def preparation(self) -> Preparation | None:
        """How images are prepared for it, where that is known; the functions of ``trained`` do so by themselves."""
        return self.model.preparation

    def seed_of(self, data: str) -> int:
        """The seed that the splits of a data set are cut by: as in training, so that no image of that is tested on.

        Args:
            data: the name of the set.

        Returns:
            The seed.

        Raises:
            ValueError: the card has a seed that is no whole number.
        """
        seed = self._data_options(data).get("seed", 0)
        if isinstance(seed, bool) or not isinstance(seed, int):
            raise ValueError(f"the recipe on the card has a seed of {seed!r}, expected a whole number")
        return seed

    def layout_of(self, data: str) -> Layout | None:
        """What the folders of a data set are, if that had to be said in training.

        Args:
            data: the name of the set.

        Returns:
            The layout; None where it was not said.
        """
        layout = self._data_options(data).get("layout")
        return layout if layout in ("splits", "classes") else None

    def _data_options(self, data: str) -> dict[str, Any]:
        """Those of its training, if it was trained on this set."""
        recipe = self.card.recipe or {}
        options = recipe.get("data_options") if recipe.get("data") == data else None
        return options if isinstance(options, dict) else {}

    @property
    def device(self) -> torch.device:
        """The device of its weights."""
        return next(self.model.parameters()).device

    def describe(self) -> str:
        """The network, its group, the moves that are undone before it looks, and its size, in one line."""
        undone = (self.architecture.get("canonicalize") or {}).get("group")
        moves = [self.architecture["group"], f"canonicalised by {undone}" if undone else None]
        named = ", ".join(filter(None, moves)) or "no group"
        return f"{self.architecture['name']}, {named}, {self.model.num_parameters:,} parameters"


def open_model(run_or_model: str | os.PathLike[str], device: str = "auto", image_size: int | None = None) -> Opened:
    """Opens a trained network: from a folder that ``save_pretrained`` wrote, the folder of a run, or the hub.

    Args:
        run_or_model: the folder, or the name on the hub, ``"owner/name"``.
        device: a device of PyTorch's, ``"cpu"`` or ``"cuda"``; ``"auto"`` takes an accelerator where there is one.
        image_size: show it images of another size than that of its training.

    Returns:
        The network and its card.
    """
    folder = saved_folder(run_or_model)
    model = cast("Model", from_pretrained(folder))  # its card named one, or there would be an error
    if image_size is not None:
        model.preparation = (model.preparation or Preparation(image_size)).at(image_size)
    return Opened(model.to(chosen_device(device)), read_card(folder))
