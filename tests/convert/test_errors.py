"""What cannot be converted gets an error that names the module and what to do."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import equicolor as ec
from convert_networks import Segmenter, Shared, SqueezeExcite, images, plain, timm
from equicolor.nn import GroupConv2d


class Attention(nn.Module):
    """Attention over patches, spelled out."""

    def __init__(self) -> None:
        super().__init__()
        self.patches, self.mix, self.fc = nn.Conv2d(3, 8, 8, 8), nn.Identity(), nn.Linear(8, 4)

    def forward(self, x: Tensor) -> Tensor:
        x = self.mix(self.patches(x).flatten(2).mT)
        return self.fc(((x @ x.mT).softmax(-1) @ x).mean(1))


def test_attention_is_named_and_stays_when_it_stands_after_the_pool() -> None:
    model = timm("test_vit")
    with pytest.raises(ValueError, match=r"attention, which 'blocks\.0\.attn' computes.*pool_before="):
        ec.convert(model, "hue3")
    converted = ec.convert(model, "hue3", pool_before="blocks")
    assert isinstance(converted.body.patch_embed.proj, GroupConv2d)
    assert type(converted.body.blocks.head[0].attn.qkv) is nn.Linear

    with pytest.raises(ValueError, match="attention"):
        ec.convert(Attention(), "hue3")
    assert ec.convert(Attention(), "hue3", pool_before="mix")(images(2)).shape == (2, 4)


class Refolded(nn.Module):
    """Works on the two halves of an image as if they were images."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.fc = nn.Conv2d(3, 8, 3), nn.Linear(8, 4)

    def forward(self, x: Tensor) -> Tensor:
        halves = torch.cat(x.chunk(2, dim=-1))
        return sum(self.fc(self.conv(halves).mean((2, 3))).chunk(2))


class Mixing(nn.Module):
    """Each image learns from the one before it."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.fc = nn.Conv2d(3, 8, 3), nn.Linear(8, 4)

    def forward(self, x: Tensor) -> Tensor:
        x = self.conv(x).mean((2, 3))
        return self.fc(x + 0.5 * x.roll(1, 0))


class TwoHeads(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.pool, self.a, self.b = (
            nn.Conv2d(3, 8, 3),
            nn.AdaptiveAvgPool2d(1),
            nn.Linear(8, 2),
            nn.Linear(8, 3),
        )

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        x = self.pool(self.conv(x)).flatten(1)
        return self.a(x), self.b(x)


class Auxiliary(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.extra, self.fc = nn.Conv2d(3, 8, 3), nn.Conv2d(8, 4, 3), nn.Linear(8, 4)

    def forward(self, x: Tensor) -> Tensor:
        x = self.conv(x)
        return self.extra(x) if self.training else self.fc(x.mean((2, 3)))


class Listed(nn.Module):
    """Calls its convolution by a name that conversion cannot see."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.fc = nn.Conv2d(3, 8, 3), nn.Linear(8, 4)
        self.steps = [self.conv]

    def forward(self, x: Tensor) -> Tensor:
        return self.fc(self.steps[0](x).mean((2, 3)))


