"""Claims about conversion, on networks of torchvision and timm and on small ones that are hard in one way each."""

import copy
import importlib
import importlib.util
import pickle
import sys
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import equicolor as ec
from equicolor.convert import Converted, GroupLinear
from equicolor.nn import GroupConv2d, GroupConvTranspose2d, GroupPool

IMAGE_SIZE = 64


@cache
def torchvision_models() -> Any:
    """``torchvision.models``; its import misses two operators beside a CPU build of torch, which are declared here."""
    if importlib.util.find_spec("torchvision") is None:
        pytest.skip("torchvision is not installed")
    try:
        return importlib.import_module("torchvision.models")
    except RuntimeError:
        for name in [name for name in sys.modules if name.split(".")[0] == "torchvision"]:
            del sys.modules[name]
        library = torch.library.Library("torchvision", "DEF")
        for name in ("nms", "qnms"):
            library.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        torchvision_models.library = library  # it lives as long as this does
        return importlib.import_module("torchvision.models")


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
    from_module = partial(getattr, torchvision_models().convnext)
    setting = from_module("CNBlockConfig")
    blocks = [setting(16, 32, 1), setting(32, 48, 1), setting(48, 64, 1), setting(64, None, 1)]
    return from_module("ConvNeXt")(blocks, num_classes=10, layer_scale=0.5)


def small_efficientnet() -> nn.Module:
    efficientnet = torchvision_models().efficientnet
    settings = [(1, 3, 1, 16, 8, 1), (4, 3, 2, 8, 16, 2), (4, 5, 2, 16, 24, 1), (6, 3, 2, 24, 32, 1)]
    return efficientnet.EfficientNet([efficientnet.MBConvConfig(*each) for each in settings], 0.2, num_classes=10)


