"""What every network of the zoo is: plain RGB in, logits out, and it knows how it was made."""

from typing import Any, ClassVar, Literal, TypeAlias

from torch import Tensor, nn

from equicolor.groups import Group
from equicolor.models._kit import Kit

#: What the logits are of: each image, or each of its pixels.
Task: TypeAlias = Literal["classification", "segmentation"]


class Model(nn.Module):
    """A network of the zoo: ``(B, C, H, W)``, RGB or more in [0, 1] or uint8, to logits.

    Args:
        kit: the kind of layers.
        num_classes: the number of logits.
        options: the network's own, as its constructor takes them.

    Attributes:
        task: what it is for. Logits are ``(B, classes)``; of a segmentation ``(B, classes, H, W)``.
        image_size: the height and width of the images it was made for. It may take others.
        group: what it is equivariant to; None for a conventional network, ``Hue(n)`` for CEConv.
        config: what made it, fit for JSON: ``create_model(**model.config)`` builds the same network anew.
        head: what follows :meth:`features`: the pooling over the group, and whatever stands behind it.
    """

    task: ClassVar[Task] = "classification"
    image_size: int = 32
    group: Group | None
    config: dict[str, Any]
    head: nn.Module

    def __init__(self, kit: Kit, num_classes: int, **options: Any) -> None:
        super().__init__()
        if isinstance(num_classes, bool) or not hasattr(num_classes, "__index__") or num_classes < 1:
            raise ValueError(f"num_classes must be a positive whole number, got {num_classes!r}")
        self.group = kit.group
        self.config = {"num_classes": int(num_classes), **kit.config, **options}
        self.lift = kit.lift()

    def features(self, images: Tensor) -> Tensor:
        """The last feature map before any pooling: ``(G·B, C, h, w)``; without a group ``(B, C, h, w)``."""
        raise NotImplementedError

    def forward(self, images: Tensor) -> Tensor:
        logits: Tensor = self.head(self.features(images))
        return logits

    @property
    def num_parameters(self) -> int:
        """How many parameters it has, trainable or not."""
        return sum(parameter.numel() for parameter in self.parameters())

    def __repr__(self) -> str:
        name, group = self.config.get("name", type(self).__name__), self.config["group"] or "no group"
        return (
            f"{name}, {group}, width={self.config['width']}: {self.num_parameters:,} parameters\n{super().__repr__()}"
        )
