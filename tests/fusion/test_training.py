"""The glue between group convolutions in training: the same gradients, in one pass each way."""

import copy
import warnings

import pytest
import torch
import torch._inductor.config
import torch.nn.functional as F
from torch import nn

import equicolor as ec
from equicolor.fusion import _forward, _pieces, fuse_for_training
from equicolor.nn import GroupConv2d, GroupPool, Lift
from zoo import relative

LAYOUTS = [torch.contiguous_format, torch.channels_last]


@pytest.fixture
def uncompiled(monkeypatch):
    """Pieces are computed as they are written, one operation after another: what is tested is what they say."""
    monkeypatch.setattr(_pieces, "compiled", lambda piece: piece.graph)


@pytest.fixture
def trusted(monkeypatch):
    """Networks of these tests count as the library's own: what is tested is what becomes of their graphs."""
    monkeypatch.setattr(_forward, "_KNOWN", ("",))


def called(model: nn.Module) -> list[str]:
    """The kinds of modules that a fused network calls."""
    network = model.forward.fused
    return [type(network.get_submodule(n.target)).__name__ for n in network.graph.nodes if n.op == "call_module"]


def trained(model: nn.Module, images: torch.Tensor, steps: int = 2) -> dict[str, torch.Tensor]:
    """Gradients, and state, after some steps towards three classes that depend on every number of the result.

    On single pixels of one channel nothing would depend on what is added to all of them: such a bias has a gradient of
    zero, and of two ways to it the rounding errors alone would be compared.
    """
    model.train()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    labels = torch.arange(len(images)) % 3
    for _ in range(steps):
        optimizer.zero_grad()
        results = model(images).flatten(1)
        classes = torch.linspace(-1, 2, 3 * results.shape[1], dtype=results.dtype).cos().view(-1, 3)
        F.cross_entropy(results @ classes, labels).backward()
        optimizer.step()
    return {**model.state_dict(), **{f"of {name}": p.grad for name, p in model.named_parameters()}}


def two(name: str, group: str, layout: torch.memory_format, **options) -> tuple[nn.Module, nn.Module]:
    torch.manual_seed(0)
    model = ec.create_model(name, group, algorithm="fast", **options).double().to(memory_format=layout)
    return model, copy.deepcopy(model)


def assert_alike(ours: dict[str, torch.Tensor], theirs: dict[str, torch.Tensor], bound: float) -> None:
    assert ours.keys() == theirs.keys()
    worst = {name: relative(ours[name].double(), theirs[name].double()) for name in ours if theirs[name].abs().sum()}
    assert max(worst.values()) < bound, max(worst, key=worst.get)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    ("name", "group"),
    [("resnet18", "hue4"), ("resnet50", "hue3"), ("z2cnn", "hue2-sat3"), ("segmenter", "hue3"), ("resnet44", "sat3")],
)
def test_training_steps_stay_the_same(name, group, layout, uncompiled):
    model, fused = two(name, group, layout, width=4)
    images = torch.rand(4, 3, 32, 32, dtype=torch.float64).to(memory_format=layout)
    fuse_for_training(fused, images)
    assert "Products" in called(fused)
    assert_alike(trained(fused, images), trained(model, images), 1e-8)


@pytest.mark.parametrize("window", ["zero", "rescale", "replicate"])
def test_biases_of_windows_are_trained_the_same(window, uncompiled):
    torch.manual_seed(0)
    layers = [GroupConv2d("sat3", channels, 4, 3, algorithm="fast", window=window) for channels in (3, 4)]
    end = [nn.AdaptiveAvgPool2d(1), GroupPool("sat3")]
    model = nn.Sequential(Lift("sat3"), layers[0], nn.ReLU(), layers[1], nn.ReLU(), *end).double()
    images = torch.rand(4, 3, 8, 8, dtype=torch.float64)
    fused = fuse_for_training(copy.deepcopy(model), images)
    assert called(fused).count("Products") == 2
    assert_alike(trained(fused, images), trained(model, images), 1e-10)


