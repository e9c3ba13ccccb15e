"""The layers in traced graphs: compiled whole, and exported with any batch size."""

import pytest
import torch
from torch import nn

from equicolor.nn import GroupConv2d, GroupConvTranspose2d, GroupPool, Lift

CASES = [("hue4", "fast"), ("hue4", "direct"), ("sat3", "fast"), ("hue2-lum3", "fast")]


@pytest.fixture(autouse=True)
def _nothing_compiled_before():
    """PyTorch keeps what it compiled of a piece of code, of all tests together, and refuses the ninth: start anew."""
    torch.compiler.reset()


def network(name, algorithm):
    return nn.Sequential(
        Lift(name, mean=0.5, std=0.25),
        GroupConv2d(name, 3, 4, 3, padding=1, algorithm=algorithm),
        nn.BatchNorm2d(4),
        nn.ReLU(),
        nn.MaxPool2d(2),
        GroupConv2d(name, 4, 6, 3, padding="same", groups=2, algorithm=algorithm, bias=False),
        GroupConvTranspose2d(name, 6, 2, 2, stride=2, algorithm=algorithm),
        GroupPool(name),
    )


@pytest.mark.parametrize(("name", "algorithm"), CASES)
def test_compiled_in_one_graph_it_computes_the_same(name, algorithm):
    # aot_eager traces forward and backward as the default backend does, without waiting for a C++ compiler
    model, images = network(name, algorithm), torch.rand(2, 3, 8, 10)
    compiled = torch.compile(model, fullgraph=True, backend="aot_eager")
    result = compiled(images)
    torch.testing.assert_close(result, model(images), atol=1e-5, rtol=1e-4)
    result.sum().backward()
    gradients = [p.grad.clone() for p in model.parameters()]
    model.zero_grad()
    model(images).sum().backward()
    for ours, theirs in zip(gradients, (p.grad for p in model.parameters()), strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-3, rtol=1e-3)


def test_compiled_to_machine_code_it_computes_the_same():
    model, images = network("hue4", "fast").eval(), torch.rand(2, 3, 8, 10)
    with torch.no_grad():
        result = torch.compile(model, fullgraph=True)(images)
        torch.testing.assert_close(result, model(images), atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(("name", "algorithm"), CASES)
def test_exported_it_takes_any_batch(name, algorithm, strict):
    model = network(name, algorithm).eval()
    batch = torch.export.Dim("batch", min=1, max=1024)
    exported = torch.export.export(model, (torch.rand(2, 3, 8, 10),), dynamic_shapes=({0: batch},), strict=strict)
    for count in (1, 2, 5):
        images = torch.rand(count, 3, 8, 10)
        torch.testing.assert_close(exported.module()(images), model(images), atol=1e-5, rtol=1e-4)
