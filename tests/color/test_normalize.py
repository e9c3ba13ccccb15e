"""Colour normalisation: images of other dyes and lamps come to look alike, and no image has colours that are none."""

import pytest
import torch

from equicolor.color import (
    COLOR_NORMALIZATIONS,
    REINHARD_TARGET,
    STAINS,
    macenko,
    normalize_color,
    reinhard,
    shift_stain,
    shift_temperature,
)
from equicolor.color._normalize import _from_lab, _to_lab

DTYPES = pytest.mark.parametrize("dtype", [torch.float32, torch.float64])


def tissue(count=4, dtype=torch.float64, dyes=STAINS[:2]):
    """Images of two dyes in amounts that differ from pixel to pixel, in front of a lamp."""
    torch.manual_seed(0)
    amounts = 0.2 + torch.rand(count, 2, 24, 24, dtype=dtype) ** 2
    return 240 / 255 * torch.exp(-torch.einsum("nihw,ic->nchw", amounts, torch.tensor(dyes, dtype=dtype)))


@pytest.mark.parametrize("how", COLOR_NORMALIZATIONS)
@pytest.mark.parametrize("colour", [(0, 0, 0), (1, 1, 1), (0.5, 0.5, 0.5), (1, 0, 0), (0.9, 0.2, 0.4), (0.21, 0.1, 0)])
def test_an_image_of_one_colour_becomes_one_and_finite(how, colour):
    for size in (1, 8):
        image = torch.tensor(colour).float().view(1, 3, 1, 1).expand(1, 3, size, size)
        normal = normalize_color(image, how)
        assert torch.isfinite(normal).all()
        assert (normal >= 0).all()
        assert (normal <= 1).all()
        torch.testing.assert_close(normal, normal[..., :1, :1].expand_as(normal), atol=1e-4, rtol=0)


@DTYPES
@pytest.mark.parametrize("how", COLOR_NORMALIZATIONS)
def test_each_image_is_normalised_by_itself_in_any_batch(how, dtype):
    torch.manual_seed(0)
    images = torch.cat([torch.rand(3, 3, 9, 7, dtype=dtype), torch.rand(2, 3, 9, 7, dtype=dtype).round()])
    normal = normalize_color(images, how)
    assert normal.dtype == dtype
    assert torch.isfinite(normal).all()
    assert 0 <= normal.min() <= normal.max() <= 1
    torch.testing.assert_close(torch.stack([normalize_color(image, how) for image in images]), normal)
    torch.testing.assert_close(normalize_color(images[None], how)[0], normal)
    bytes_ = (255 * images).round().to(torch.uint8)
    torch.testing.assert_close(normalize_color(bytes_, how), normalize_color(bytes_.float() / 255, how))


@DTYPES
def test_lab_of_known_colours_is_known_and_goes_back(dtype):
    colours = torch.tensor([[1, 1, 1], [0, 0, 0], [1, 0, 0], [0, 0, 1]], dtype=dtype)[..., None, None]
    known = [[100, 0, 0], [0, 0, 0], [53.24, 80.09, 67.20], [32.30, 79.19, -107.86]]  # of sRGB, D65
    torch.testing.assert_close(_to_lab(colours)[..., 0, 0], torch.tensor(known, dtype=dtype), atol=0.03, rtol=0)
    images = torch.rand(2, 3, 5, 5, dtype=dtype)
    torch.testing.assert_close(_from_lab(_to_lab(images)), images, atol=1e-5, rtol=0)


def test_after_reinhard_means_and_deviations_are_those_of_the_target():
    lab = _to_lab(reinhard(0.45 + 0.1 * torch.rand(3, 3, 32, 32, dtype=torch.float64)))
    means, deviations = torch.tensor(REINHARD_TARGET, dtype=torch.float64)
    torch.testing.assert_close(lab.mean((-2, -1)), means.expand(3, 3), atol=0.05, rtol=0)  # a few pixels are clipped
    torch.testing.assert_close(lab.std((-2, -1), correction=0), deviations.expand(3, 3), atol=0.05, rtol=0)


@pytest.mark.parametrize("normalized", [reinhard, macenko])
def test_what_is_dark_stays_and_does_not_count(normalized):
    images = tissue()
    cut_out = images.clone()
    cut_out[..., :6, :] = 0.05
    normal = normalized(cut_out)
    assert torch.equal(normal[..., :6, :], cut_out[..., :6, :])
    torch.testing.assert_close(normal[..., 6:, :], normalized(images[..., 6:, :]))


def test_macenko_finds_two_dyes_and_replaces_them_by_those_of_the_reference():
    images = tissue()
    usual = macenko(images)
    assert (usual - images).abs().max() > 0.1
    # Other dyes, more of one, less of the other: after normalising, the same amounts.
    others = tissue(dyes=((0.55, 0.6, 0.55), (0.2, 0.75, 0.3)))
    assert (others - images).abs().mean() > 0.05
    assert (macenko(others) - usual).abs().mean() < 0.02
    for shifts in ([0.3, 0.0, 0.0], [-0.2, 0.2, 0.0]):
        moved = shift_stain(images, shifts)
        assert (macenko(moved) - usual).abs().mean() < (moved - images).abs().mean() / 4


def test_an_image_without_two_dyes_stays_as_it_is():
    one_dye = 240 / 255 * torch.exp(-torch.rand(1, 1, 16, 16) * torch.tensor(STAINS[0]).view(3, 1, 1))
    bright = 0.9 + 0.1 * torch.rand(1, 3, 16, 16)
    for images in (one_dye, bright):
        assert torch.equal(macenko(images), images)


def test_another_lamp_is_undone_for_the_most_part():
    images = tissue(dtype=torch.float32)
    warmer = shift_temperature(images, 0.3)
    for normalized in (reinhard, macenko):
        before, after = (warmer - images).abs().mean(), (normalized(warmer) - normalized(images)).abs().mean()
        assert after < before / 2
