"""onnxruntime in the place of PyTorch: the same predictions."""

import pytest
import torch

import equicolor as ec
from equicolor.models import Preparation
from equicolor.trained import as_onnx, open_model, open_onnx, predict

pytest.importorskip("onnxruntime")
pytest.importorskip("onnxscript")

PLAN = Preparation(28, resize=32, crop=30)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    torch.manual_seed(0)
    home = tmp_path_factory.mktemp("home")
    model = ec.create_model("z2cnn", "hue3", num_classes=3, width=4)
    model(torch.rand(8, 3, 28, 28))  # norms that have seen images
    model.preparation = PLAN
    ec.save_pretrained(model.eval(), home / "model", ["a", "b", "c"])
    ec.export_onnx(ec.from_pretrained(home / "model"), home / "model.onnx")
    return home


def probabilities(opened, images):
    batches = [([f"{number}"], image[None]) for number, image in enumerate(images[:2])] + [(["2", "3"], images[2:])]
    return torch.stack([each.probabilities for each in predict(opened.model, batches, opened.classes)])


def test_a_network_and_its_file_predict_as_pytorch_does(home):
    images = torch.randint(0, 256, (4, 3, 32, 32), dtype=torch.uint8)
    opened = open_model(home / "model", "cpu")
    expected = probabilities(opened, images)
    file = open_onnx(home / "model.onnx", "cpu")
    assert file.classes == ("a", "b", "c")
    assert file.preparation == PLAN
    for other in (as_onnx(opened, "cpu"), file):
        torch.testing.assert_close(probabilities(other, images), expected, atol=1e-4, rtol=0)


def test_another_size_is_exported_and_not_asked_of_a_file(home):
    opened = open_model(home / "model", "cpu", image_size=14 * 3)
    images = torch.randint(0, 256, (4, 3, 48, 48), dtype=torch.uint8)
    found = probabilities(as_onnx(opened, "cpu"), images)
    torch.testing.assert_close(found, probabilities(opened, images), atol=1e-4, rtol=0)
    assert open_onnx(home / "model.onnx", image_size=28).preparation == PLAN
    with pytest.raises(ValueError, match="takes images of 28×28 pixels alone, not of 42"):
        open_onnx(home / "model.onnx", image_size=42)


@pytest.mark.parametrize("size", [28, 42])
def test_a_file_that_prepares_images_itself_predicts_the_same(home, tmp_path, size):
    opened = open_model(home / "model", "cpu", image_size=size)
    path = ec.export_onnx(ec.from_pretrained(home / "model"), tmp_path / "bytes.onnx", size, with_preparation=True)
    images = torch.randint(0, 256, (4, 3, 8 * size // 7, 8 * size // 7), dtype=torch.uint8)
    file = open_onnx(path, "cpu")
    assert file.card.image_size == size
    assert file.preparation.side == opened.preparation.side
    torch.testing.assert_close(probabilities(file, images), probabilities(opened, images), atol=1e-4, rtol=0)
    with pytest.raises(ValueError, match=f"takes images of {size}×{size} pixels alone, not of 14"):
        open_onnx(path, image_size=14)


def test_other_files_are_refused(home, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no file .*x\.onnx"):
        open_onnx(tmp_path / "x.onnx")
    (tmp_path / "x.onnx").write_bytes(b"no graph")
    with pytest.raises(ValueError, match=r"x\.onnx cannot be read as an ONNX file"):
        open_onnx(tmp_path / "x.onnx")
    onnx = pytest.importorskip("onnx")
    graph = onnx.load(home / "model.onnx")
    del graph.metadata_props[:]
    onnx.save(graph, tmp_path / "x.onnx")
    with pytest.raises(
        ValueError, match=r"is no file of equicolor\.export_onnx: expected the metadata equicolor\.card"
    ):
        open_onnx(tmp_path / "x.onnx")


def test_a_device_that_onnxruntime_lacks_is_named(home):
    with pytest.raises(ValueError, match=r"^this onnxruntime cannot use 'meta': it has"):
        open_onnx(home / "model.onnx", "meta")
