"""Files one can trust: a network's weights as safetensors beside a card in JSON, in a folder or on the hub.

A folder holds ``model.safetensors``, ``config.json`` and ``README.md``, the names that the Hugging Face hub knows.
Reading executes nothing, and builds nothing that is larger than the weights in the file. The card says how images are
prepared for the network, and carries the checksum of the weights, so that the two are never mistaken for each other's.
How a training run is kept while it runs lives in ``train``.
"""

from equicolor.files._card import Card
from equicolor.files._hub import push_to_hub
from equicolor.files._pretrained import (
    CARD,
    WEIGHTS,
    card_of,
    from_pretrained,
    read_card,
    save_pretrained,
    saved_folder,
)
from equicolor.files._readme import README, readme
from equicolor.files._shipped import list_shipped
from equicolor.files._single import CARD_KEY, card_in, from_single, save_single

__all__ = [
    "CARD",
    "CARD_KEY",
    "README",
    "WEIGHTS",
    "Card",
    "card_in",
    "card_of",
    "from_pretrained",
    "from_single",
    "list_shipped",
    "push_to_hub",
    "read_card",
    "readme",
    "save_pretrained",
    "save_single",
    "saved_folder",
]
