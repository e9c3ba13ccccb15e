import pytest
import torch

import equicolor as ec
from zoo import settle


@pytest.mark.parametrize("group", [None, "hue3", "ceconv3"])
def test_takes_28_pixels_down_to_one(group):
    model = settle(ec.create_model("z2cnn", group))
    assert model.features(torch.rand(2, 3, 28, 28)).shape[2:] == (1, 1)
    assert model.features(torch.rand(2, 3, 32, 32)).shape[2:] == (3, 3)


@pytest.mark.parametrize("size", [(27, 32), (32, 27), (8, 8)])
def test_smaller_images_are_refused(size):
    with pytest.raises(ValueError, match=r"at least 28×28 pixels, got \("):
        ec.create_model("z2cnn", "hue3")(torch.rand(2, 3, *size))


def test_a_bias_before_a_norm_changes_nothing(images):
    model = ec.create_model("z2cnn", "hue4", bias=True).train()
    before = model(images)
    with torch.no_grad():
        for layer in model.layers:
            if isinstance(layer, ec.nn.GroupConv2d):
                layer.bias += 1.0
    torch.testing.assert_close(model(images), before, atol=1e-4, rtol=1e-4)


def test_ends_in_logits_not_in_probabilities(images):
    logits = settle(ec.create_model("z2cnn", "hue3"))(images)
    assert (logits < 0).any()


def test_ends_in_probabilities_where_the_authors_softmax_is_asked_for(images):
    plain, model = (settle(ec.create_model("z2cnn", "hue3", **options)) for options in ({}, {"softmax": True}))
    model.load_state_dict(plain.state_dict())
    torch.testing.assert_close(model(images), plain(images).softmax(1))
    assert model.config["softmax"]
    assert "softmax" not in plain.config  # cards of others stay what they were
