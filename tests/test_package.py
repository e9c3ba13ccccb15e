"""The package: what it exports, what it imports, what it says of itself."""

import subprocess
import sys
from pathlib import Path

import equicolor as ec

SOURCE = Path(ec.__file__).parent


def test_the_public_names_are_there():
    for name in ("Hue", "Saturation", "Luminance", "group", "nn", "testing", "equivariance_error", "create_model"):
        assert hasattr(ec, name)
    assert set(ec.__all__) <= set(dir(ec))


def test_the_core_needs_torch_and_numpy_only():
    """Everything else is blocked, and the core must still import."""
    program = """
import sys
heavy = {"kornia", "lightning", "matplotlib", "rich", "PIL", "sklearn", "h5py", "datasets", "torchvision", "timm",
         "jsonargparse", "gradio", "onnx", "safetensors", "huggingface_hub", "tensorboard", "scipy", "pandas"}
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in heavy:
            raise ImportError(f"the core must not import {name}")
sys.meta_path.insert(0, Refuse())
import equicolor as ec, torch
model = ec.create_model("z2cnn", group="hue4", num_classes=10)
model(torch.rand(2, 3, 28, 28))
ec.testing.assert_equivariant(ec.nn.Lift("hue4"), "hue4")
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=False)
    assert run.returncode == 0, run.stderr


def python(program):
    """What a program prints, in a process of its own."""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_convert_is_the_function_also_once_its_package_is_imported():
    said = python(
        "import equicolor.convert, equicolor as ec; from equicolor import convert; print(ec.convert, convert)"
    )
    assert said.count("<function convert") == 2


def test_networks_of_other_libraries_are_known_before_their_room_is_imported():
    python("from equicolor.models import check_model_name; check_model_name('timm:resnet18')")


def test_a_recipe_needs_no_lightning():
    said = python("import sys; from equicolor.train import Recipe, meant; print('lightning' in sys.modules)")
    assert said.split() == ["False"]


def test_the_package_is_typed():
    assert (SOURCE / "py.typed").exists()
