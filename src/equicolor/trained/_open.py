"""A trained network by whatever the user has of it: a saved model, a run with a model inside, or a name on the hub."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from equicolor._tools.devices import chosen_device
from equicolor.files import CARD, _folder, from_pretrained, read_card
from equicolor.groups import Group

#: The size of the images that a network was made for, where its card does not say.
_NATIVE_SIZE = {"z2cnn": 28, "segmenter": 128}
_SIZE_OF_STEM = {"cifar": 32, "imagenet": 224}


@dataclass(frozen=True)
class Opened:
    """A network in eval mode, with the card that was saved beside it."""

    model: nn.Module
    card: dict[str, Any]

    @property
    def architecture(self) -> dict[str, Any]:
        """The arguments of :func:`equicolor.create_model`."""
        return dict(self.card["architecture"])

    @property
    def group(self) -> Group | None:
        """What its features live on; the hues of CEConv, None for a conventional network."""
        return getattr(self.model, "group", None)

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of the logits, or of the two classes that one tells apart; numbers where the card has no names."""
        return tuple(self.card.get("classes") or map(str, range(max(2, int(self.architecture["num_classes"])))))

    @property
    def image_size(self) -> int:
        """The height and width of images it was made for."""
        name, stem = self.architecture["name"], self.architecture.get("stem", "cifar")
        return int(self.card.get("image_size") or _NATIVE_SIZE.get(name) or _SIZE_OF_STEM[stem])

    @property
    def device(self) -> torch.device:
        """Where its weights are."""
        return next(self.model.parameters()).device

    def describe(self) -> str:
        """One line: the network, its group and its size."""
        parameters = sum(parameter.numel() for parameter in self.model.parameters())
        return f"{self.architecture['name']}, {self.architecture['group'] or 'no group'}, {parameters:,} parameters"


def open_model(run_or_model: str | os.PathLike[str], device: str = "auto") -> Opened:
    """The network in a folder that ``save_pretrained`` wrote, in the folder of a run, or of a hub id ``owner/name``.

    Args:
        run_or_model: where it is.
        device: of PyTorch's, ``"cpu"`` or ``"cuda"`` say; ``"auto"`` takes an accelerator where there is one.
    """
    place = Path(run_or_model).expanduser()
    if not (place / CARD).exists() and (place / "model" / CARD).is_file():
        place = place / "model"
    if place.is_file():
        raise ValueError(f"{place} is a file: expected the folder that holds it, with {CARD} and the weights")
    folder = _folder(place if place.is_dir() else str(run_or_model), None)
    card = read_card(folder)
    return Opened(from_pretrained(folder).to(chosen_device(device)), card)
