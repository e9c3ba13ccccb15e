"""The glue between group convolutions, in one pass: the same logits, compiled where there is a compiler."""

import copy
import warnings

import pytest
import torch
import torch._inductor.config
from torch import nn

import equicolor as ec
from equicolor.deploy import optimize_for_inference
from equicolor.fusion import _pieces
from equicolor.nn import GroupConv2d, GroupPool, Lift
from zoo import relative, settle

LAYOUTS = [torch.contiguous_format, torch.channels_last]


@pytest.fixture
def uncompiled(monkeypatch):
    """Pieces are computed as they are written, one operation after another: what is tested is what they say."""
    monkeypatch.setattr(_pieces, "compiled", lambda piece: piece.graph)


def called(model: nn.Module) -> list[str]:
    """The kinds of modules that a fused network calls."""
    network = model.forward.network
    return [type(network.get_submodule(n.target)).__name__ for n in network.graph.nodes if n.op == "call_module"]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    ("name", "group"),
    [("resnet18", "hue4"), ("resnet50", "hue3"), ("z2cnn", "hue2-sat3"), ("segmenter", "hue3"), ("resnet44", "sat3")],
)
def test_fused_the_logits_stay_for_any_batch(name, group, layout, uncompiled):
    model = settle(ec.create_model(name, group, width=4, algorithm="fast")).double().to(memory_format=layout)
    fused = optimize_for_inference(model, compile=True)
    assert "GroupConv2d" not in called(fused)
    for count in (3, 1, 0):
        images = torch.rand(count, 3, 32, 32, dtype=torch.float64).to(memory_format=layout)
        with torch.no_grad():
            expected = model(images)
        result = fused(images)
        assert result.shape == expected.shape
        assert not count or relative(result, expected) < 1e-10
        assert not result.is_inference()


def test_a_block_is_three_passes_over_memory(uncompiled):
    model = optimize_for_inference(ec.create_model("resnet18", "hue4", width=8, algorithm="fast"), compile=True)
    glue = [kind for kind in called(model) if kind == "_Glue"]
    # Lift, stem and 16 convolutions of blocks; projections of shortcuts are added before they are transformed back.
    assert len(glue) == 18
    assert "ReLU" not in called(model)


def test_what_is_added_may_have_another_shape(uncompiled):
    class Shifted(nn.Module):
        def __init__(self):
            super().__init__()
            self.lift, self.conv, self.pool = Lift("hue3"), GroupConv2d("hue3", 3, 4, 3), GroupPool("hue3")
            self.shift = nn.Parameter(torch.randn(4, 1, 1))

        def forward(self, images):
            return self.pool(torch.relu(self.shift + self.conv(self.lift(images))))

    model, images = Shifted(), torch.rand(2, 3, 6, 5)
    model.conv.algorithm = "fast"
    with torch.no_grad():
        torch.testing.assert_close(optimize_for_inference(model, compile=True)(images), model(images))


@pytest.mark.parametrize("options", [{"window": "rescale"}, {"padding_mode": "circular", "padding": 1}])
def test_layers_that_are_more_than_products_stay_as_they_are(options, uncompiled):
    layers = [GroupConv2d("sat3", 3, 4, 3, algorithm="fast", **options), nn.ReLU(), GroupConv2d("sat3", 4, 4, 3)]
    layers[2].algorithm = "fast"
    model, images = nn.Sequential(Lift("sat3"), *layers, GroupPool("sat3")), torch.rand(2, 3, 8, 8)
    fused = optimize_for_inference(model, compile=True)
    assert called(fused).count("GroupConv2d") == 1
    with torch.no_grad():
        torch.testing.assert_close(fused(images), model(images))


def test_a_layer_that_somebody_listens_to_is_called(uncompiled):
    heard = []
    model = nn.Sequential(Lift("hue4"), GroupConv2d("hue4", 3, 4, 3, algorithm="fast"), nn.ReLU(), GroupPool("hue4"))
    model[1].register_forward_hook(lambda *_: heard.append(True))
    optimize_for_inference(model, compile=True)(torch.rand(2, 3, 6, 6))
    assert heard


def small() -> nn.Module:
    torch.manual_seed(0)
    convs = [GroupConv2d("hue4", channels, 4, 3, padding=1, algorithm="fast") for channels in (3, 4)]
    return nn.Sequential(Lift("hue4"), convs[0], nn.BatchNorm2d(4), nn.ReLU(), convs[1], GroupPool("hue4"))


def test_compiled_it_computes_the_same_and_can_be_copied():
    torch.compiler.reset()
    model = settle(small())
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "nothing is compiled")
        fused = optimize_for_inference(model, compile=True)
    for images in (torch.rand(2, 3, 8, 8), torch.rand(3, 3, 5, 7).to(memory_format=torch.channels_last)):
        with torch.no_grad():
            assert relative(fused(images), model(images)) < 1e-5
            assert relative(copy.deepcopy(fused)(images), model(images)) < 1e-5


def test_without_a_compiler_the_network_is_as_without_it():
    torch.compiler.reset()
    _pieces.compiled.cache_clear()
    model, images = settle(small()), torch.rand(2, 3, 8, 8)
    # PyTorch's own way to change its settings: what pytest puts back, PyTorch takes for deleted
    without = {"cpp.cxx": ("no-such-compiler",), "force_disable_caches": True}
    with torch._inductor.config.patch(without), pytest.warns(UserWarning, match="nothing is compiled, which changes"):
        fused = optimize_for_inference(model, compile=True)
    _pieces.compiled.cache_clear()
    with torch.no_grad():
        assert relative(fused(images), model(images)) < 1e-5
    assert torch._inductor.config.force_disable_caches is False
