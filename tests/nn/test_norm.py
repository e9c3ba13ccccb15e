"""The batch norm is PyTorch's, but for its time: results, statistics, derivatives."""

import copy
import re

import pytest
import torch
from torch import nn

from equicolor.nn import BatchNorm2d, faster_norms
from equicolor.nn import _norm as implementation

TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-12}


def _pair(channels: int, dtype: torch.dtype = torch.float64, **options) -> tuple[BatchNorm2d, nn.BatchNorm2d]:
    torch.manual_seed(0)
    ours, theirs = BatchNorm2d(channels, dtype=dtype, **options), nn.BatchNorm2d(channels, dtype=dtype, **options)
    if ours.affine:
        nn.init.uniform_(ours.weight, 0.5, 2)
        nn.init.normal_(ours.bias)
    theirs.load_state_dict(ours.state_dict())
    return ours, theirs


def _features(channels: int, dtype: torch.dtype = torch.float64, *, last: bool = True) -> torch.Tensor:
    features = 3 + 2 * torch.randn(4, channels, 6, 8, dtype=dtype)
    return features.to(memory_format=torch.channels_last if last else torch.contiguous_format).requires_grad_()


@pytest.fixture
def joined(monkeypatch):
    """How often pixels were joined."""
    calls = []
    join = implementation._join
    monkeypatch.setattr(implementation, "_join", lambda *arguments: calls.append(0) or join(*arguments))
    return calls


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("channels", [3, 9, 18, 20, 37])
def test_results_gradients_and_statistics_are_pytorchs(channels, dtype, joined):
    features, gradient = _features(channels, dtype), torch.randn(4, channels, 6, 8, dtype=dtype)
    found = []
    for norm in _pair(channels, dtype):
        results = [norm(features) for _ in range(3)]
        gradients = torch.autograd.grad(results[-1], (features, norm.weight, norm.bias), gradient)
        assert results[-1].is_contiguous(memory_format=torch.channels_last)
        norm.eval()
        found.append((results[-1], *gradients, norm(features), norm.running_mean, norm.running_var))
        assert norm.num_batches_tracked == 3
    assert joined
    for ours, theirs in zip(*found, strict=True):
        error = (ours - theirs).norm() / theirs.norm()
        assert error < TOLERANCE[dtype]


@pytest.mark.parametrize(
    "options", [{"momentum": None}, {"momentum": 0.3}, {"track_running_stats": False}, {"affine": False}, {"eps": 0.1}]
)
def test_options_mean_what_they_mean_in_pytorch(options):
    ours, theirs = _pair(9, **options)
    features = _features(9)
    for _ in range(2):
        torch.testing.assert_close(ours(features), theirs(features))
    torch.testing.assert_close(ours.state_dict(), theirs.state_dict())
    torch.testing.assert_close(ours.eval()(features), theirs.eval()(features))


def test_constant_channels_and_large_means_are_no_harder_than_in_pytorch():
    ours, theirs = _pair(9, torch.float32)
    features = _features(9, torch.float32).detach()
    features[:, 0] = 5.0
    features[:, 1] += 1000
    exact = copy.deepcopy(theirs).double()(features.double())
    errors = [(norm(features) - exact).abs().max() for norm in (ours, theirs)]
    assert errors[0] < 2 * errors[1] + 1e-6


def test_it_has_first_and_second_derivatives(joined):
    norm = _pair(3)[0]
    inputs = (_features(3), norm.weight, norm.bias)

    def function(features, weight, bias):
        return torch.func.functional_call(norm, {"weight": weight, "bias": bias}, features)

    assert torch.autograd.gradcheck(function, inputs, fast_mode=True)
    assert torch.autograd.gradgradcheck(function, inputs, fast_mode=True)
    assert torch.autograd.gradcheck(function, inputs, fast_mode=True, check_forward_ad=True)
    assert joined


def test_what_comes_out_may_be_changed_in_place():
    ours, theirs = _pair(9)
    features = _features(9)
    found = []
    for norm in (ours, theirs):
        result = nn.Sequential(norm, nn.ReLU(inplace=True))(features)
        found.append(torch.autograd.grad(result.square().sum(), features))
    torch.testing.assert_close(*found)


def test_gradients_of_some_of_its_inputs():
    ours, theirs = _pair(9)
    features = _features(9)
    for norm in (ours, theirs):
        norm.weight.requires_grad_(False)
    found = [torch.autograd.grad(norm(features).square().sum(), (features, norm.bias)) for norm in (ours, theirs)]
    torch.testing.assert_close(*found)
    found = [torch.autograd.grad(norm(features.detach()).square().sum(), norm.bias) for norm in (ours, theirs)]
    torch.testing.assert_close(*found)
    first = [torch.autograd.grad(n(features).square().sum(), features, create_graph=True)[0] for n in (ours, theirs)]
    torch.testing.assert_close(*[torch.autograd.grad(each.square().sum(), features) for each in first])


def test_function_transforms_see_pytorchs():
    ours, theirs = _pair(9, track_running_stats=False)
    features = torch.stack([_features(9).detach() for _ in range(2)])
    found = [torch.func.vmap(norm)(features) for norm in (ours, theirs)]
    torch.testing.assert_close(*found)


@pytest.mark.parametrize(
    ("channels", "last", "batch"),
    [(16, True, 4), (72, True, 4), (9, False, 4), (9, True, 1)],
    ids=["whole vectors", "many channels", "contiguous", "pixels that do not divide"],
)
def test_where_nothing_is_gained_it_is_pytorchs_own(channels, last, batch, joined):
    norm, theirs = _pair(channels)
    features = _features(channels, last=last)[:batch, :, :5, :7] if batch == 1 else _features(channels, last=last)
    assert torch.equal(norm(features), theirs(features))
    assert not joined


def test_unusual_settings_are_treated_as_pytorch_does():
    ours, theirs = _pair(9, eps=0.0)
    features = _features(9)
    try:
        expected = theirs(features)
    except ValueError as refusal:  # newer versions of PyTorch do not take it
        with pytest.raises(ValueError, match=re.escape(str(refusal))):
            ours(features)
    else:
        torch.testing.assert_close(ours(features), expected)
    ours, theirs = _pair(9)
    ours.num_batches_tracked = theirs.num_batches_tracked = None
    features = _features(9)
    torch.testing.assert_close(ours(features), theirs(features))
    torch.testing.assert_close(ours.running_mean, theirs.running_mean)


def test_wrong_features_get_pytorchs_errors():
    with pytest.raises(RuntimeError, match="running_mean should contain 5 elements"):
        BatchNorm2d(9)(torch.rand(4, 5, 4, 4).to(memory_format=torch.channels_last))
    with pytest.raises(ValueError, match="expected 4D input"):
        BatchNorm2d(9)(torch.rand(4, 9))


def test_norms_become_faster_where_that_gains_and_keep_what_they_have():
    few, many, full = nn.BatchNorm2d(9), nn.BatchNorm2d(65), nn.BatchNorm2d(32)
    special = nn.SyncBatchNorm(9)
    before = {name: value.clone() for name, value in few.state_dict().items()}
    assert list(faster_norms(nn.Sequential(few, many, full, special))) == [few, many, full, special]
    assert [type(norm) for norm in (few, many, full)] == [BatchNorm2d, nn.BatchNorm2d, nn.BatchNorm2d]
    assert type(special) is nn.SyncBatchNorm
    assert few.state_dict().keys() == before.keys()
    assert all(torch.equal(value, before[name]) for name, value in few.state_dict().items())
