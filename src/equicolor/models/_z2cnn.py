"""Z2CNN, the small network of the paper's experiments on MNIST and 3D Shapes (after Cohen and Welling, 2016)."""

import math
from itertools import pairwise

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
    """Seven valid convolutions, the last one to the classes; made for 28×28 images, taken to the mean on larger ones.

    Args:
        kit: the kind of layers.
        num_classes: the number of logits.
        bias: give the convolutions biases. A norm follows, so they change nothing but the count; the paper's counts for
            the conventional network, Hue-4 and CEConv include them, the one for Hue-3 does not.
    """

    image_size = _LEAST_SIZE

    def __init__(self, kit: Kit, num_classes: int = 10, bias: bool = False) -> None:
        super().__init__(kit, num_classes, bias=bias)
        (width,) = kit.widths([_WIDTH], area=math.inf)  # the paper's CEConv-n keeps all of the width
        layers: list[nn.Module] = [kit.first(width, _KERNELS[0], bias=bias), nn.BatchNorm2d(width)]
        channels = [width] * (len(_KERNELS) - 1) + [num_classes]
        for index, (inputs, outputs) in enumerate(pairwise(channels), start=1):
            layers.append(nn.ReLU())
            if index == 2:
                layers.append(nn.MaxPool2d(2))
            layers += [kit.conv(inputs, outputs, _KERNELS[index], bias=bias), nn.BatchNorm2d(outputs)]
        self.layers = nn.Sequential(*layers)
        self.head = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), kit.pool())

    def features(self, images: Tensor) -> Tensor:
        """The seventh feature map, one channel for each class: ``(G·B, classes, h, w)``."""
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
