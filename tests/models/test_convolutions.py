"""Every convolution of every network, forward and backward, in both layouts, is that of float64 up to rounding."""

import copy

import pytest
import torch
from torch import nn

import equicolor as ec
from equicolor.baselines import CEConvLift
from equicolor.nn import GroupConvBase

CONVOLUTIONS = (nn.Conv2d, nn.ConvTranspose2d, GroupConvBase, CEConvLift)
NETWORKS = [
    ("z2cnn", {}),
    ("resnet18", {"width": 5}),
    ("resnet18", {"width": 6, "stem": "imagenet"}),
    ("resnet44", {"width": 4}),
    ("resnet50", {"width": 5}),
    ("segmenter", {"width": 6}),
    ("segmenter", {"width": 6, "kernel_size": 1}),
]


def _calls(model: nn.Module) -> list[tuple[nn.Module, torch.Tensor, dict]]:
    """One of each kind of convolution, with what it is called on."""
    found = {}

    def note(layer, args, kwargs):
        found.setdefault((repr(layer), tuple(args[0].shape)), (layer, args[0].detach(), kwargs))

    handles = [
        layer.register_forward_pre_hook(note, with_kwargs=True)
        for layer in model.modules()
        if isinstance(layer, CONVOLUTIONS)
    ]
    with torch.no_grad():
        model(torch.rand(2, 3, 32, 32))
    for handle in handles:
        handle.remove()
    return list(found.values())


@pytest.mark.timeout(300)  # a kernel that is broken may also hang
@pytest.mark.parametrize("layout", [torch.contiguous_format, torch.channels_last], ids=["contiguous", "channels_last"])
@pytest.mark.parametrize("group", [None, "hue3", "sat3", "ceconv3"])
@pytest.mark.parametrize(("name", "options"), NETWORKS)
def test_convolutions_and_their_gradients_are_those_of_float64(name, options, group, layout):
    torch.manual_seed(0)
    calls = _calls(ec.create_model(name, group=group, **options).eval())
    assert calls
    for layer, features, kwargs in calls:
        results = []
        for dtype in (torch.float32, torch.float64):
            module = copy.deepcopy(layer).to(dtype=dtype, memory_format=layout)
            inputs = features.to(dtype).contiguous(memory_format=layout).requires_grad_()
            result = module(inputs, **kwargs)
            weights = [parameter for parameter in module.parameters() if parameter.requires_grad]
            cotangent = torch.linspace(1, 2, result.numel(), dtype=torch.float64).to(dtype).view(result.shape)
            results.append([result, *torch.autograd.grad(result, [inputs, *weights], cotangent)])
        for single, double in zip(*results, strict=True):
            error = float((single.double() - double).norm() / double.norm().clamp_min(1e-30))
            assert error < 1e-5, (layer, tuple(features.shape))
