"""The networks of torchvision."""

from collections.abc import Iterable, Mapping
from typing import Any

from torch import nn

from equicolor._tools import vision
from equicolor.convert import classifier_of, resized
from equicolor.sources._library import Library


class Torchvision(Library):
    """torchvision's classifiers; the weights are those that it calls ``DEFAULT``."""

    name = "torchvision"
    options = ("dropout", "stochastic_depth_prob", "aux_logits")

    def names(self) -> Iterable[str]:
        """All its classifiers."""
        models = vision.torchvision().models
        names: list[str] = models.list_models(module=models)
        return names

    def knows(self, name: str) -> bool:
        """Whether there is a classifier of this name."""
        return name in self.names()

    def has_weights(self, name: str) -> bool:
        """Whether there are weights to be downloaded."""
        return self._weights(name) is not None

    def build(self, name: str, num_classes: int | None, pretrained: bool, options: Mapping[str, Any]) -> nn.Module:
        """The network, with what its weights say about images as ``pretrained_cfg``."""
        models, weights = vision.torchvision().models, self._weights(name)
        network: Any
        if pretrained:
            network = models.get_model(name, weights=weights, **options)
            path = classifier_of(network)
            if num_classes is not None and path is not None:
                parent, _, own = path.rpartition(".")
                old: Any = network.get_submodule(path)
                if num_classes != getattr(old, "out_features", getattr(old, "out_channels", None)):
                    setattr(network.get_submodule(parent), own, resized(old, num_classes))
        else:
            classes = {} if num_classes is None else {"num_classes": num_classes}
            network = models.get_model(name, weights=None, **classes, **options)
        network.pretrained_cfg = {} if weights is None else _config(name, weights)
        return network  # type: ignore[no-any-return]

    def _weights(self, name: str) -> Any:
        """Those that torchvision calls the default; None where there are none."""
        found = vision.torchvision().models.get_model_weights(name)
        return getattr(found, "DEFAULT", None)


def _config(name: str, weights: Any) -> dict[str, Any]:
    """What weights say about images, in timm's words."""
    images = weights.transforms()
    size, scaled = images.crop_size[0], images.resize_size[0]
    return {
        "architecture": name,
        "url": weights.url,
        "num_classes": len(weights.meta["categories"]),
        "input_size": (3, size, size),
        "crop_pct": size / scaled,
        "crop_mode": "center",
        "interpolation": str(images.interpolation.value),
        "mean": tuple(images.mean),
        "std": tuple(images.std),
    }
