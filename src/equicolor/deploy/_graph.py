"""What of a network goes into a file as a graph: from images in [0, 1] to logits, or from bytes to probabilities."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from equicolor._tools.wrapped import unwrapped
from equicolor.color import normalize_color
from equicolor.deploy._fit import centre, fitted
from equicolor.deploy._optimize import copied, optimize_for_inference
from equicolor.files import Card
from equicolor.models import Preparation
from equicolor.models import gray as without_color
from equicolor.nn import Lift

#: Of the image that a graph for any size is traced with: no two of its numbers are alike, none is that of a network.
_ODD = (37, 53)


def as_probabilities(logits: Tensor) -> Tensor:
    """Turns logits into probabilities.

    Args:
        logits: ``(B, K, ...)``; a single one tells two classes apart, and speaks for the second.

    Returns:
        Probabilities, ``(B, K, ...)``; of a single logit ``(B, 2, ...)``.

    Example:
        >>> as_probabilities(torch.tensor([[0.0]])).tolist()
        [[0.5, 0.5]]
    """
    if logits.shape[1] == 1:
        return torch.cat([torch.sigmoid(-logits), torch.sigmoid(logits)], 1)
    return logits.softmax(1)


class WithPreparation(nn.Module):
    """A network behind the preparation of its images: bytes of any size in, probabilities out.

    Args:
        network: the network.
        plan: how its images are prepared.

    Shape:
        - images: uint8 ``(B, C, H, W)``, decoded and upright, red first, of any height and width.
        - probabilities: ``(B, classes)``; of a segmentation ``(B, classes, image_size, image_size)``.
    """

    def __init__(self, network: nn.Module, plan: Preparation) -> None:
        super().__init__()
        self.network, self.plan = network, plan

    def forward(self, images: Tensor) -> Tensor:
        """Prepares images and computes their probabilities.

        The result is that of ``plan`` and the network one after the other, for images that PIL would have to scale.

        Args:
            images: uint8 ``(B, C, H, W)``.

        Returns:
            Probabilities, ``(B, classes)``.
        """
        plan = self.plan
        prepared = fitted(images, plan.side, plan.fit) / 255
        if plan.crop is not None:
            prepared = centre(prepared, plan.crop, plan.image_size)
        if plan.color_normalization is not None:
            prepared = normalize_color(prepared, plan.color_normalization)
        if plan.gray:
            prepared = without_color(prepared)
        return as_probabilities(self.network(prepared))


def plain_copy(model: nn.Module) -> nn.Module:
    """A network as a file has it: without what wraps it, in float32, on the CPU, in eval mode."""
    return copied(unwrapped(model)).float().cpu().eval()


def channels_of(network: nn.Module) -> int:
    """How many the images of a network have."""
    return next((module.in_channels for module in network.modules() if isinstance(module, Lift)), 3)


@dataclass(frozen=True)
class Graph:
    """A network ready to be traced.

    Attributes:
        module: from one tensor to one.
        images: a batch like those that it takes.
        dynamic: which of its dimensions may be of any size.
        output: what comes out, ``"logits"`` or ``"probabilities"``.
        card: of the network; of a graph that prepares images, how it does.
    """

    module: nn.Module
    images: Tensor
    dynamic: Mapping[int, Any]
    output: str
    card: Card


def graph_of(
    model: nn.Module, card: Card, image_size: int | tuple[int, int] | None, with_preparation: bool = False
) -> Graph:
    """A copy of a network as a graph takes it: in float32, made ready for inference.

    Args:
        model: left as it is.
        card: of it.
        image_size: height and width of the images, one number for both; by default those of the card.
        with_preparation: put the preparation in front, and probabilities behind; it makes images of any size fit.

    Raises:
        ValueError: nobody says of which size images are, or how they are prepared.
    """
    size = image_size or card.image_size
    if size is None:
        raise ValueError("export takes an image_size: this network does not say which images it was trained on")
    height, width = (size, size) if isinstance(size, int) else size
    # Before norms are folded and filters transformed: that is then done in float32 too.
    network = plain_copy(model)
    images = torch.rand(2, channels_of(network), height, width)
    with torch.no_grad():
        network(images)  # says what is wrong with the size, if anything is, better than a tracer
    ready = optimize_for_inference(network)
    batch = torch.export.Dim("batch")
    if not with_preparation:
        return Graph(ready, images, {0: batch}, "logits", card)
    if height != width:
        raise ValueError(f"images are prepared as squares, got an image_size of {height}×{width}")
    plan = (card.preparation or Preparation(height)).at(height)
    bytes_ = torch.randint(0, 256, (2, channels_of(network), *_ODD), dtype=torch.uint8)
    sizes = {0: batch, 2: torch.export.Dim("height"), 3: torch.export.Dim("width")}
    card = replace(card, **asdict(plan))  # exported for another size, perhaps
    return Graph(WithPreparation(ready, plan).eval(), bytes_, sizes, "probabilities", card)


def one_size_only(model: nn.Module) -> str:
    """What is said of a network that cannot be traced for batches of any size."""
    return (
        f"{type(unwrapped(model)).__name__} cannot be exported for batches of any size: something in its forward "
        "depends on how many images there are. Where, torch.export says: "
        'torch.export.export(model, (images,), dynamic_shapes=({0: torch.export.Dim("batch")},))'
    )