# What to convert, and before which module the pool is to be found.
NETWORKS: dict[str, tuple[Callable[[], nn.Module], str]] = {
    "torchvision resnet": (lambda: vision("ResNet", block=_block("BasicBlock"), layers=[1, 2, 1, 1]), "fc"),
    "torchvision resnext": (
        lambda: vision("ResNet", block=_block("Bottleneck"), layers=[1, 1, 1, 1], groups=32, width_per_group=2),
        "fc",
    ),
    "torchvision vgg": (short_vgg, "classifier.0"),
    "torchvision mobilenet_v2": (lambda: vision("mobilenet_v2", width_mult=0.5), "classifier.1"),
    "torchvision mobilenet_v3": (lambda: vision("mobilenet_v3_small"), "classifier.0"),
    "torchvision efficientnet": (small_efficientnet, "classifier.1"),
    "torchvision convnext": (small_convnext, "classifier.2"),
    "torchvision densenet": (
        lambda: vision("DenseNet", growth_rate=12, block_config=(3, 3, 3, 3), num_init_features=24),
        "classifier",
    ),
    "timm resnet10t": (lambda: timm("resnet10t"), "fc"),
    "timm seresnet10t": (lambda: timm("resnet10t", block_args={"attn_layer": "se"}), "fc"),
    "timm vgg11": (lambda: timm("vgg11", mlp_ratio=1 / 64), "pre_logits.fc1"),
    "timm mobilenetv2": (lambda: timm("mobilenetv2_050"), "classifier"),
    "timm mobilenetv3": (lambda: timm("mobilenetv3_small_050"), "conv_head"),
    "timm tf_efficientnet": (lambda: timm("tf_efficientnet_b0"), "classifier"),
    "timm convnext_atto": (lambda: timm("convnext_atto"), "head.fc"),
    "timm densenet121": (lambda: timm("densenet121", growth_rate=12, block_config=(3, 3, 3, 3)), "classifier"),
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


@pytest.mark.parametrize("name", NETWORKS)
@torch.no_grad()
def test_with_kept_weights_it_pools_the_old_features_of_each_recoloured_copy(name: str) -> None:
    make, pool_before = NETWORKS[name]
    model = randomized(make().double())
    state = copy.deepcopy(model.state_dict())
    group, x = ec.Hue(3), images(dtype=torch.float64)
    converted = ec.convert(model, group)
    assert converted.pool_before == pool_before

    mean, std = converted.lift.mean, converted.lift.std
    copies = [(group.act_on_images(element, x) - mean) / std for element in group]
    features, results = pooled_old_features(model, copies, pool_before)
    torch.testing.assert_close(converted.features(x), features, rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(converted(x), results, rtol=1e-9, atol=1e-9)
    for key, value in model.state_dict().items():
        assert torch.equal(value, state[key])  # the given network is left as it was


@pytest.mark.parametrize("name", NETWORKS)
@torch.no_grad()
def test_logits_are_invariant_once_every_filter_is_in_use(name: str) -> None:
    make, _ = NETWORKS[name]
    group, x = ec.Hue(4), images()
    converted = randomized(ec.convert(make(), group, keep_weights=False))
    logits = converted(x)
    assert logits.std(0).max() > 1e-3 * logits.abs().max()  # not invariant by being constant
    for element in group:
        moved = converted(group.act_on_images(element, x))
        assert (moved - logits).norm() <= 1e-4 * logits.norm()


@pytest.mark.parametrize("name", NETWORKS)
def test_matched_width_keeps_the_number_of_parameters(name: str) -> None:
    model = NETWORKS[name][0]()
    before = sum(parameter.numel() for parameter in model.parameters())
    converted = ec.convert(model, "hue3", width="matched", keep_weights=False)
    after = sum(parameter.numel() for parameter in converted.parameters())
    assert abs(after / before - 1) <= 0.05
    assert converted.eval()(images(1)).shape == (1, 10)


# --- small networks ---------------------------------------------------------------------------------------------------


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


@pytest.mark.parametrize("group", ["hue4", "sat3", "hue3-lum3", "hue1"])
@pytest.mark.parametrize("make", [plain, SqueezeExcite, Shared])
@torch.no_grad()
def test_every_group_pools_the_old_features_of_each_recoloured_copy(make: Callable[[], nn.Module], group: str) -> None:
    model, x = randomized(make().double()), images(3, 16, torch.float64)
    converted = ec.convert(model, group, mean=0.4, std=(0.2, 0.25, 0.3))
    normalised = (converted.group.lift(x) - 0.4) / torch.tensor([0.2, 0.25, 0.3], dtype=x.dtype).view(3, 1, 1)
    features, results = pooled_old_features(model, list(normalised.split(3)), converted.pool_before)
    torch.testing.assert_close(converted.features(x), features, rtol=1e-9, atol=1e-9)
    torch.testing.assert_close(converted(x), results, rtol=1e-9, atol=1e-9)


@torch.no_grad()
def test_pool_at_the_output_takes_the_largest_of_the_old_results() -> None:
    model, x, group = randomized(Segmenter().double()), images(2, 16, torch.float64), ec.Hue(4)
    converted = ec.convert(model, group, pool_before="output")
    each = torch.stack([model(group.act_on_images(element, x))["out"] for element in group])
    torch.testing.assert_close(converted(x)["out"], each.amax(0))
    torch.testing.assert_close(converted.features(x)["out"], each.flatten(0, 1))
    mean = ec.convert(model, group, pool_before="output", reduce="mean")
    torch.testing.assert_close(mean(x)["out"], each.mean(0))


@torch.no_grad()
def test_a_named_pool_leaves_what_follows_it_as_it_is() -> None:
    converted = randomized(ec.convert(Segmenter(), "hue4", pool_before="classify", keep_weights=False))
    body = converted.body
    assert isinstance(body.down, GroupConv2d)
    assert isinstance(body.up, GroupConvTranspose2d)
    assert isinstance(body.classify.pool, GroupPool)
    assert type(body.classify.head) is nn.Conv2d
    x = images(2, 16)
    for element in converted.group:
        moved = converted.group.act_on_images(element, x)
        torch.testing.assert_close(converted(moved)["out"], converted(x)["out"], rtol=1e-4, atol=1e-5)


def test_linear_layers_before_the_pool_mix_the_group_and_after_it_do_not() -> None:
    body = ec.convert(SqueezeExcite(), "hue4").body
    assert isinstance(body.squeeze, GroupLinear)
    assert isinstance(body.excite, GroupLinear)
    assert type(body.fc.head) is nn.Linear


def test_a_linear_layer_converts_like_a_1x1_convolution() -> None:
    linear, conv = GroupLinear("hue4", 5, 7), GroupConv2d("hue4", 5, 7, 1)
    linear.conv.load_state_dict(conv.state_dict())
    x = torch.rand(8, 5, 3, 2)
    torch.testing.assert_close(linear(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2), conv(x))


def test_a_shared_convolution_stays_shared() -> None:
    body = ec.convert(Shared(), "hue4").body
    assert isinstance(body.conv, GroupConv2d)
    assert body.conv is body.again


def test_modes_frozen_parameters_and_precision_are_kept() -> None:
    model = plain().double().train()
    model[3].eval().requires_grad_(False)
    converted = ec.convert(model, "hue3")
    assert [module.training for module in converted.body[:4]] == [True, True, True, False]
    assert converted.training
    assert not converted.body[3].weight.requires_grad
    assert converted.body[0].weight.requires_grad
    assert {parameter.dtype for parameter in converted.parameters()} == {torch.float64}


def test_filters_between_elements_start_at_zero_and_learn() -> None:
    converted = ec.convert(plain(), "hue4").train()
    filters = converted.body[3].weight.view(12, 4, 8, 3, 3)  # a view
    assert filters[:, 0].abs().sum() > 0
    assert filters[:, 1:].abs().sum() == 0
    optimizer = torch.optim.SGD(converted.parameters(), lr=0.1)
    nn.functional.cross_entropy(converted(images(4, 16)), torch.tensor([0, 1, 2, 3])).backward()
    optimizer.step()
    assert (filters[:, 1:].abs().sum((0, 2, 3, 4)) > 0).all()


def test_fresh_weights_are_fresh_throughout() -> None:
    model = plain()
    model[1].running_mean.fill_(3.0)
    converted = ec.convert(model, "hue2", keep_weights=False)
    assert not torch.equal(converted.body[8].head.weight, model[8].weight)
    assert (converted.body[1].running_mean == 0).all()
    assert (model[1].running_mean == 3).all()


def test_matched_widths_are_those_of_the_paper() -> None:
    converted = ec.convert(timm("resnet18"), "hue3", width="matched", keep_weights=False)
    assert [getattr(converted.body, f"layer{i}")[0].conv1.out_channels for i in (1, 2, 3, 4)] == [36, 73, 147, 295]


@pytest.mark.parametrize(("group", "tolerance"), [("hue4", 0.05), ("hue4-sat3", 0.05)])
@pytest.mark.parametrize("name", ["resnet50", "vgg16", "mobilenet_v2", "convnext_tiny", "densenet121"])
def test_matched_networks_of_full_size_keep_their_number_of_parameters(name: str, group: str, tolerance: float) -> None:
    with torch.device("meta"):  # sizes without values
        model = getattr(torchvision_models(), name)()
    converted = ec.convert(model, group, width="matched", keep_weights=False)
    before, after = (sum(p.numel() for p in each.parameters()) for each in (model, converted))
    assert abs(after / before - 1) <= tolerance


def test_a_timm_model_brings_its_normalisation() -> None:
    model = timm("mobilenetv3_small_050")
    torch.testing.assert_close(
        ec.convert(model, "hue2").lift.mean.flatten(), torch.tensor(model.pretrained_cfg["mean"])
    )
    assert not ec.convert(model, "hue2", mean=0.0, std=1.0).lift.normalizes


def test_image_size_serves_networks_of_one_size() -> None:
    model = nn.Sequential(nn.Conv2d(3, 4, 3), nn.Flatten(), nn.Linear(4 * 9 * 18, 2))
    with pytest.raises(ValueError, match=r"every size tried \(64×64 in '2'.*give image_size="):
        ec.convert(model, "hue3")
    converted = ec.convert(model, "hue3", image_size=(11, 20))
    assert converted(torch.rand(2, 3, 11, 20)).shape == (2, 2)


@torch.no_grad()
def test_copies_pickles_state_dicts_and_compilation_work() -> None:
    x = images(2, 16)
    converted = ec.convert(randomized(plain()), "hue4")
    logits = converted(x)
    assert torch.equal(copy.deepcopy(converted)(x), logits)
    assert torch.equal(pickle.loads(pickle.dumps(converted))(x), logits)
    other = ec.convert(plain(), "hue4", keep_weights=False).eval()
    other.load_state_dict(converted.state_dict())
    assert torch.equal(other(x), logits)
    compiled = torch.compile(converted, backend="eager", fullgraph=True)
    torch.testing.assert_close(compiled(x), logits)
    exported = torch.export.export(converted, (x,)).module()
    torch.testing.assert_close(exported(x), logits)


def test_it_says_what_it_is() -> None:
    converted = ec.convert(plain(), "hue4-sat3")
    assert isinstance(converted, Converted)
    assert converted.group == ec.group("hue4-sat3")
    assert f"hue4-sat3, pool_before='8', {sum(p.numel() for p in converted.parameters()):,} parameters" in repr(
        converted
    )


# --- what cannot be converted -----------------------------------------------------------------------------------------


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
        (Shared, {"pool_before": "again"}, "names no module|runs both before and after|more than once"),
        (Segmenter, {}, "the last convolution is 'classify', and no linear layer follows it"),
        (plain, {"pool_before": "0"}, "nothing to convert"),
        (plain, {"pool_before": "classifier"}, "pool_before='classifier' names no module"),
        (Segmenter, {"pool_before": "classifi"}, "did you mean 'classify'"),
        (lambda: nn.Sequential(nn.Flatten(), nn.Linear(3 * 32 * 32, 2)), {}, "nothing to convert"),
        (lambda: nn.Sequential(nn.Conv2d(1, 8, 3), *head()), {}, "first convolution, '0', takes 1 channels, not the 3"),
        (lambda: nn.Sequential(nn.Conv2d(3, 8, 3), nn.Flatten(2), nn.Conv1d(8, 8, 3), nn.Flatten(), nn.LazyLinear(2)), {},
         "'2', a Conv1d"),
        (lambda: nn.Sequential(Standardized(3, 8, 3), *head()), {}, "'0', a Standardized: it is a special kind"),
        (lambda: nn.Sequential(nn.utils.parametrizations.weight_norm(nn.Conv2d(3, 8, 3)), *head()), {}, "parametrized"),
        (lambda: nn.Sequential(nn.utils.spectral_norm(nn.Conv2d(3, 8, 3)), *head()), {}, "computed by a hook"),
        (lambda: nn.Sequential(nn.LazyConv2d(8, 3), *head()), {}, "'0' has no weights yet"),
        (hooked, {}, "'3', a Conv2d: it carries forward hooks"),
        (lambda: ec.convert(plain(), "hue2"), {}, "on a group already: 'lift' is a Lift"),
        (plain, {"width": "matched"}, "keep_weights=False"),
        (plain, {"width": "paper"}, "width must be 'same' or 'matched', got 'paper'"),
        (Written, {"width": "matched", "keep_weights": False}, "cannot narrow this network by 1.73.*8.*use width='same'"),
        (lambda: timm("test_nfnet"), {}, "'stem.conv1', a ScaledStdConv2d"),
        (lambda: torch.jit.script(plain()), {}, "TorchScript"),
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
