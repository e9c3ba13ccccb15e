from pathlib import Path

import pytest

from convert_networks import torchvision_models
from pretrained_weights import lite0_safetensors


@pytest.fixture(autouse=True)
def libraries(monkeypatch):
    """timm and torchvision, and no downloads."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    torchvision_models()


@pytest.fixture(scope="session")
def lite0(tmp_path_factory) -> Path:
    return lite0_safetensors(tmp_path_factory.mktemp("weights"))
