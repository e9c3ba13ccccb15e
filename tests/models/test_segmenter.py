import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import equicolor as ec
from zoo import settle

MODELS = {group: settle(ec.create_model("segmenter", group, width=8)) for group in (None, "hue3", "ceconv3")}


@given(height=st.integers(1, 50), width=st.integers(1, 50), group=st.sampled_from([None, "hue3", "ceconv3"]))
@settings(deadline=None, max_examples=30)
def test_every_pixel_of_an_image_of_any_size_gets_a_logit(height, width, group):
    with torch.no_grad():
        assert MODELS[group](torch.rand(1, 3, height, width)).shape == (1, 1, height, width)


@pytest.mark.parametrize("kernel_size", [1, 3, 5, 7])
def test_any_odd_kernel_fits(kernel_size):
    model = ec.create_model("segmenter", "hue3", width=8, kernel_size=kernel_size).eval()
    assert model(torch.rand(2, 3, 21, 34)).shape == (2, 1, 21, 34)


@pytest.mark.parametrize("kernel_size", [0, 2, 4])
def test_an_even_kernel_is_refused(kernel_size):
    with pytest.raises(ValueError, match="kernel_size must be odd"):
        ec.create_model("segmenter", kernel_size=kernel_size)


def test_without_a_group_the_largest_of_three_channels_is_the_logit(images):
    model = MODELS[None]
    features = model.features(images)
    assert features.shape == (2, 3, 32, 32)
    assert torch.equal(model(images), features.amax(1, keepdim=True))


def test_with_a_group_the_largest_of_its_elements_is_the_logit(images):
    model = MODELS["hue3"]
    features = model.features(images)
    assert features.shape == (6, 1, 32, 32)
    assert torch.equal(model(images), features.view(3, 2, 1, 32, 32).amax(0))


@pytest.mark.parametrize("group", [None, "hue3"])
def test_background_can_be_said(group, images):
    """No ReLU stands before the logits."""
    assert (MODELS[group].features(images) < 0).any()


@pytest.mark.parametrize("group", [None, "hue3"])
def test_can_have_several_classes(group, images):
    assert ec.create_model("segmenter", group, 4, width=8).eval()(images).shape == (2, 4, 32, 32)
