"""The segmenter: the foreground-background network of the paper's appendix."""

from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from equicolor.models._kit import Kit
from equicolor.models._model import Model
from equicolor.models._registry import register_model

_WIDTHS = (32, 64, 128, 256)
_MIDDLE = 3
#: The channels that a conventional network has for each logit, where a group network has the elements of its group.
_CHANNELS_PER_CLASS = 3


@register_model("segmenter")
class Segmenter(Model):
    """The paper's segmenter: four convolutions down, three 1×1 in the middle, four transposed ones up.

    Those down halve and those up double the resolution (the paper names no strides). Each has a residual connection,
    then a norm and, except for the last, a ReLU: sigmoid(relu(x)) could call nothing background. The last feature of
    the conventional network has three channels for each class, and the largest is the logit; that of a group network
    has one, and the group is pooled over. Images may have any size.

    Args:
        kit: the kind of layers.
        num_classes: the number of logits at each pixel; one stands for foreground against background.
        kernel_size: the size of the kernels down and up, odd. 3 gives the parameter count of the paper, 7 is what its
            table prints.
    """

    task = "segmentation"
    image_size = 128

    def __init__(self, kit: Kit, num_classes: int = 1, kernel_size: int = 3) -> None:
        super().__init__(kit, num_classes, kernel_size=kernel_size)
        if not isinstance(kernel_size, int) or kernel_size < 1 or kernel_size % 2 == 0:
            raise ValueError(f"kernel_size must be odd, so that sizes halve and double exactly, got {kernel_size!r}")
        widths = kit.widths(_WIDTHS, area=_mean_area(kernel_size))
        last = _CHANNELS_PER_CLASS * num_classes if kit.group is None else num_classes
        halve = {"kernel_size": kernel_size, "stride": 2, "padding": kernel_size // 2, "bias": False}
        self.down = nn.ModuleList()
        self.down.append(
            _Layer(kit.first(widths[0], **halve), kit.first(widths[0], kernel_size=1, stride=2, bias=False), widths[0])
        )
        for inputs, outputs in pairwise(widths):
            self.down.append(
                _Layer(kit.conv(inputs, outputs, **halve), kit.projection(inputs, outputs, stride=2), outputs)
            )
        self.middle = nn.Sequential()
        for _ in range(_MIDDLE):
            self.middle.append(_Layer(kit.conv(widths[-1], widths[-1], 1, bias=False), nn.Identity(), widths[-1]))
        self.up = nn.ModuleList()
        for inputs, outputs in pairwise([*widths[::-1], last]):
            self.up.append(
                _Enlarging(kit.conv_transpose(inputs, outputs, **halve), kit.projection(inputs, outputs), outputs)
            )
        self.up[-1].activation = nn.Identity()
        self.head = _ChannelMax(_CHANNELS_PER_CLASS) if kit.group is None else kit.pool()

    def features(self, images: Tensor) -> Tensor:
        """Computes the last feature map.

        Args:
            images: images in [0, 1], ``(B, C, H, W)``.

        Returns:
            The map, ``(G·B, classes, H, W)``; without a group ``(B, 3·classes, H, W)``.
        """
        features: Tensor = self.lift(images)
        sizes = []
        for layer in self.down:
            sizes.append(features.shape[2:])
            features = layer(features)
        features = self.middle(features)
        for layer, size in zip(self.up, reversed(sizes), strict=True):
            features = layer(features, size)
        return features


def _mean_area(kernel_size: int) -> float:
    """The mean area of the network's filters."""
    outer, inner = 2 * sum(a * b for a, b in pairwise(_WIDTHS)), _MIDDLE * _WIDTHS[-1] ** 2
    return (outer * kernel_size**2 + inner) / (outer + inner)


class _Layer(nn.Module):
    """A convolution with a residual connection, a norm and a ReLU."""

    def __init__(self, conv: nn.Module, shortcut: nn.Module, channels: int) -> None:
        super().__init__()
        self.conv, self.shortcut = conv, shortcut
        self.norm = nn.BatchNorm2d(channels)
        self.activation: nn.Module = nn.ReLU()

    def forward(self, features: Tensor) -> Tensor:
        result: Tensor = self.activation(self.norm(self.conv(features) + self.shortcut(features)))
        return result


class _Enlarging(_Layer):
    """The same with a transposed convolution to a given size; the shortcut is enlarged to it."""

    def forward(self, features: Tensor, size: tuple[int, int]) -> Tensor:  # type: ignore[override]
        enlarged = F.interpolate(self.shortcut(features), size=size)
        result: Tensor = self.activation(self.norm(self.conv(features, output_size=size) + enlarged))
        return result


class _ChannelMax(nn.Module):
    """The largest of every ``count`` channels: ``(B, count·C, H, W)`` to ``(B, C, H, W)``."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.count = count

    def forward(self, features: Tensor) -> Tensor:
        return torch.unflatten(features, 1, (-1, self.count)).amax(2)

    def extra_repr(self) -> str:
        return str(self.count)
