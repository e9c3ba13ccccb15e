"""The residual networks: ResNet-44 of the paper's CIFAR experiments, and ResNet-18, -34 and -50 (He et al., 2016)."""

from collections import OrderedDict
from functools import partial
from typing import Literal, NamedTuple

from torch import Tensor, nn

from equicolor.models._kit import Kit, make_kit
from equicolor.models._model import Model
from equicolor.models._registry import register_model

Stem = Literal["cifar", "imagenet"]


class _Shape(NamedTuple):
    blocks: tuple[int, ...]  # in each stage
    widths: tuple[int, ...]  # of each stage
    bottleneck: bool


_SHAPES = {
    18: _Shape((2, 2, 2, 2), (64, 128, 256, 512), False),
    34: _Shape((3, 4, 6, 3), (64, 128, 256, 512), False),
    44: _Shape((7, 7, 7), (32, 64, 128), False),
    50: _Shape((3, 4, 6, 3), (64, 128, 256, 512), True),
}
#: How many times wider a bottleneck ends than it is inside.
_EXPANSION = 4


class ResNet(Model):
    """A residual network.

    The spatial mean comes first, then the maximum over the group, then a linear head.

    Args:
        kit: the kind of layers.
        num_classes: the number of logits.
        depth: 18, 34, 44 or 50.
        stem: ``"cifar"``, one 3×3 convolution, which gives the paper's counts; or ``"imagenet"``, a 7×7 convolution and
            max pooling, each of stride 2: about sixteen times cheaper, for images of some 100 pixels and more.
        pool_after: the last stage on the group, ``"stage1"``, or ``"stem"``; the rest, behind the pooling, are
            conventional, as wide as in the conventional network, so that the parameter count stays about the same. By
            default all stages live on the group. The earlier, the less time it takes: the experiment ``frontier`` shows
            what it costs in error.
        group_stages: how many stages live on the group, the rest being conventional, but of the group's narrower
            widths. One, with ``width=63``, gives the paper's counts for CEConv.
    """

    def __init__(
        self,
        kit: Kit,
        num_classes: int = 10,
        *,
        depth: int,
        stem: Stem = "cifar",
        pool_after: str | None = None,
        group_stages: int | None = None,
    ) -> None:
        super().__init__(kit, num_classes, stem=stem, pool_after=pool_after, group_stages=group_stages)
        self.image_size = 224 if stem == "imagenet" else 32
        shape = _SHAPES[depth]
        stages = len(shape.blocks)
        if group_stages is not None and (kit.group is None or group_stages not in range(1, stages + 1)):
            raise ValueError(
                f"group_stages must be a number of stages from 1 to {stages}, in a network with a group; got "
                f"{group_stages!r} with group={kit.config['group']!r}"
            )
        # Counted in squared widths, a bottleneck has 4 + 4 filters of area 1 and one of area 9.
        area = 17 / 9 if shape.bottleneck else 9
        widths = kit.widths(shape.widths, area)
        channels = widths[0]
        if pool_after is not None:
            group_stages = _number_of_stage(pool_after, stages, kit, group_stages)
            widths[group_stages:] = kit.widths_behind(shape.widths, area)[group_stages:]
        group_stages = stages if group_stages is None else group_stages
        self.stem = _stem(kit, channels, stem)
        self.stages, behind = nn.Sequential(), nn.Sequential()
        for index, (count, width) in enumerate(zip(shape.blocks, widths, strict=True)):
            on_group = index < group_stages
            stage = _stage(kit if on_group else make_kit(None), channels, width, count, index > 0, shape.bottleneck)
            (self.stages if on_group else behind).append(stage)
            channels = _EXPANSION * width if shape.bottleneck else width
        mean = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten())
        pooling = {"pool": kit.pool(), "stages": behind, "mean": mean} if behind else {"mean": mean, "pool": kit.pool()}
        self.head = nn.Sequential(OrderedDict(**pooling, classifier=nn.Linear(channels, num_classes)))

    def features(self, images: Tensor) -> Tensor:
        """Computes the output of the last stage on the group, or of the stem.

        Args:
            images: images in [0, 1], ``(B, C, H, W)``.

        Returns:
            The map, ``(G·B, C, h, w)``.
        """
        features: Tensor = self.stages(self.stem(self.lift(images)))
        return features


for _depth in _SHAPES:
    register_model(f"resnet{_depth}", depth=_depth)(ResNet)


def _number_of_stage(pool_after: str, stages: int, kit: Kit, group_stages: int | None) -> int:
    names = ["stem", *(f"stage{number}" for number in range(1, stages + 1))]
    if pool_after not in names or kit.group is None:
        raise ValueError(
            f"pool_after must be one of {', '.join(map(repr, names))}, in a network with a group; got {pool_after!r} "
            f"with group={kit.config['group']!r}"
        )
    if group_stages is not None:
        raise ValueError(f"pool_after and group_stages both say where to pool: got {pool_after!r} and {group_stages!r}")
    return names.index(pool_after)


def _stem(kit: Kit, width: int, stem: Stem) -> nn.Sequential:
    if stem == "cifar":
        return nn.Sequential(kit.first(width, 3, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU())
    if stem == "imagenet":
        first = kit.first(width, 7, stride=2, padding=3, bias=False)
        return nn.Sequential(first, nn.BatchNorm2d(width), nn.ReLU(), nn.MaxPool2d(3, 2, 1))
    raise ValueError(f"unknown stem {stem!r}: expected 'cifar' or 'imagenet'")


def _stage(kit: Kit, in_channels: int, width: int, count: int, halve: bool, bottleneck: bool) -> nn.Sequential:
    out_channels = _EXPANSION * width if bottleneck else width
    first = _Block(kit, in_channels, width, out_channels, 2 if halve else 1)
    return nn.Sequential(first, *(_Block(kit, out_channels, width, out_channels, 1) for _ in range(count - 1)))


class _Block(nn.Module):
    """A residual block: two 3×3 convolutions, or a bottleneck (1×1, 3×3, 1×1) where it ends wider than it is inside."""

    def __init__(self, kit: Kit, in_channels: int, width: int, out_channels: int, stride: int) -> None:
        super().__init__()
        conv = partial(kit.conv, bias=False)
        if width == out_channels:
            layers = [conv(in_channels, width, 3, stride=stride, padding=1), conv(width, width, 3, padding=1)]
        else:
            layers = [conv(in_channels, width, 1), conv(width, width, 3, stride=stride, padding=1)]
            layers.append(conv(width, out_channels, 1))
        self.body = nn.Sequential()
        for layer in layers[:-1]:
            self.body.extend([layer, nn.BatchNorm2d(width), nn.ReLU()])
        self.body.extend([layers[-1], nn.BatchNorm2d(out_channels)])
        self.shortcut: nn.Module = nn.Identity()
        if stride != 1 or in_channels != out_channels:
            projection = kit.projection(in_channels, out_channels, stride=stride)
            self.shortcut = nn.Sequential(projection, nn.BatchNorm2d(out_channels))
        self.activation = nn.ReLU()

    def forward(self, features: Tensor) -> Tensor:
        result: Tensor = self.activation(self.body(features) + self.shortcut(features))
        return result