def test_a_block_is_two_pieces_for_each_convolution_and_nothing_else_but_norms(uncompiled):
    model, fused = two("resnet18", "hue4", torch.channels_last, width=8)
    fuse_for_training(fused, torch.rand(2, 3, 32, 32, dtype=torch.float64))
    kinds = called(fused)
    # Of 17 convolutions, the stem's has a piece for its lifted images; strided 1×1 projections stay as they are.
    assert kinds.count("Products") == 17
    assert kinds.count("_Between") == 2 * 17
    assert kinds.count("GroupConv2d") == 3
    assert kinds.count("BatchNorm2d") == 20
    assert kinds.count("ReLU") == 1  # the last, which no convolution follows
    assert fused.state_dict().keys() == model.state_dict().keys()


def test_it_is_at_work_in_training_alone(uncompiled):
    model, fused = two("resnet18", "hue4", torch.channels_last, width=4)
    images = torch.rand(2, 3, 32, 32, dtype=torch.float64)
    calls = []
    fuse_for_training(fused, images)
    fused.forward.fused.register_forward_hook(lambda *_: calls.append(True))
    fused.eval(), model.eval()
    assert torch.equal(fused(images), model(images))
    fused.train(), model.train()
    with torch.no_grad():
        assert torch.equal(fused(images), model(images))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        fused.float()(images.float())
    assert not calls
    fused(images.float())
    assert calls == [True]


def test_what_is_fused_already_stays_and_copies_train_by_themselves(uncompiled):
    _, fused = two("resnet18", "hue4", torch.channels_last, width=4)
    images = torch.rand(2, 3, 32, 32, dtype=torch.float64)
    forward = fuse_for_training(fused, images).forward
    assert fuse_for_training(fused, images).forward is forward
    other = copy.deepcopy(fused)
    before = {name: value.clone() for name, value in fused.state_dict().items()}
    trained(other, images)
    assert all(torch.equal(value, before[name]) for name, value in fused.state_dict().items())
    assert not torch.equal(other.state_dict()["stem.0.weight"], before["stem.0.weight"])


class Summed(nn.Module):
    """A sum of other shapes, a bias, a convolution that two listen to, and one that nobody differentiates further."""

    def __init__(self):
        super().__init__()
        self.lift, self.pool = Lift("hue3"), GroupPool("hue3")
        self.one, self.two = (GroupConv2d("hue3", 3, 4, 3, algorithm="fast", padding=1) for _ in range(2))
        self.three, self.four = (GroupConv2d("hue3", 4, 4, 3, algorithm="fast", padding=1) for _ in range(2))
        self.shift = nn.Parameter(torch.randn(4, 1, 1))

    def forward(self, images):
        lifted = self.lift(images)
        between = torch.relu(self.shift + self.one(lifted))
        beside = between + self.two(lifted)
        return self.pool(torch.relu(self.three(between) + self.four(beside)).mean((2, 3)))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_other_shapes_biases_and_branches_have_their_gradients(layout, uncompiled, trusted):
    torch.manual_seed(0)
    model = Summed().double().to(memory_format=layout)
    images = torch.rand(3, 3, 6, 5, dtype=torch.float64).to(memory_format=layout)
    fused = fuse_for_training(copy.deepcopy(model), images)
    assert called(fused).count("Products") == 4
    assert_alike(trained(fused, images), trained(model, images), 1e-10)


def test_what_others_see_an_activation_write_over_they_go_on_seeing(uncompiled, trusted):
    class Overwritten(Summed):
        def forward(self, images):
            before = self.one(self.lift(images)) * 1
            after = F.relu(before, inplace=True)
            return self.pool((self.three(after) + before).mean((2, 3)))

    torch.manual_seed(0)
    model, images = Overwritten().double(), torch.rand(3, 3, 6, 5, dtype=torch.float64)
    fused = fuse_for_training(copy.deepcopy(model), images)
    with torch.no_grad():
        assert model(images).min() != 0
    torch.testing.assert_close(fused.train()(images), model(images))


