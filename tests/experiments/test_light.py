"""The lamps: chromaticities as in tables of the CIE, gains that cancel, images that are what physics says."""

import pytest
import torch

import equicolor as ec
from equicolor.color import gray_world, linear_to_srgb, srgb_to_linear
from equicolor.experiments import light
from equicolor.experiments.light import DAYLIGHT, KELVINS, lamp_gains, lit, planckian
from equicolor.train import Recipe


@pytest.mark.parametrize(
    ("kelvin", "x", "y"),
    [(2000, 0.5267, 0.4133), (2856, 0.4476, 0.4074), (4000, 0.3805, 0.3768), (6500, 0.3135, 0.3237)],
)
def test_black_bodies_have_the_chromaticities_of_the_tables(kelvin, x, y):
    assert planckian(kelvin) == pytest.approx((x, y), abs=1e-3)


def test_warm_lamps_have_more_red_and_less_blue():
    gains = [lamp_gains(kelvin) for kelvin in KELVINS]
    assert lamp_gains(DAYLIGHT) == pytest.approx((1, 1, 1))
    assert [red for red, _, _ in gains] == sorted((red for red, _, _ in gains), reverse=True)
    assert [blue for _, _, blue in gains] == sorted(blue for _, _, blue in gains)
    assert min(min(each) for each in gains) >= 0


def test_the_luminance_of_white_stays():
    for kelvin in KELVINS[1:]:
        white = sum(weight * gain for weight, gain in zip((0.2126, 0.7152, 0.0722), lamp_gains(kelvin), strict=True))
        assert white == pytest.approx(1, abs=0.02)  # daylight of 6500 K is not the white of sRGB, but near


def test_a_lamp_is_a_gain_of_linear_light_that_clips(dtype):
    images = torch.rand(2, 3, 4, 4, dtype=dtype)
    warm = lit(3200)(images)
    gains = torch.tensor(lamp_gains(3200), dtype=dtype).view(3, 1, 1)
    assert warm.dtype == dtype
    assert torch.allclose(srgb_to_linear(warm), (srgb_to_linear(images) * gains).clamp(max=1), atol=1e-5)
    assert torch.allclose(lit(DAYLIGHT)(images), images, atol=1e-6)


def test_the_grey_world_undoes_a_lamp_where_nothing_clips(dtype):
    images = 0.6 * torch.rand(2, 3, 8, 8, dtype=dtype)
    once, under_a_lamp = gray_world(images), gray_world(lit(4000)(images))
    light, other = srgb_to_linear(once), srgb_to_linear(under_a_lamp)
    brightness = [each.mean((1, 2, 3), keepdim=True) for each in (light, other)]
    assert torch.allclose(light / brightness[0], other / brightness[1], atol=1e-4)


def test_linear_light_and_back(dtype):
    images = torch.linspace(0, 1, 48, dtype=dtype).view(3, 4, 4)
    assert torch.allclose(linear_to_srgb(srgb_to_linear(images)), images, atol=1e-6)


def test_black_channels_stay_black_and_grads_are_finite():
    images = torch.zeros(1, 3, 4, 4)
    images[:, 0] = 0.5
    images.requires_grad_()
    balanced = gray_world(images)
    balanced.sum().backward()
    assert balanced[:, 1:].abs().max() == 0
    assert images.grad.isfinite().all()


def test_a_lamp_has_a_temperature_of_lamps():
    with pytest.raises(ValueError, match="from 1667 to 25000 kelvin, got 100"):
        lamp_gains(100)


@pytest.mark.parametrize("part", light._PARTS, ids=lambda part: part.data)
def test_groups_of_light_have_about_as_many_parameters_as_the_plain_network(part):
    classes = {"cifar10": 10, "caltech101": 101}[part.data]
    counts = {}
    for label, variant in light._NETWORKS.items():
        recipe = Recipe.load(f"{part.recipe}:{variant}")
        network = ec.create_model(recipe.model, recipe.group, num_classes=classes, **recipe.model_options)
        counts[label] = sum(each.numel() for each in network.parameters())
    assert {label: count for label, count in counts.items() if abs(count / counts["plain"] - 1) > 0.15} == {}
