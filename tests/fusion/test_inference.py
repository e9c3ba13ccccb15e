"""The glue between group convolutions, in one pass: the same logits, compiled where there is a compiler."""

import copy
import warnings

import pytest
import torch
import torch._inductor.config
from torch import nn

import equicolor as ec
from equicolor.deploy import optimize_for_inference
from equicolor.fusion import _forward, _pieces
from equicolor.nn import GroupConv2d, GroupPool, Lift
from zoo import relative, settle

LAYOUTS = [torch.contiguous_format, torch.channels_last]


@pytest.fixture
def uncompiled(monkeypatch):
    """Pieces are computed as they are written, one operation after another: what is tested is what they say."""
    monkeypatch.setattr(_pieces, "compiled", lambda piece: piece.graph)


def called(model: nn.Module) -> list[str]:
    """The kinds of modules that a fused network calls."""
    network = model.forward.fused
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


@pytest.mark.parametrize("window", ["zero", "rescale", "replicate"])
@pytest.mark.parametrize("group", ["sat3", "temp3-tint3"])
def test_biases_of_windows_are_shared_among_the_products(group, window, uncompiled):
    model = settle(ec.create_model("resnet18", group, width=4, algorithm="fast", window=window)).double()
    images = torch.rand(2, 3, 16, 16, dtype=torch.float64)
    fused = optimize_for_inference(model, compile=True)
    assert "GroupConv2d" not in called(fused)
    with torch.no_grad():
        assert relative(fused(images), model(images)) < 1e-10


def test_a_block_is_three_passes_over_memory(uncompiled):
    model = optimize_for_inference(ec.create_model("resnet18", "hue4", width=8, algorithm="fast"), compile=True)
    glue = [kind for kind in called(model) if kind == "_Glue"]
    # Lift, stem and 16 convolutions of blocks; projections of shortcuts are added before they are transformed back.
    assert len(glue) == 18
    assert "ReLU" not in called(model)


def test_what_is_added_may_have_another_shape(uncompiled, monkeypatch):
    monkeypatch.setattr(_forward, "_KNOWN", ("",))

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


def test_layers_that_are_more_than_products_stay_as_they_are(uncompiled):
    around = GroupConv2d("sat3", 3, 4, 3, algorithm="fast", padding_mode="circular", padding=1)
    layers = [around, nn.ReLU(), GroupConv2d("sat3", 4, 4, 3, algorithm="fast")]
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


@pytest.mark.parametrize("place", ["stem.0", "stages.0.0", "stages.0.0.activation", ""])
def test_whoever_listens_is_heard(place, uncompiled):
    model, images = ec.create_model("resnet18", "hue4", algorithm="fast", width=4), torch.rand(2, 3, 16, 16)
    for before in (True, False):
        heard = []
        given = copy.deepcopy(model)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if before:
                given.get_submodule(place).register_forward_hook(lambda *_, heard=heard: heard.append(True))
            fused = optimize_for_inference(given, compile=True)
            if not before:
                fused.get_submodule(place).register_forward_hook(lambda *_, heard=heard: heard.append(True))
            heard.clear()
            fused(images)
        assert heard == [True]


def test_a_network_that_was_changed_since_is_computed_as_it_is_now(uncompiled):
    model, images = settle(ec.create_model("resnet18", "hue4", algorithm="fast", width=4)), torch.rand(2, 3, 16, 16)
    fused = optimize_for_inference(model, compile=True)
    model.head.classifier = nn.Linear(model.head.classifier.in_features, 3)
    fused.head.classifier = copy.deepcopy(model.head.classifier)
    with torch.no_grad(), pytest.warns(UserWarning, match="was changed since it was fused"):
        assert relative(fused(images), model(images)) < 1e-5


def test_what_others_wrote_may_do_more_than_a_graph_shows_and_stays(uncompiled):
    class Counting(nn.Sequential):
        calls = 0

        def forward(self, images):
            self.calls += 1
            return super().forward(images)

    model, images = Counting(*small()), torch.rand(2, 3, 8, 8)
    with pytest.warns(UserWarning, match="Counting is neither this library's nor PyTorch's"):
        fused = optimize_for_inference(model, compile=True)
    before = fused.calls
    fused(images)
    fused(images)
    assert fused.calls == before + 2


def test_without_any_bias_and_with_several_results_it_is_fused_all_the_same(uncompiled, monkeypatch):
    class Twice(nn.Sequential):
        def forward(self, images):
            features = super().forward(images)
            return features, {"largest": features.amax((2, 3))}

    monkeypatch.setattr(_forward, "_KNOWN", ("",))
    convs = [GroupConv2d("hue4", channels, 4, 3, bias=False, algorithm="fast") for channels in (3, 4)]
    model, images = Twice(Lift("hue4"), convs[0], nn.ReLU(), convs[1], GroupPool("hue4")), torch.rand(2, 3, 8, 8)
    fused = optimize_for_inference(model, compile=True)
    assert called(fused).count("Products") == 2
    features, others = fused(images)
    assert not features.is_inference()
    assert not others["largest"].is_inference()
    with torch.no_grad():
        torch.testing.assert_close(features, model(images)[0])


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (nn.Sequential(nn.Conv2d(3, 4, 3)), "no frozen group convolution"),
        (ec.create_model("z2cnn", "sat3", algorithm="direct"), "by a bilinear algorithm"),
    ],
)
def test_where_nothing_can_be_compiled_a_warning_says_why(model, reason):
    with pytest.warns(UserWarning, match=f"nothing is compiled, which changes no result: .*{reason}"):
        optimize_for_inference(model, compile=True)


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


def test_where_it_was_compiled_elsewhere_and_cannot_be_here_it_is_computed_as_written(monkeypatch):
    def no_compiler(*_):
        raise RuntimeError("no C++ compiler\nat all")

    with monkeypatch.context() as patch:
        patch.setattr(_pieces, "compiled", lambda piece: piece.graph)
        fused = optimize_for_inference(model := settle(small()), compile=True)
    monkeypatch.setattr(_pieces, "compiled", lambda piece: no_compiler)
    _pieces._warn_once.cache_clear()
    images = torch.rand(2, 3, 8, 8)
    with (
        torch.no_grad(),
        pytest.warns(UserWarning, match="cannot be compiled here, and is computed without: no C") as told,
    ):
        results = [fused(images) for _ in range(2)]
    with torch.no_grad():
        assert all(relative(result, model(images)) < 1e-5 for result in results)
    assert len(told) == 1
