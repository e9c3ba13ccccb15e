"""Feature trajectories over the hues: what equivariance says about them, and the whole path on embedded digits."""

import json
import math

import pytest
import torch

import equicolor as ec
from equicolor import cli
from equicolor.data import load
from equicolor.experiments.trajectories import Trajectories, embedded, of_each_class, trajectories


@pytest.fixture(scope="module")
def digits():
    return of_each_class(load("digits", split="test"), 1)


@pytest.mark.parametrize("order", [3, 4])
def test_the_features_of_a_hue_network_repeat_at_every_element_of_its_group(digits, order):
    torch.manual_seed(1)
    features = trajectories(ec.create_model("z2cnn", f"hue{order}"), digits, hues=2 * order).features
    turned = features.roll(2, dims=1)
    assert (features - turned).norm() < 1e-5 * features.norm()
    assert (features - features.roll(1, dims=1)).norm() > 1e-3 * features.norm()  # between the elements it moves


def test_those_of_a_conventional_network_do_not_repeat(digits):
    torch.manual_seed(1)
    features = trajectories(ec.create_model("z2cnn"), digits, hues=4).features
    assert (features - features.roll(1, dims=1)).norm() > 1e-2 * features.norm()


def test_each_class_gives_as_many_digits_as_asked():
    chosen = of_each_class(load("digits", split="test"), 3)
    assert chosen.labels.tolist() == [digit for digit in range(10) for _ in range(3)]


def test_a_digit_going_round_a_circle_travels_its_circumference():
    angles = torch.arange(360) * math.pi / 180
    circle = torch.stack([angles.cos(), angles.sin()], 1)
    features = torch.stack([circle, circle + torch.tensor([10.0, 0.0])])  # two classes, 10 apart
    classes = torch.zeros(2, 360, dtype=torch.long)
    classes[1, 5] = 1
    found = Trajectories(features, classes, torch.tensor([0, 1])).summary()
    assert found["length"] == pytest.approx(2 * math.pi / 10, rel=1e-3)
    assert found["spread"] == pytest.approx(0.1, rel=1e-3)
    assert found["changing"] == 0.5
    assert found["error"] == pytest.approx(359 / 720)


def test_tsne_keeps_far_digits_apart_and_gives_the_same_every_time():
    features = torch.rand(4, 12, 8) + 100 * torch.arange(4)[:, None, None]
    points = embedded(features)
    assert points.shape == (4, 12, 2)
    spread = (points - points.mean(1, keepdim=True)).norm(dim=2).max()
    assert torch.pdist(points.mean(1)).min() > spread
    assert torch.equal(points, embedded(features))


def test_the_quick_version_ends_in_a_report(tmp_path, capsys):
    changes = [f"{row}:{change}" for row in ("Z2CNN", "Hue-3") for change in ("train_size=64", "epochs=1")]
    command = ["reproduce", "trajectories", "--quick", "--folder", str(tmp_path), "--rows", "Z2CNN", "Hue-3"]
    assert cli.main([*command, "--reduce", *changes]) == 0
    assert "[64 training images, epochs 1]" in capsys.readouterr().out
    folder = tmp_path / "trajectories"
    records = json.loads((folder / "metrics.json").read_text())["records"]
    assert [record["network"] for record in records] == ["Z2CNN", "Hue-3"]
    assert all(record["length"] > 0 and 0 <= record["changing"] <= 1 for record in records)
    assert (folder / "trajectories.png").read_bytes().startswith(b"\x89PNG")
    assert "Hue-3 [64 training images, epochs 1]" in (folder / "table.md").read_text()


def test_without_mnist_the_full_version_says_what_to_put_where(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("EQUICOLOR_DATA", str(tmp_path / "nothing"))
    assert cli.main(["reproduce", "trajectories", "--folder", str(tmp_path)]) == 1
    said = capsys.readouterr().err
    assert "mnist is not there" in said
    assert "train-images-idx3-ubyte" in said
