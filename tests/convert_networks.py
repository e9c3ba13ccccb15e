"""Networks to convert: those of torchvision and timm, made small, and some that are hard in one way each."""

import importlib.util
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from equicolor._tools.vision import torchvision

IMAGE_SIZE = 64
#: Where 'make test' puts torchvision and timm, beside the environment.
_BESIDE = Path(sys.prefix) / "networks"


@cache
def torchvision_models() -> Any:
    """``torchvision.models``, found beside the environment."""
    if _BESIDE.is_dir() and str(_BESIDE) not in sys.path:
        sys.path.append(str(_BESIDE))
    if importlib.util.find_spec("torchvision") is None:
        pytest.skip("torchvision is not installed")
    return torchvision().models


def vision(name: str, **arguments: Any) -> nn.Module:
    return getattr(torchvision_models(), name)(num_classes=10, **arguments)


def timm(name: str, **arguments: Any) -> nn.Module:
    torchvision_models()  # timm imports torchvision
    return pytest.importorskip("timm").create_model(name, num_classes=10, **arguments)


def short_vgg() -> nn.Module:
    """The VGG-11 of torchvision without the hundred million parameters of its first linear layer."""
    models = torchvision_models()
    with torch.device("meta"):
        vgg = models.vgg11_bn(num_classes=10)
    vgg.features = models.vgg.make_layers([16, "M", 32, "M", 48, 48, "M", 64, 64, "M", 64, 64, "M"], batch_norm=True)
    vgg.classifier[0] = nn.Linear(64 * 7 * 7, 96)
    vgg.classifier[3], vgg.classifier[6] = nn.Linear(96, 80), nn.Linear(80, 10)
    return vgg


def small_convnext() -> nn.Module:
    convnext = torchvision_models().convnext
    blocks = [convnext.CNBlockConfig(*each, 1) for each in ((16, 32), (32, 48), (48, 64), (64, None))]
    return convnext.ConvNeXt(blocks, num_classes=10, layer_scale=0.5)


def small_efficientnet() -> nn.Module:
    efficientnet = torchvision_models().efficientnet
    settings = [(1, 3, 1, 16, 8, 1), (4, 3, 2, 8, 16, 2), (4, 5, 2, 16, 24, 1), (6, 3, 2, 24, 32, 1)]
    return efficientnet.EfficientNet([efficientnet.MBConvConfig(*each) for each in settings], 0.2, num_classes=10)


def small_timm_vgg() -> nn.Module:
    torchvision_models()
    vgg = pytest.importorskip("timm.models.vgg").VGG
    return vgg([8, "M", 16, "M", 24, "M", 32, "M", 32, 32, "M"], num_classes=10, mlp_ratio=1 / 64)


# What to convert, made small, and before which module the pool is to be found.
NETWORKS: dict[str, tuple[Callable[[], nn.Module], str]] = {
    "torchvision resnet": (lambda: vision("ResNet", block=_block("BasicBlock"), layers=[1, 1, 1, 1]), "fc"),
    "torchvision resnext": (
        lambda: vision("ResNet", block=_block("Bottleneck"), layers=[1, 1, 1, 1], groups=32, width_per_group=2),
        "fc",
    ),
    "torchvision vgg": (short_vgg, "classifier.0"),
    "torchvision mobilenet_v2": (
        lambda: vision("mobilenet_v2", inverted_residual_setting=[[1, 8, 1, 1], [6, 16, 2, 2], [6, 24, 1, 2]]),
        "classifier.1",
    ),
    "torchvision mobilenet_v3": (lambda: vision("mobilenet_v3_small"), "classifier.0"),
    "torchvision efficientnet": (small_efficientnet, "classifier.1"),
    "torchvision convnext": (small_convnext, "classifier.2"),
    "torchvision densenet": (
        lambda: vision("DenseNet", growth_rate=12, block_config=(3, 3, 3, 3), num_init_features=24),
        "classifier",
    ),
    "timm resnet": (lambda: timm("resnet10t", channels=(16, 32, 48, 64)), "fc"),
    "timm seresnet": (lambda: timm("resnet10t", channels=(16, 32, 48, 64), block_args={"attn_layer": "se"}), "fc"),
    "timm vgg": (small_timm_vgg, "pre_logits.fc1"),
    "timm mobilenetv2": (lambda: timm("mobilenetv2_035"), "classifier"),
    "timm mobilenetv3": (lambda: timm("mobilenetv3_small_050"), "conv_head"),
    "timm tf_efficientnet": (lambda: timm("test_efficientnet", pad_type="same"), "classifier"),
    "timm convnext": (lambda: timm("convnext_atto", depths=(1, 1, 1, 1), dims=(16, 24, 32, 48)), "head.fc"),
    "timm densenet": (lambda: timm("densenet121", growth_rate=12, block_config=(3, 3, 3, 3)), "classifier"),
}


