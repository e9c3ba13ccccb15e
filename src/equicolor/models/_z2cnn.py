"""Z2CNN, the small network of the paper's experiments on MNIST and 3D Shapes (after Cohen and Welling, 2016)."""

import math
from typing import ClassVar

from torch import Tensor, fx, nn

from equicolor.models._kit import Kit
from equicolor.models._model import Model
from equicolor.models._registry import register_model

_KERNELS = (3, 3, 3, 3, 3, 3, 4)
_WIDTH = 20
#: The side of an image that the seven convolutions take down to a single pixel.
_LEAST_SIZE = 28


@register_model("z2cnn")
class Z2CNN(Model):
    """Z2CNN, the paper's small network: seven valid convolutions, the last one to the classes.

    It is made for images of 28×28; of larger ones, the mean over the last map is taken.

    Args:
        kit: the kind of layers.
        num_classes: the number of logits.
        bias: give the convolutions biases. A norm follows, so they change nothing but the count; the paper's counts for
            the conventional network, Hue-4 and CEConv include them, the one for Hue-3 does not.
        softmax: end in a softmax, so that probabilities stand where logits do, as in the authors' code, which then
            takes the cross-entropy of these: to measure what that does (results/README.md), and for nothing else.
    """

    shrinks: ClassVar[bool] = True
    image_size = _LEAST_SIZE

    def __init__(self, kit: Kit, num_classes: int = 10, bias: bool = False, softmax: bool = False) -> None:
        super().__init__(kit, num_classes, bias=bias, **({"softmax": True} if softmax else {}))
        (width,) = kit.widths([_WIDTH], area=math.inf)  # the paper's CEConv-n keeps all of the width
        conv = kit.first(width, _KERNELS[0], bias=bias)
        layers: list[nn.Module] = [conv, nn.BatchNorm2d(width)]
        for index, kernel in enumerate(_KERNELS[1:], start=1):
            kit, pooling = kit.behind(conv)
            layers += [nn.ReLU(), *pooling]
            if index == 2:
                layers.append(nn.MaxPool2d(2))
            inputs, (width,) = width, kit.widths([_WIDTH], area=math.inf)
            outputs = num_classes if index == len(_KERNELS) - 1 else width
            conv = kit.conv(inputs, outputs, kernel, bias=bias)
            layers += [conv, nn.BatchNorm2d(outputs)]
        self.layers = nn.Sequential(*layers)
        self.head = nn.Sequential(
            nn.AdaptiveAvgPool2d(1), nn.Flatten(), kit.pool(), *([nn.Softmax(1)] if softmax else [])
        )

    def features(self, images: Tensor) -> Tensor:
        """Computes the seventh feature map, which has one channel for each class.

        Args:
            images: images in [0, 1], ``(B, C, H, W)``.

        Returns:
            The map, ``(G·B, classes, h, w)``; ``(B, classes, h, w)`` where the group is pooled over already.
        """
        lifted: Tensor = self.lift(images)
        _check_size(lifted)
        features: Tensor = self.layers(lifted)
        return features


@fx.wrap
def _check_size(images: Tensor) -> None:
    """Wrapped, so that a symbolic trace does not look inside."""
    if min(images.shape[-2:]) < _LEAST_SIZE:
        raise ValueError(
            f"z2cnn takes images of at least {_LEAST_SIZE}×{_LEAST_SIZE} pixels, got {tuple(images.shape[-2:])}: its "
            "convolutions are not padded. Resize or pad the images, or take resnet44."
        )
