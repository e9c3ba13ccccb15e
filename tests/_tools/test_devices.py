"""Which device a network is put on."""

from types import SimpleNamespace

import pytest
import torch

from equicolor._tools.devices import chosen_device


def built_for(kind, monkeypatch, available):
    """PyTorch built for a kind of accelerator."""
    built = SimpleNamespace(is_available=lambda: available, current_accelerator=lambda: torch.device(kind))
    monkeypatch.setattr(torch, "accelerator", built)


@pytest.mark.parametrize("kind", ["cuda", "mps", "xpu"])
def test_auto_takes_whichever_accelerator_there_is(kind, monkeypatch):
    built_for(kind, monkeypatch, available=True)
    assert chosen_device("auto") == torch.device(kind)


def test_auto_takes_the_cpu_where_pytorch_was_built_for_an_accelerator_that_is_not_there(monkeypatch):
    built_for("cuda", monkeypatch, available=False)
    assert chosen_device("auto") == torch.device("cpu")


@pytest.mark.parametrize("device", ["xla", "abacus"])
def test_a_device_that_is_not_there_is_named(device):
    with pytest.raises(ValueError, match=f"device '{device}' cannot be used here"):
        chosen_device(device)