def test_frozen_layers_are_passed_by(uncompiled):
    model, fused = two("resnet18", "hue4", torch.channels_last, width=4)
    images = torch.rand(2, 3, 32, 32, dtype=torch.float64)
    fuse_for_training(fused, images)
    for each in (model, fused):
        each.requires_grad_(False)
        each.stages[3].requires_grad_(True)
        each.train()
        each(images).square().sum().backward()
    for (name, ours), theirs in zip(fused.named_parameters(), model.parameters(), strict=True):
        assert (ours.grad is None) == (theirs.grad is None), name
        assert ours.grad is None or relative(ours.grad, theirs.grad) < 1e-8


def test_second_derivatives_are_an_error_and_not_wrong(uncompiled):
    _, fused = two("z2cnn", "hue4", torch.contiguous_format)
    images = torch.rand(2, 3, 28, 28, dtype=torch.float64)
    fuse_for_training(fused, images).train()
    (slope,) = torch.autograd.grad(fused(images).sum(), [next(fused.parameters())], create_graph=True)
    with pytest.raises(RuntimeError, match="differentiate twice"):
        slope.square().sum().backward()


def test_memory_is_that_of_training_without_it(uncompiled):
    from equicolor.measure import peak_memory

    model, fused = two("resnet18", "hue4", torch.channels_last, width=8)
    images = torch.rand(8, 3, 32, 32, dtype=torch.float64).to(memory_format=torch.channels_last)
    fuse_for_training(fused, images)
    peaks = [peak_memory(lambda m=m: m.train()(images).sum().backward(), "cpu") for m in (model, fused)]
    assert peaks[1] < 1.1 * peaks[0]


@pytest.mark.parametrize(
    ("network", "images", "reason"),
    [
        (ec.create_model("z2cnn"), torch.rand(2, 3, 28, 28), "no group convolution is computed by a bilinear"),
        (ec.create_model("z2cnn", "hue4", algorithm="direct"), torch.rand(2, 3, 28, 28), "no group convolution is"),
        (ec.create_model("z2cnn", "hue4"), torch.rand(2, 3, 28, 28, device="meta"), "compiled for CPUs, and images"),
    ],
)
def test_where_nothing_can_be_fused_a_warning_says_why(network, images, reason):
    with pytest.warns(UserWarning, match=f"nothing is fused, which changes no result: .*{reason}"):
        assert fuse_for_training(network, images) is network
    assert "forward" not in vars(network)


def test_a_network_that_cannot_be_traced_stays(trusted):
    class Branching(nn.Sequential):
        def forward(self, images):
            return super().forward(images if images.sum() > 0 else -images)

    conv = GroupConv2d("hue4", 3, 4, 3, algorithm="fast")
    with pytest.warns(UserWarning, match=r"torch.fx cannot trace the network \("):
        fuse_for_training(Branching(Lift("hue4"), conv, GroupPool("hue4")), torch.rand(2, 3, 6, 6))


def test_what_others_wrote_may_do_more_than_a_graph_shows_and_stays():
    with pytest.warns(UserWarning, match=r"Summed is neither this library's nor PyTorch's"):
        fuse_for_training(Summed(), torch.rand(2, 3, 6, 6))
    replaced = small()
    replaced.forward = lambda images: 2 * type(replaced).forward(replaced, images)
    with pytest.warns(UserWarning, match="the forward that this network was given"):
        fuse_for_training(replaced, torch.rand(2, 3, 6, 6))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_activations_may_write_over_what_is_fused(layout, uncompiled):
    torch.manual_seed(0)
    convs = [GroupConv2d("hue4", channels, 4, 3, padding=1, algorithm="fast") for channels in (3, 4)]
    between = [nn.ReLU(inplace=True), nn.MaxPool2d(2)]
    end = [nn.ReLU(inplace=True), nn.AdaptiveAvgPool2d(1), GroupPool("hue4")]
    model = nn.Sequential(Lift("hue4"), convs[0], *between, convs[1], *end)
    model, images = model.double().to(memory_format=layout), torch.rand(3, 3, 8, 8, dtype=torch.float64)
    fused = fuse_for_training(copy.deepcopy(model), images)
    assert "Products" in called(fused)
    assert_alike(trained(fused, images), trained(model, images), 1e-10)


