"""Optional libraries of networks: found, mended, or missed with a word on what to install."""

import subprocess
import sys

from convert_networks import torchvision_models


def test_what_is_missing_is_named_with_how_to_install_it():
    code = """
import sys
sys.modules["torchvision"] = None  # as if it were not there
import equicolor as ec
try:
    ec.create_model("timm:resnet18")
except ModuleNotFoundError as error:
    sys.exit(str(error))
"""
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True, timeout=120)
    assert "pip install 'equicolor[pretrained]'" in done.stderr


def test_training_and_metrics_work_where_torchvision_is_on_the_path():
    """torchmetrics imports it wherever it finds it, and it may not load beside this build of torch."""
    torchvision = torchvision_models()
    folder = torchvision.__file__.rpartition("/torchvision/")[0]
    for line in (
        "from equicolor.train import fit",
        "import torch; from equicolor.metrics import pair_auc; pair_auc(torch.rand(4), torch.tensor([0, 1, 0, 1]))",
    ):
        code = f"import sys; sys.path.append({folder!r}); {line}; import torchvision; torchvision.models.resnet18"
        done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
