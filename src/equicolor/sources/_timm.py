"""The networks of timm."""

from collections.abc import Iterable, Mapping
from typing import Any

from torch import nn

from equicolor._tools import vision
from equicolor.sources._library import Library


class Timm(Library):
    """timm's registry: names such as ``resnet18``, or ``resnet18.a1_in1k`` with the tag of its weights."""

    name = "timm"
    options = ("drop_rate", "drop_path_rate", "global_pool", "output_stride", "img_size")

    def names(self) -> Iterable[str]:
        """All its networks."""
        names: list[str] = vision.timm().list_models()
        return names

    def knows(self, name: str) -> bool:
        """Whether there is a network of this name, and of it weights of this tag."""
        timm = vision.timm()
        network, _, tag = name.partition(".")
        return bool(timm.is_model(network)) and (not tag or name in timm.list_pretrained(f"{network}.*"))

    def has_weights(self, name: str) -> bool:
        """Whether there are weights to be downloaded."""
        config = vision.timm().get_pretrained_cfg(name)
        return config is not None and bool(config.has_weights)

    def build(self, name: str, num_classes: int | None, pretrained: bool, options: Mapping[str, Any]) -> nn.Module:
        """The network."""
        classes = {} if num_classes is None else {"num_classes": num_classes}
        network: nn.Module = vision.timm().create_model(name, pretrained=pretrained, **classes, **options)
        return network
