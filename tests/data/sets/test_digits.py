"""Digits are scikit-learn's, at the size and in the conventions of MNIST, the same on every machine."""

import hashlib
import sys

import numpy as np
import pytest
import torch

from equicolor.data.sets.digits import TRAIN_SIZE, _enlarge, digits

sklearn_datasets = pytest.importorskip("sklearn.datasets", reason="the digits come with scikit-learn")


def test_they_look_like_mnist():
    images, labels = digits()
    assert images.shape == (1797, 1, 28, 28)
    assert images.dtype == torch.uint8
    assert labels.shape == (1797,)
    assert labels.dtype == torch.int64
    assert labels.unique().tolist() == list(range(10))
    assert images.min() == 0
    assert images.max() == 255
    # White on black: most of a picture is dark.
    assert images.float().mean() < 128


def test_train_and_test_are_the_set_in_order():
    images, labels = digits()
    train, test = digits("train"), digits("test")
    assert (len(train[0]), len(test[0])) == (TRAIN_SIZE, 297)
    assert torch.equal(torch.cat([train[0], test[0]]), images)
    assert torch.equal(torch.cat([train[1], test[1]]), labels)
    assert torch.bincount(test[1]).min() >= 25  # every class is tested


def test_pixels_are_the_same_on_every_machine():
    images, _ = digits()
    assert hashlib.sha256(images.numpy().tobytes()).hexdigest()[:16] == "7dfc5f8db7ee4cbe"


def test_away_from_the_edge_the_enlargement_is_pillows_bicubic():
    pillow = pytest.importorskip("PIL.Image")
    images, _ = digits()
    small = sklearn_datasets.load_digits().images.astype("float32") * (255 / 16)
    for image, original in zip(images[:100, 0], small, strict=False):
        expected = np.asarray(pillow.fromarray(original).resize((28, 28), pillow.Resampling.BICUBIC)).clip(0, 255)
        assert np.abs(expected - image.numpy())[7:-7, 7:-7].max() <= 0.501


@pytest.mark.parametrize("level", range(17))
def test_a_flat_image_stays_flat(level):
    enlarged = _enlarge(torch.full((1, 8, 8), level))
    assert enlarged.unique().tolist() == [(2 * 255 * level + 16) // 32]


def test_a_ramp_stays_a_ramp():
    # A Catmull-Rom spline is exact on straight lines, away from the edge where the picture is continued flat.
    enlarged = _enlarge(torch.arange(0, 16, 2).expand(1, 8, 8))[0, 14].double()
    centres = (torch.arange(28).double() + 0.5) * 8 / 28 - 0.5
    inner = (centres >= 1) & (centres <= 6)
    assert ((enlarged - 255 * 2 * centres / 16).abs()[inner] <= 0.5 + 1e-9).all()


def test_an_edge_is_smooth_and_does_not_ring():
    edge = torch.zeros(1, 8, 8, dtype=torch.long)
    edge[..., 4:] = 16
    profile = _enlarge(edge)[0, 14].int()
    assert (profile.diff() >= 0).all()
    assert len(profile.unique()) >= 4


def test_turning_a_digit_turns_its_enlargement():
    small = torch.randint(17, (5, 8, 8), generator=torch.Generator().manual_seed(0))
    assert torch.equal(_enlarge(small.rot90(1, (1, 2))), _enlarge(small).rot90(1, (1, 2)))


def test_an_unknown_part_is_named():
    with pytest.raises(ValueError, match="unknown part 'validation': expected one of 'train', 'test', 'all'"):
        digits("validation")


def test_without_scikit_learn_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)
    with pytest.raises(ImportError, match=r"needs 'sklearn'.*pip install 'equicolor\[train\]'"):
        digits()