class Tied(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.stem, self.a, self.b, self.fc = nn.Conv2d(3, 8, 3), nn.Conv2d(8, 8, 3), nn.Conv2d(8, 8, 3), nn.Linear(8, 4)
        self.b.weight = self.a.weight

    def forward(self, x: Tensor) -> Tensor:
        return self.fc(self.b(self.a(self.stem(x))).mean((2, 3)))


class Written(nn.Module):
    """A number of channels written into its code."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.fc = nn.Conv2d(3, 8, 3), nn.Linear(8, 4)

    def forward(self, x: Tensor) -> Tensor:
        return self.fc(self.conv(x).mean((2, 3)).reshape(len(x), 8))


class Standardized(nn.Conv2d):
    pass


def head(channels: int = 8) -> list[nn.Module]:
    return [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 4)]


def hooked() -> nn.Module:
    model = plain()
    model[3].register_forward_hook(lambda *_: None)
    return model


@pytest.mark.parametrize(
    ("model", "arguments", "message"),
    [
        (Refolded, {"pool_before": "output"}, "'conv': it was given 12 rows for a batch of 6"),
        (Mixing, {}, "does not treat the images of a batch alike"),
        (TwoHeads, {}, r"not everything passes through any one of \['a', 'b'\]"),
        (TwoHeads, {"pool_before": "a"}, "part of it does not pass there"),
        (SqueezeExcite, {"pool_before": "squeeze"}, "the network does not run, since not everything passes there"),
        (Auxiliary, {}, "'extra' did not run in evaluation mode"),
        (Auxiliary, {"pool_before": "extra"}, "pool_before='extra' did not run"),
        (Listed, {}, "holds its module 'conv' where it cannot be replaced"),
        (Tied, {}, "'a' and 'b' share a parameter"),
        (Shared, {"pool_before": "conv"}, "'conv' runs more than once"),
        (Segmenter, {}, "the last convolution is 'classify', and no linear layer follows it"),
        (plain, {"pool_before": "0"}, "nothing to convert"),
        (plain, {"pool_before": "classifier"}, "pool_before='classifier' names no module"),
        (Segmenter, {"pool_before": "classifi"}, "did you mean 'classify'"),
        (lambda: nn.Sequential(nn.Flatten(), nn.Linear(3 * 32 * 32, 2)), {}, "nothing to convert"),
        (lambda: nn.Sequential(nn.Conv2d(1, 8, 3), *head()), {}, "first convolution, '0', takes 1 channels, not the 3"),
        (lambda: nn.Sequential(nn.Conv2d(3, 8, 3), nn.Flatten(2), nn.Conv1d(8, 8, 3)), {"pool_before": "output"},
         "'2', a Conv1d"),
        (lambda: nn.Sequential(Standardized(3, 8, 3), *head()), {}, "'0', a Standardized: it is a special kind"),
        (lambda: nn.Sequential(nn.utils.parametrizations.weight_norm(nn.Conv2d(3, 8, 3)), *head()), {}, "parametrized"),
        (lambda: nn.Sequential(nn.utils.spectral_norm(nn.Conv2d(3, 8, 3)), *head()), {}, "computed by a hook"),
        (lambda: nn.Sequential(nn.LazyConv2d(8, 3), *head()), {}, "'0' has no weights yet"),
        (hooked, {}, "'3', a Conv2d: it carries forward hooks"),
        (lambda: ec.convert(plain(), "hue2"), {}, "on a group already: 'lift' is a Lift"),
        (plain, {"width": "matched"}, "keep_weights=False"),
        (plain, {"width": "paper"}, "width must be 'same' or 'matched', got 'paper'"),
        (Written, {"width": "matched", "keep_weights": False}, "by 1.73, in its own forward: .*use width='same'"),
        (lambda: timm("test_nfnet"), {}, "'stem.conv1', a ScaledStdConv2d"),
        (Segmenter, {"pool_before": "output", "width": "matched", "keep_weights": False},
         r"cannot narrow .* in its own forward: .*\[6, 2, 64, 64\]"),
        (lambda: torch.jit.script(plain()), {}, "TorchScript"),
        (lambda: torch.compile(plain()), {}, "compiled"),
        (lambda: "resnet18", {}, "takes a torch.nn.Module, got str"),
    ],
)  # fmt: skip
def test_what_cannot_be_converted_is_named(
    model: Callable[[], nn.Module], arguments: dict[str, Any], message: str
) -> None:
    given = model()
    with pytest.raises((ValueError, TypeError), match=message):
        ec.convert(given, "hue3", **arguments)


def test_two_heads_convert_with_the_pool_before_both() -> None:
    a, b = ec.convert(TwoHeads(), "hue4", pool_before="pool")(images(2, 16))
    assert a.shape == (2, 2)
    assert b.shape == (2, 3)


def test_a_pool_that_is_lost_with_the_head_is_noticed() -> None:
    converted = ec.convert(plain(), "hue4")
    converted.body[8].head = nn.Linear(12, 7)
    assert converted(images(2, 16)).shape == (2, 7)
    converted.body[8] = nn.Linear(12, 7)
    for method in (converted, converted.features):
        with pytest.raises(RuntimeError, match=r"pool before '8' is gone.*body\.8\.head"):
            method(images(2, 16))
