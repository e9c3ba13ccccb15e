"""Invertibility: the paper's figure, as claims on embedded images."""

import json

import pytest
import torch

from equicolor import cli
from equicolor.experiments import invertibility
from equicolor.experiments.invertibility import (
    CECONV,
    MOVES,
    ORDERS,
    OURS,
    random_colours,
    restored_image_errors,
    shapes,
)


def test_our_hue_shift_is_invertible_at_every_order(dtype):
    images = shapes(16).to(dtype)
    bound = 1e-6 if dtype == torch.float32 else 1e-14
    assert max(float(restored_image_errors(images, MOVES[OURS], order).max()) for order in ORDERS) < bound


def test_ceconvs_rotation_loses_over_7_percent_at_every_order_but_1_and_3():
    images = shapes(64)
    for order in ORDERS:
        error = float(restored_image_errors(images, MOVES[CECONV], order).mean())
        assert (error == 0) if order in (1, 3) else (error > 0.07), order


def test_what_ceconv_loses_depends_on_how_saturated_the_images_are():
    images = random_colours(8)
    pale = images.mean(1, keepdim=True) + 0.2 * (images - images.mean(1, keepdim=True))
    vivid, faint = (float(restored_image_errors(x, MOVES[CECONV], 4).mean()) for x in (images, pale))
    assert faint < 0.1 * vivid


def test_the_error_is_relative_to_the_norm_of_each_image():
    images = torch.full((1, 3, 2, 2), 0.5)
    assert restored_image_errors(images, lambda image, degrees: image + 0.05, 4).item() == pytest.approx(0.2)


def test_images_are_the_same_every_time():
    assert torch.equal(shapes(4), shapes(4))
    assert not torch.equal(shapes(4), shapes(4, seed=1))


def test_the_quick_version_ends_in_a_report_with_every_number(tmp_path):
    assert cli.main(["reproduce", "invertibility", "--quick", "--folder", str(tmp_path)]) == 0
    folder = tmp_path / "invertibility"
    records = json.loads((folder / "metrics.json").read_text())["records"]
    assert len(records) == len(ORDERS) * len(MOVES) * 2 * 2  # two sets of images, two precisions
    at_four = {
        r["method"]: r["error"]
        for r in records
        if (r["order"], r["precision"], r["images"]) == (4, "float32", "shapes")
    }
    assert at_four[OURS] < 1e-6 < 0.05 < at_four[CECONV]
    for name in ("invertibility.png", "restored.png"):
        assert (folder / name).read_bytes().startswith(b"\x89PNG")
    assert "the paper's: CEConv" in (folder / "table.md").read_text()
    assert "data:image/png;base64" in (folder / "report.html").read_text()


def test_without_cifar10_the_full_version_says_what_to_put_where(tmp_path, monkeypatch):
    monkeypatch.setenv("EQUICOLOR_DATA", str(tmp_path))
    monkeypatch.setattr(invertibility, "shapes", lambda count: shapes(4))
    monkeypatch.setattr(invertibility, "ORDERS", (1, 4))
    assert cli.main(["reproduce", "invertibility", "--folder", str(tmp_path / "out")]) == 0
    text = (tmp_path / "out" / "invertibility" / "table.md").read_text()
    assert "cifar10 is not there" in text
    assert "cifar-10-batches" in text