def _block(name: str) -> Any:
    return getattr(torchvision_models().resnet, name)


def randomized(model: nn.Module) -> nn.Module:
    """``model`` in evaluation mode, with nothing in its parameters and statistics that is 0 or 1 by default."""
    generator = torch.Generator().manual_seed(1)
    for module in model.modules():
        for name, tensor in [*module.named_parameters(recurse=False), *module.named_buffers(recurse=False)]:
            if not tensor.is_floating_point():
                continue
            if tensor.dim() >= 2 and name == "weight":
                spread = torch.randn(tensor.shape, generator=generator, dtype=torch.float64)
                tensor.data.copy_(1.4 * spread / tensor[0].numel() ** 0.5)
            elif isinstance(module, (nn.modules.batchnorm._BatchNorm, nn.LayerNorm)):
                around = 0.0 if name in ("bias", "running_mean") else 1.0
                tensor.data.copy_(around + torch.empty(tensor.shape).uniform_(-0.3, 0.3, generator=generator))
            elif name == "bias":
                tensor.data.copy_(0.1 * torch.randn(tensor.shape, generator=generator))
    return model.eval()


def images(count: int = 2, size: int = IMAGE_SIZE, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.rand(count, 3, size, size, generator=torch.Generator().manual_seed(2), dtype=dtype)


def pooled_old_features(model: nn.Module, copies: list[Tensor], pool_before: str) -> tuple[Tensor, Tensor]:
    """The old network's features on each recoloured copy, stacked; and its results from their largest."""
    seen: list[Tensor] = []
    head = model.get_submodule(pool_before)
    handle = head.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    for each in copies:
        model(each)
    handle.remove()
    handle = head.register_forward_pre_hook(lambda *_: (torch.stack(seen).amax(0),))
    results = model(copies[0])
    handle.remove()
    return torch.cat(seen), results


def plain(classes: int = 5) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(),
        nn.Conv2d(8, 12, 3, stride=2, padding="valid", bias=False), nn.GroupNorm(3, 12), nn.PReLU(12),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(12, classes),
    )  # fmt: skip


class Segmenter(nn.Module):
    """A transposed convolution, a residual connection and a dictionary for a result."""

    def __init__(self) -> None:
        super().__init__()
        self.down = nn.Conv2d(3, 6, 3, stride=2, padding=1, padding_mode="reflect")
        self.up = nn.ConvTranspose2d(6, 3, 3, stride=2, padding=1, output_padding=1)
        self.classify = nn.Conv2d(3, 4, 1)

    def forward(self, x: Tensor) -> dict[str, Tensor]:
        return {"out": self.classify(x + self.up(self.down(x).relu()))}


class SqueezeExcite(nn.Module):
    """Linear layers inside the body, on ``(N, C)``, after the last convolution."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)
        self.squeeze, self.excite = nn.Linear(8, 2), nn.Linear(2, 8)
        self.fc = nn.Linear(8, 4)

    def forward(self, x: Tensor) -> Tensor:
        x = self.conv(x)
        gate = self.excite(self.squeeze(x.mean((2, 3))).relu()).sigmoid()
        return self.fc((x * gate[:, :, None, None]).mean((2, 3)))


class Shared(nn.Module):
    """One convolution at two places, under two names."""

    def __init__(self) -> None:
        super().__init__()
        self.stem, self.conv, self.fc = nn.Conv2d(3, 8, 3), nn.Conv2d(8, 8, 3), nn.Linear(8, 4)
        self.again = self.conv

    def forward(self, x: Tensor) -> Tensor:
        return self.fc(self.again(self.conv(self.stem(x)).relu()).mean((2, 3)))
