"""Training of the classifier alone: all before it is frozen, so what that makes of an image may be computed once."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.data import Dataset

from equicolor._tools.wrapped import unwrapped
from equicolor.data import Augment, Batch, ImageSet
from equicolor.deploy import optimize_for_inference

#: Images that the frozen part sees at once.
_AT_ONCE = 64


def head_of(model: nn.Module) -> nn.Linear:
    """The classifier of a network: the linear layer that gives the logits.

    Raises:
        ValueError: it ends in another layer.
    """
    network: Any = unwrapped(model)
    network = getattr(network, "network", network)  # of one behind a canonicaliser
    if hasattr(network, "get_classifier"):
        last = network.get_classifier()
    else:
        last = [layer for layer in network.head.modules() if not list(layer.children())][-1]
    if not isinstance(last, nn.Linear):
        name = network.config.get("name", type(network).__name__)
        raise ValueError(
            f"train_only: head is for networks that end in a linear layer, and {name} ends in {type(last).__name__}: "
            "take a resnet, or a network of timm"
        )
    return last


def freeze_all_but_head(model: nn.Module) -> nn.Linear:
    """Freezes a network but for its classifier, which is returned."""
    head = head_of(model)
    model.requires_grad_(False)
    head.requires_grad_(True)
    return head


class Remembered(Dataset[Batch]):
    """What enters the classifier, for each image of a set: features ``(B, C)`` in the place of images.

    Args:
        model: whose classifier it is, with the weights that it has now.
        augment: of the images, in training mode; it draws nothing.
        images: the set.
        channels_last: the memory format of images.
    """

    @torch.no_grad()
    def __init__(self, model: nn.Module, augment: Augment, images: ImageSet, channels_last: bool) -> None:
        ready = optimize_for_inference(unwrapped(model))
        device = next(ready.parameters()).device
        features: list[Tensor] = []
        targets: list[Tensor] = []
        head_of(ready).register_forward_pre_hook(lambda _, given: features.append(given[0].cpu()))
        layout = torch.channels_last if channels_last else torch.contiguous_format
        for batch in images.batches(_AT_ONCE):
            ready(augment(batch.images.to(device)).contiguous(memory_format=layout))
            targets.append(batch.targets)
        self.features, self.targets = torch.cat(features), torch.cat(targets)

    def __len__(self) -> int:
        return len(self.targets)

    def __getitem__(self, index: int) -> Batch:
        return Batch(self.features[index], self.targets[index])

    def __getitems__(self, indices: Sequence[int]) -> Batch:
        chosen = torch.tensor(indices)
        return Batch(self.features[chosen], self.targets[chosen])
