"""What every network of the zoo is: plain RGB in, logits out, and it knows how it was made."""

from typing import Any, ClassVar, Literal, TypeAlias

from torch import Tensor, nn

from equicolor.groups import Group
from equicolor.models._kit import Kit
from equicolor.models._preparation import Images, Preparation

#: What the logits are of: each image, or each of its pixels.
Task: TypeAlias = Literal["classification", "segmentation"]


class Model(nn.Module):
    """The base class of the networks of the zoo, from images in [0, 1] or uint8 to logits.

    Args:
        kit: the kind of layers.
        num_classes: the number of logits.
        options: the network's own, as its constructor takes them.

    Attributes:
        task: what it is for. Logits are ``(B, classes)``; of a segmentation ``(B, classes, H, W)``.
        shrinks: whether its layers follow a window that shrinks, see ``window`` of :func:`create_model`.
        image_size: the height and width of the images it was made for. It may take others.
        preparation: how its images are prepared, where it was trained or read from a file; None where nothing is known.
        group: what it is equivariant to; None for a conventional network, ``Hue(n)`` for CEConv.
        config: what made it, fit for JSON: ``create_model(**model.config)`` builds the same network anew.
        head: what follows :meth:`features`: the pooling over the group, and whatever stands behind it.
    """

    task: ClassVar[Task] = "classification"
    shrinks: ClassVar[bool] = False
    image_size: int = 32
    preparation: Preparation | None = None
    group: Group | None
    config: dict[str, Any]
    head: nn.Module

    def __init__(self, kit: Kit, num_classes: int, **options: Any) -> None:
        super().__init__()
        if isinstance(num_classes, bool) or not hasattr(num_classes, "__index__") or num_classes < 1:
            raise ValueError(f"num_classes must be a positive whole number, got {num_classes!r}")
        if kit.config["window"] == "valid" and not self.shrinks:
            raise ValueError(
                f"{type(self).__name__} takes no window='valid': its layers do not follow a window that shrinks. Take "
                "z2cnn, or window='replicate'."
            )
        self.group = kit.group
        self.config = {"num_classes": int(num_classes), **kit.config, **options}
        self.lift = kit.lift()

    def features(self, images: Tensor) -> Tensor:
        """Computes the last feature map before any pooling.

        Args:
            images: images in [0, 1], ``(B, C, H, W)``.

        Returns:
            The map, ``(G·B, C, h, w)``; without a group ``(B, C, h, w)``.
        """
        raise NotImplementedError

    def forward(self, images: Tensor) -> Tensor:
        logits: Tensor = self.head(self.features(images))
        return logits

    def preprocess(self, images: Images) -> Tensor:
        """Prepares images as this network is to see them: as in its training, or in the size it was made for.

        Args:
            images: the path of a file; an image of PIL's or an array ``(H, W, 3)``; a tensor ``(C, H, W)`` or ``(B, C,
                H, W)``, uint8 or in [0, 1]; or a list of any of these.

        Returns:
            A batch on the device of the network, in [0, 1], ``(B, C, S, S)``.
        """
        prepare = self.preparation or Preparation(self.image_size)
        return prepare(images).to(next(self.parameters()).device)

    @property
    def num_parameters(self) -> int:
        """The number of parameters, trainable or not."""
        return sum(parameter.numel() for parameter in self.parameters())

    def __repr__(self) -> str:
        name, group = self.config.get("name", type(self).__name__), self.config["group"] or "no group"
        return (
            f"{name}, {group}, width={self.config['width']}: {self.num_parameters:,} parameters\n{super().__repr__()}"
        )
