"""``equicolor diagnose`` as a user types it: folders in, a table, JSON, a picture and a report out."""

import json

import pytest
import torch
from PIL import Image

import equicolor as ec
from equicolor import cli


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Two folders of the same kind of images, the second under warmer light, in class folders; and a network."""
    home = tmp_path_factory.mktemp("home")
    draws = torch.Generator().manual_seed(1)
    images = torch.rand(80, 3, 2, 2, generator=draws) * torch.tensor([0.7, 0.5, 0.4])[:, None, None] + 0.15
    images = images.repeat_interleave(6, -1).repeat_interleave(6, -2)
    images[40:] = ec.color.shift_temperature(images[40:], 0.8)
    for place, image in enumerate(images):
        folder = home / ("train" if place < 40 else "clinic") / "ab"[place % 2]
        folder.mkdir(parents=True, exist_ok=True)
        Image.fromarray((255 * image).round().byte().permute(1, 2, 0).numpy()).save(folder / f"{place}.png")
    torch.manual_seed(0)
    model = ec.create_model("z2cnn", width=4, num_classes=2).eval()
    model.preparation = ec.models.Preparation(28)
    ec.save_pretrained(model, home / "run" / "model", classes=("a", "b"))
    return home


def test_two_folders_are_compared_and_a_report_is_written(home, capsys, monkeypatch):
    monkeypatch.chdir(home)
    assert cli.main(["diagnose", "--source", "train/", "--target", "clinic/"]) == 0
    told = capsys.readouterr()
    assert "temperature +0." in told.out
    assert "--canonicalize temp" in told.out
    numbers = json.loads((home / "diagnosis" / "colors.json").read_text(encoding="utf-8"))
    assert numbers["images"] == [40, 40]
    assert numbers["differ"] is True
    assert numbers["best"]["moves"][0]["amount"] == pytest.approx(0.8, abs=0.2)
    assert numbers["recommendation"]["how"] == "canonicalize"
    assert numbers["command"] == "equicolor diagnose --source train/ --target clinic/"
    report = (home / "diagnosis" / "colors.html").read_text(encoding="utf-8")
    assert "data:image/png;base64," in report
    assert numbers["recommendation"]["text"].partition(".")[0] in report
    with Image.open(home / "diagnosis" / "colors.png") as picture:
        assert min(picture.size) > 300
    assert "diagnosis/colors.html" in told.err.replace("\\", "/")


def test_one_folder_against_itself_is_no_difference(home, capsys, monkeypatch):
    monkeypatch.chdir(home)
    assert cli.main(["diagnose", "--source", "train/a", "--target", "train/b", "--folder", "same"]) == 0
    assert "Your sets do not differ in colour; look elsewhere." in capsys.readouterr().out
    assert json.loads((home / "same" / "colors.json").read_text(encoding="utf-8"))["best"] is None


def test_a_network_is_tried_on_a_folder_of_classes(home, capsys, monkeypatch):
    monkeypatch.chdir(home)
    assert cli.main(["diagnose", "run", "--data", "clinic/", "--limit", "20"]) == 0
    told = capsys.readouterr().out
    assert "holds within" in told
    for quantity in ("hue", "saturation", "temperature", "exposure", "eosin"):
        assert quantity in told
    numbers = json.loads((home / "diagnosis" / "model.json").read_text(encoding="utf-8"))
    assert numbers["count"] == 20
    assert set(numbers["moves"][0]) >= {"errors", "low", "high", "classes", "group"}
    assert (home / "diagnosis" / "model.html").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ("", "say what to compare, --source train/ --target clinic/, or what to try"),
        ("--source train/", "say what to compare"),
        ("run --data clinic/ --source train/", "say what to compare"),
        ("--source train/ --target klinik/", "there is no folder or file 'klinik/'"),
        ("--source train/ --target clinic/ --limit 0", "--limit must be positive, got 0"),
        ("run --data train/a", "train/a"),
    ],
)
def test_a_mistake_is_told_in_one_line(home, capsys, monkeypatch, arguments, complaint):
    monkeypatch.chdir(home)
    assert cli.main(["diagnose", *arguments.split()]) == 1
    told = capsys.readouterr().err
    assert complaint in told
    assert len(told.strip().splitlines()) == 1
