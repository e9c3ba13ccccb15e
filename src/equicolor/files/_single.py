"""A network as one file: its weights as safetensors, the card in the metadata in front of them."""

import os
from dataclasses import replace
from pathlib import Path

from torch import nn

from equicolor._tools.files import complete_file
from equicolor.files._card import Card
from equicolor.files._pretrained import card_of, loaded
from equicolor.files._state import as_bytes, state_of, stored_metadata

#: The key of the metadata of a file under which the card of the network is, in JSON.
CARD_KEY = "equicolor.card"


def save_single(model: nn.Module, path: str | os.PathLike[str]) -> Path:
    """Saves a network as one file of safetensors that :func:`from_single` reads, its card in the metadata.

    The card in there has no checksum: a file cannot hold its own. :func:`save_pretrained` writes a folder instead, as
    the Hugging Face hub has it.

    Args:
        model: a network of :func:`equicolor.create_model`, or any other, whose architecture the reader has to provide.
        path: where to; conventionally ``*.safetensors``.

    Returns:
        The path.

    Example:
        >>> import tempfile, equicolor as ec
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = save_single(ec.create_model("z2cnn", "hue3"), f"{folder}/model.safetensors")
        ...     from_single(path).card.group
        'hue3'
    """
    path = Path(path)
    card = replace(card_of(model), sha256=None)
    with complete_file(path) as file:
        file.write(as_bytes(state_of(model), **{CARD_KEY: card.to_json()}))
    return path


def from_single(path: str | os.PathLike[str], model: nn.Module | None = None) -> nn.Module:
    """Loads the network that :func:`save_single` wrote, in eval mode, on the CPU; nothing of the file is executed.

    Args:
        path: the file.
        model: the network to load the weights into, where the card names no architecture of ``create_model``.

    Returns:
        The network, with its ``card``.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: it is damaged, or has no card; the message says so.
    """
    path = Path(path)
    return loaded(card_in(path), path, path, model)


def card_in(path: Path) -> Card:
    """Reads the card in the metadata of a file of safetensors.

    Args:
        path: the file.

    Returns:
        The card.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: the file is damaged, or has no card.
    """
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    text = stored_metadata(path).get(CARD_KEY)
    if text is None:
        raise ValueError(f"{path} has no card of equicolor's in its metadata: expected a file that save_single wrote")
    try:
        return Card.from_json(text)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
