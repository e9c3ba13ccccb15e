"""What a run leaves of the machine as it was."""

from types import SimpleNamespace

import pytest
import torch

from equicolor.train._machine import reproducible


@pytest.mark.parametrize("kind", ["cuda", "mps", "xpu"])
def test_the_random_numbers_of_an_accelerator_go_on_undisturbed_too(kind, monkeypatch):
    module, states = getattr(torch, kind), {0: "before"}
    there = SimpleNamespace(is_available=lambda: True, current_accelerator=lambda: torch.device(kind))
    monkeypatch.setattr(torch, "accelerator", there, raising=False)
    monkeypatch.setattr(module, "device_count", lambda: 1)
    monkeypatch.setattr(module, "get_rng_state", lambda device: states[device])
    monkeypatch.setattr(module, "set_rng_state", lambda state, device: states.update({device: state}))
    with reproducible(deterministic=True):
        states[0] = "drawn from"
    assert states == {0: "before"}
