"""``equicolor export`` as a user runs it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import equicolor as ec
from equicolor import cli
from equicolor.deploy import exported_card
from serve_tools import picture, saved_network

pytest.importorskip("onnxscript")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    home = tmp_path_factory.mktemp("export")
    saved_network(home)
    (home / "images").mkdir()
    for seed in range(12):
        (home / "images" / f"{seed:02}.png").write_bytes(picture(seed))
    return home


@pytest.fixture
def home(made, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("model", "images"):
        (tmp_path / name).symlink_to(made / name)
    return tmp_path


def test_a_file_for_other_programs_needs_no_equicolor(home):
    """Read by onnxruntime alone, in another process, on the bytes of an image."""
    environment = {**os.environ, "PYTHONPATH": str(Path(ec.__file__).parents[1])}
    command = [sys.executable, "-m", "equicolor", "export", "model", "--with-preprocessing", "--images", "images"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert "z2cnn, hue3, 3,114 parameters: z2cnn-hue3.onnx (" in done.stdout
    assert "Largest difference from the network: " in done.stdout
    assert "of probabilities up to 1, on 12 images" in done.stdout
    assert done.stderr == ""
    program = """
import json, sys, numpy, onnxruntime
from PIL import Image
session = onnxruntime.InferenceSession("z2cnn-hue3.onnx", providers=["CPUExecutionProvider"])
image = numpy.asarray(Image.open("images/03.png")).transpose(2, 0, 1)[None]
(probabilities,) = session.run(["probabilities"], {"images": image})
card = json.loads(session.get_modelmeta().custom_metadata_map["equicolor.card"])
assert "equicolor" not in sys.modules
print(json.dumps(dict(zip(card["classes"], probabilities[0].tolist()))))
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=True)
    found = json.loads(run.stdout)
    said = predicted("images/03.png")
    assert max(found, key=found.get) == said["class"]
    assert found == pytest.approx(said["probabilities"], abs=0.02)


def predicted(image, model="model"):
    assert cli.main(["predict", model, image, "--out", "said.jsonl", "--device", "cpu"]) == 0
    return json.loads(Path("said.jsonl").read_text())


def test_int8_ends_in_a_table_and_a_file_that_predict_takes(home, capsys):
    arguments = ["--quantize", "int8", "--images", "images", "--out", "small.onnx", "--limit", "10"]
    assert cli.main(["export", "model", *arguments]) == 0
    out, err = capsys.readouterr()
    assert "Calibrating on 5 images, measuring on 5 others." in err
    for word in ("float32", "int8", "size", "ms/image, batch of 1", "largest difference", "same class"):
        assert word in out
    assert "error" not in out  # nobody knows the classes of these files
    assert "small.onnx (" in out
    assert exported_card("small.onnx").group == "hue3"
    said, expected = predicted("images/03.png", "small.onnx"), predicted("images/03.png")
    assert said["probabilities"] == pytest.approx(expected["probabilities"], abs=0.2)


@pytest.mark.parametrize(
    ("to", "name"), [("torch-export", "z2cnn-hue3.pt2"), ("safetensors", "z2cnn-hue3.safetensors")]
)
def test_every_format_holds_the_card(home, to, name, capsys):
    assert cli.main(["export", "model", "--to", to]) == 0
    assert name in capsys.readouterr().out
    card = exported_card(home / name)
    assert (card.classes, card.group, card.image_size) == (("ape", "bee", "cat"), "hue3", 28)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--quantize", "int8"], "--quantize takes images like those to come: --data NAME, or --images FOLDER"),
        (["--quantize", "int8", "--to", "torch-export"], "--quantize is for --to onnx"),
        (["--to", "safetensors", "--with-preprocessing"], "safetensors hold weights and no graph"),
        (["--out", "model.pt2"], "--to onnx writes files that end in .onnx, got --out model.pt2"),
        (["--to", "torch-export", "--images", "nowhere"], "none of the images could be read"),
        (["--to", "torch-export", "--tolerance", "1e-12"], "the network computes something else"),
        (["--limit", "0"], "--limit must be positive, got 0"),
        (["--quantize", "int8", "--data", "digits", "--limit", "4"], "which is none of the 3 classes expected"),
    ],
)
def test_what_cannot_be_is_said_in_one_line_and_leaves_no_file(home, arguments, message, capsys):
    assert cli.main(["export", "model", *arguments]) == 1
    assert message in capsys.readouterr().err
    assert sorted(path.name for path in home.iterdir()) == ["images", "model"]
