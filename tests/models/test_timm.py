"""Our networks in timm's registry, once that is asked for."""

import subprocess
import sys

import pytest
import torch

import equicolor as ec
from convert_networks import torchvision_models


def test_timm_makes_our_networks():
    torchvision_models()
    timm = pytest.importorskip("timm")
    names = ec.models.register_in_timm()
    assert timm.list_models("equicolor_*") == names == ec.models.register_in_timm()
    assert "equicolor_segmenter" not in names
    model = timm.create_model("equicolor_resnet18", group="hue4", num_classes=7, width=8)
    assert model.config["group"] == "hue4"
    assert model.num_classes == 7
    assert model(torch.rand(2, 3, 32, 32)).shape == (2, 7)
    data = timm.data.resolve_data_config({}, model=model)
    assert (data["input_size"], data["mean"], data["std"]) == ((3, 32, 32), (0.0,) * 3, (1.0,) * 3)
    with pytest.raises(ValueError, match="no pretrained weights of equicolor_resnet18"):
        timm.create_model("equicolor_resnet18", pretrained=True)


def test_importing_equicolor_imports_neither_timm_nor_torchvision():
    code = "import sys, equicolor; sys.exit(any(name in sys.modules for name in ('timm', 'torchvision')))"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=120).returncode == 0
