"""Regional compilation: which pieces, how often, and that the network still computes the same."""

import torch
from torch import nn
from torch._dynamo.utils import counters

import equicolor as ec
from equicolor.bench._compile import compile_blocks, compiling, regions
from equicolor.nn import GroupConv2d


class Block(nn.Module):
    def __init__(self, convolution):
        super().__init__()
        self.convolution = convolution

    def forward(self, features):
        return features + self.convolution(features).relu()


def network():
    halves = [nn.Sequential(*(Block(GroupConv2d("hue3", width, width, 1)) for _ in range(3))) for width in (4, 6)]
    return nn.Sequential(halves[0], GroupConv2d("hue3", 4, 6, 1), halves[1])


def test_regions_are_the_blocks_and_what_stands_beside_them():
    model = ec.create_model("resnet44", "hue4")
    found = regions(model)
    assert found[:2] == [model.lift, model.stem]
    assert found[2:-1] == [block for stage in model.stages for block in stage]
    assert found[-1] is model.head
    assert {id(p) for region in found for p in region.parameters()} == {id(p) for p in model.parameters()}


@torch.no_grad()
def test_blocks_of_the_same_shape_are_compiled_once():
    model, features = network(), torch.rand(6, 4, 8, 8)
    expected = model(features)
    with compiling():
        counters.clear()
        compile_blocks(model, backend="eager")
        result = model(features)
        assert counters["stats"]["unique_graphs"] == 3  # blocks of 4 channels, of 6, and what stands between
        model(features)
        assert counters["stats"]["unique_graphs"] == 3
    torch.testing.assert_close(result, expected)


@torch.no_grad()
def test_many_shapes_stay_compiled():
    """PyTorch by itself gives up after eight, and goes on without a word."""
    with compiling():
        counters.clear()
        for width in range(2, 12):
            pair = nn.Sequential(*(Block(nn.Conv2d(width, width, 1)) for _ in range(2)))
            compile_blocks(pair, backend="eager")(torch.rand(3, width, 4, 4))
        assert counters["stats"]["unique_graphs"] == 10
