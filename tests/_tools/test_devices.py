"""Which device a network is put on."""

from types import SimpleNamespace

import pytest
import torch

from equicolor._tools.devices import chosen_device

KINDS = ["cuda", "mps", "xpu"]


def new_torch(monkeypatch, kind, available):
    """PyTorch from 2.6 on, built for a kind of accelerator."""
    built = SimpleNamespace(is_available=lambda: available, current_accelerator=lambda: torch.device(kind))
    monkeypatch.setattr(torch, "accelerator", built, raising=False)


@pytest.fixture
def old_torch(monkeypatch):
    """PyTorch before 2.6, on a machine without accelerators."""
    monkeypatch.delattr(torch, "accelerator", raising=False)
    for module in (torch.cuda, torch.backends.mps, torch.xpu):
        monkeypatch.setattr(module, "is_available", lambda: False)


@pytest.mark.parametrize("kind", KINDS)
def test_auto_takes_whichever_accelerator_there_is(kind, monkeypatch):
    new_torch(monkeypatch, kind, available=True)
    assert chosen_device("auto") == torch.device(kind)


def test_auto_takes_the_cpu_where_pytorch_was_built_for_an_accelerator_that_is_not_there(monkeypatch):
    new_torch(monkeypatch, "cuda", available=False)
    assert chosen_device("auto") == torch.device("cpu")


@pytest.mark.parametrize("kind", KINDS)
def test_auto_finds_it_with_an_older_pytorch_too(kind, old_torch, monkeypatch):
    assert chosen_device("auto") == torch.device("cpu")
    module = torch.backends.mps if kind == "mps" else getattr(torch, kind)
    monkeypatch.setattr(module, "is_available", lambda: True)
    assert chosen_device("auto") == torch.device(kind)


@pytest.mark.parametrize("device", ["xla", "abacus"])
def test_a_device_that_is_not_there_is_named(device):
    with pytest.raises(ValueError, match=f"device '{device}' cannot be used here"):
        chosen_device(device)
