"""Every layer and network lives well with the tools of PyTorch; what does not is found out."""

import pytest
import torch
from torch import nn

import equicolor as ec
from equicolor.nn import (
    BatchNorm2d,
    CEConv2d,
    CEConvLift,
    CEConvTranspose2d,
    GroupConv2d,
    GroupConvTranspose2d,
    GroupDropout,
    GroupLinear,
    GroupPool,
    Lift,
)
from equicolor.testing import assert_conforms, conformance
from equicolor.testing._conforms import CHECKS

LAYERS = {
    "Lift": (lambda: Lift("hue4", 0.5, 0.25), "hue4"),
    "Lift, saturation": (lambda: Lift("sat3"), "sat3"),
    "GroupConv2d, fast": (lambda: GroupConv2d("hue4", 5, 6, 3, algorithm="fast"), "hue4"),
    "GroupConv2d, direct": (lambda: GroupConv2d("hue4", 5, 6, 3, algorithm="direct"), "hue4"),
    "GroupConv2d, rescaled": (lambda: GroupConv2d("sat3", 5, 6, 3, 2, rescale=True, algorithm="fast"), "sat3"),
    "GroupConv2d, replicated": (lambda: GroupConv2d("sat3", 5, 6, 3, window="replicate", algorithm="fast"), "sat3"),
    "GroupConv2d, valid": (lambda: GroupConv2d("sat5", 5, 6, 3, window="valid", algorithm="fast"), "sat5"),
    "GroupConv2d, strided 1×1": (lambda: GroupConv2d("hue4", 5, 6, 1, 2, algorithm="fast"), "hue4"),
    "GroupConvTranspose2d": (lambda: GroupConvTranspose2d("hue4", 5, 6, 3, 2, algorithm="fast"), "hue4"),
    "GroupConvTranspose2d, strided 1×1": (lambda: GroupConvTranspose2d("hue4", 5, 6, 1, 2, 0, 1), "hue4"),
    "GroupLinear": (lambda: GroupLinear("hue4", 5, 6), "hue4"),
    "GroupPool": (lambda: GroupPool("hue4"), "hue4"),
    "GroupDropout": (lambda: GroupDropout("hue4"), "hue4"),
    "BatchNorm2d": (lambda: BatchNorm2d(5), "hue4"),
    "CEConvLift": (lambda: CEConvLift(3, 6, 3), "hue3"),
    "CEConv2d": (lambda: CEConv2d(3, 5, 6, 3), "hue3"),
    "CEConvTranspose2d": (lambda: CEConvTranspose2d(3, 5, 6, 3), "hue3"),
}
NETWORKS = [
    ("z2cnn", "hue4", {}),
    ("z2cnn", "ceconv3", {}),
    ("resnet18", "sat3", {"width": 4}),
    ("segmenter", "hue2-lum3", {"width": 4}),
    ("segmenter", None, {"width": 4}),
]


@pytest.mark.parametrize("name", LAYERS)
def test_layers_conform(name):
    make, group = LAYERS[name]
    torch.manual_seed(0)
    assert_conforms(make(), group)


@pytest.mark.parametrize(("name", "group", "options"), NETWORKS)
def test_networks_conform(name, group, options):
    torch.manual_seed(0)
    model = ec.create_model(name, group=group, **options)
    assert_conforms(model, model.group)


def test_converted_networks_conform():
    torch.manual_seed(0)
    plain = nn.Sequential(
        nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Dropout(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
        nn.Linear(8, 4),
    )  # fmt: skip
    assert_conforms(ec.convert(plain, "hue4"), "hue4")


@pytest.mark.parametrize(("moves", "behind"), [("temp-tint", None), ("temp-tint", "hue3"), ("hue4", None)])
def test_canonicalised_networks_conform(moves, behind):
    torch.manual_seed(0)
    # Of the numbers of a circle only the differences count, so their common bias has a gradient of 0, and rounding.
    skip = ["per-sample gradients"] if moves == "hue4" else []
    assert_conforms(ec.create_model("z2cnn", behind, canonicalize=moves), behind, skip=skip)


def test_optimized_networks_conform_as_far_as_they_are_to_be_used():
    torch.manual_seed(0)
    assert_conforms(ec.optimize_for_inference(ec.create_model("z2cnn", group="hue4")), "hue4")


class _ByBatch(nn.Module):
    """Depends on how many images there are, in ways that only some tools meet."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.rand(3, 1, 1))

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        if float(images.sum()) < 0:
            raise ValueError("negative images")
        return (images * self.weight).flatten(1)


def test_what_reads_values_is_found_out():
    found = conformance(_ByBatch(), None, torch.rand(2, 3, 4, 4))
    failed = {name for name, reason in found.items() if reason}
    assert failed == {"compile", "export", "vmap", "per-sample gradients", "fake tensors", "meta device", "fx"}
    with pytest.raises(AssertionError, match=r"does not conform to 7 of 21 uses(?s:.)*compile: .*(?s:.)*fx: "):
        assert_conforms(_ByBatch(), None, torch.rand(2, 3, 4, 4))


@pytest.mark.parametrize(
    ("broken", "check"),
    [
        (lambda x, w: (x * w).detach(), "eager"),
        (lambda x, w: x.float() * w.float(), "double"),
        (lambda x, w: x * w if x.amax().item() >= 0 else x, "per-sample gradients"),
        (lambda x, w: (x * w).view(x.shape[0], -1) if x.shape[0] else 1 / 0, "empty batch"),
    ],
)
def test_other_ways_to_fall_short_are_found_out(broken, check):
    class Broken(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.ones(3, 1, 1))

        def forward(self, images: torch.Tensor) -> torch.Tensor:
            return broken(images, self.weight)

    others = [name for name in CHECKS if name != check]
    assert conformance(Broken(), None, torch.rand(2, 3, 4, 4), skip=others)[check]


def test_checks_can_be_left_out_by_name_and_wrong_names_are_refused():
    only_fx = [name for name in CHECKS if name != "fx"]
    assert conformance(GroupPool("hue3"), "hue3", skip=only_fx) == {"fx": None}
    with pytest.raises(ValueError, match="unknown check 'onnx': there are eager, compile"):
        assert_conforms(GroupPool("hue3"), "hue3", skip=["onnx"])
    with pytest.raises(TypeError, match=r"expected a torch\.nn\.Module, got function"):
        assert_conforms(lambda x: x, "hue3")


def test_the_given_module_is_left_as_it_is():
    module = GroupConv2d("hue3", 3, 4, 3).train()
    before = {name: value.clone() for name, value in module.state_dict().items()}
    assert_conforms(module, "hue3", skip=["compile", "export"])
    assert module.training
    assert module.weight.dtype == torch.float32
    assert all(torch.equal(value, before[name]) for name, value in module.state_dict().items())