def test_layers_keep_the_modes_that_they_have(uncompiled):
    model = ec.create_model("resnet18", "hue4", algorithm="fast", width=4).train()
    model.stem.eval()
    fuse_for_training(model, torch.rand(2, 3, 16, 16))
    assert model.training
    assert not any(module.training for module in model.stem.modules())


def test_a_network_that_was_changed_since_is_computed_as_it_is_now(uncompiled):
    model, fused = two("resnet18", "hue4", torch.channels_last, width=4)
    images = torch.rand(2, 3, 32, 32, dtype=torch.float64)
    fuse_for_training(fused, images)
    head = nn.Linear(fused.head.classifier.in_features, 5).double()
    model.head.classifier, fused.head.classifier = head, copy.deepcopy(head)
    with pytest.warns(UserWarning, match="was changed since it was fused"):
        result = fused.train()(images)
    assert torch.equal(result, model.train()(images))


@pytest.mark.parametrize("place", ["stem.0", "stages.0.0", "stages.0.0.activation"])
def test_whoever_listens_is_heard(place, uncompiled):
    images = torch.rand(2, 3, 16, 16)
    for before in (True, False):
        heard = []
        model = ec.create_model("resnet18", "hue4", algorithm="fast", width=4).train()
        layer = model.get_submodule(place)
        if before:
            layer.register_full_backward_hook(lambda *_, heard=heard: heard.append(True))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fuse_for_training(model, images)
            if not before:
                layer.register_forward_hook(lambda *_, heard=heard: heard.append(True))
            model(images).sum().backward()
        assert heard == [True]


def test_a_backward_pass_under_autocast_is_that_of_full_precision(uncompiled):
    model, fused = two("resnet18", "hue4", torch.channels_last, width=4)
    images = torch.rand(2, 3, 32, 32)
    fuse_for_training(fused.float(), images)
    losses = [each.train()(images).sum() for each in (model.float(), fused)]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        for loss in losses:
            loss.backward()
    assert relative(fused.stem[0].weight.grad.double(), model.stem[0].weight.grad.double()) < 0.05


def test_only_networks_can_be_fused():
    with pytest.raises(TypeError, match=r"expected a network, a torch.nn.Module, got str"):
        fuse_for_training("resnet18", torch.rand(2, 3, 32, 32))


def small() -> nn.Module:
    torch.manual_seed(0)
    convs = [GroupConv2d("hue4", channels, 4, 3, padding=1, algorithm="fast", bias=False) for channels in (3, 4)]
    norms = [nn.BatchNorm2d(4) for _ in range(2)]
    return nn.Sequential(Lift("hue4"), convs[0], norms[0], nn.ReLU(), convs[1], norms[1], nn.ReLU(), GroupPool("hue4"))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_compiled_it_trains_the_same(layout):
    torch.compiler.reset()
    model = small().to(memory_format=layout)
    images = torch.rand(4, 3, 8, 8).to(memory_format=layout)
    fused = fuse_for_training(copy.deepcopy(model), images)
    assert "Products" in called(fused)
    for batch in (images, images[:3, :, :5, :7].contiguous(memory_format=layout)):
        assert_alike(trained(fused, batch, 1), trained(model, batch, 1), 1e-3)


def test_without_a_compiler_the_network_is_as_without_it():
    torch.compiler.reset()
    _pieces.compiled.cache_clear()
    model, images = small(), torch.rand(2, 3, 8, 8)
    without = {"cpp.cxx": ("no-such-compiler",), "force_disable_caches": True}
    with torch._inductor.config.patch(without), pytest.warns(UserWarning, match="cannot be compiled here"):
        fuse_for_training(model, images)
    _pieces.compiled.cache_clear()
    assert "forward" not in vars(model)
    model(images).sum().backward()
