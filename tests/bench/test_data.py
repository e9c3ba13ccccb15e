"""The data path against PIL: the same work on the same images."""

import numpy as np
import torch

from equicolor.bench import _pil, data
from equicolor.bench.data import measure_data


def test_without_cifar_noise_is_measured_and_called_so(monkeypatch):
    monkeypatch.delenv("EQUICOLOR_DATA", raising=False)
    records = measure_data(["eager"], rounds=1, batch=3)
    assert [record["data"] for record in records] == ["noise"] * 2
    assert records[0]["times_faster_than_pil"] == 1
    assert all(record["images_per_second"] > 0 for record in records)


def test_both_ways_see_the_same_images():
    name, fetch, pixels = data._source()
    assert name in ("cifar10", "noise")
    indices = torch.tensor([3, 1])
    assert np.array_equal(fetch(indices).permute(0, 2, 3, 1).numpy(), pixels[[3, 1]])


def test_pil_crops_within_the_padding_and_mirrors_half_of_the_images():
    pixels = np.arange(8 * 8 * 3, dtype=np.uint8).reshape(8, 8, 3) + 1
    random = np.random.default_rng(0)
    cut = [np.asarray(_pil.cropped_and_flipped(pixels, random, padding=2)) for _ in range(600)]
    assert {each.shape for each in cut} == {(8, 8, 3)}
    assert len({each.tobytes() for each in cut}) == 2 * 5 * 5  # every place and both sides, and nothing else
