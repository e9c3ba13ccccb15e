"""assert_invariant: it passes what is invariant, and says by which element what is not."""

import pytest
import torch

import equicolor as ec
from equicolor.testing import assert_invariant


def largest(images):
    return images.flatten(1).amax(1)


def mean_red(images):
    return images[:, 0].flatten(1).mean(1)


def test_what_is_invariant_passes(dtype):
    assert_invariant(largest, "hue3")
    assert_invariant(ec.canonicalize(ec.create_model("z2cnn"), "hue4").to(dtype), "hue4")


def test_what_is_not_is_named_with_its_worst_element():
    with pytest.raises(AssertionError, match=r"mean_red is not invariant to hue3: element [12] \(hue \+(120|240)°\)"):
        assert_invariant(mean_red, "hue3")
    with pytest.raises(AssertionError, match="Z2CNN is not invariant to temp3"):
        assert_invariant(ec.create_model("z2cnn"), "temp3")


def test_one_wrong_image_among_many_is_found():
    images = torch.rand(64, 1, 8, 8).expand(-1, 3, -1, -1).contiguous()
    images[17, 0] = 0.9
    with pytest.raises(AssertionError, match="image 17"):
        assert_invariant(mean_red, "hue3", images)


def test_nan_is_no_agreement():
    with pytest.raises(AssertionError, match="nan"):
        assert_invariant(lambda images: largest(images) * float("nan"), "hue3")


def test_results_that_cannot_be_compared_are_refused():
    with pytest.raises(TypeError, match="got tuple"):
        assert_invariant(lambda images: (images,), "hue3")
    with pytest.raises(ValueError, match="each of 4 images"):
        assert_invariant(lambda images: images.mean(), "hue3")
