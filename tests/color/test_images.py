"""What counts as images: bytes and floats in range; all else is refused with advice."""

import numpy as np
import pytest
import torch

import equicolor as ec
from equicolor import color
from equicolor.color import hsl_to_rgb, shift_hue, shift_luminance, shift_saturation


def test_uint8_images_are_scaled():
    images = torch.randint(0, 256, (2, 3, 4, 4), dtype=torch.uint8)
    assert torch.equal(shift_hue(images, 120), (images.float() / 255).roll(1, dims=1))


def test_bad_images_are_refused_with_advice():
    with pytest.raises(TypeError, match=r"torch\.int64.*float\(\) / 255"):
        shift_hue(torch.zeros(3, 4, 4, dtype=torch.int64), 10)
    with pytest.raises(ValueError, match=r"\(2, 4, 4\)"):
        shift_hue(torch.zeros(2, 4, 4), 10)
    with pytest.raises(ValueError, match=r"movedim\(-1, -3\)"):
        shift_hue(torch.zeros(8, 8, 3), 10)
    with pytest.raises(TypeError, match="list"):
        shift_hue([1, 2, 3], 10)
    with pytest.raises(TypeError, match="uint8"):
        hsl_to_rgb(torch.zeros(3, 4, 4, dtype=torch.uint8))
    with pytest.raises(ValueError, match=r"one for each image \(2,\).*\(3,\)"):
        shift_hue(torch.zeros(2, 3, 4, 4), torch.zeros(3))


def test_unknown_actions_and_spaces_are_refused():
    with pytest.raises(ValueError, match=r"unknown action 'wrap'.*'clamp', 'exact'"):
        shift_saturation(torch.zeros(3, 1, 1), 0.1, action="wrap")
    with pytest.raises(ValueError, match=r"unknown colour space 'lab'.*'hsl', 'hsv'"):
        shift_luminance(torch.zeros(3, 1, 1), 0.1, space="lab")


def test_values_out_of_range_name_the_usual_cause():
    color.check_range(torch.tensor([0.0, 1.0 + 1e-7]))
    color.check_range(torch.empty(0))
    with pytest.raises(ValueError, match=r"from -1 to 2.*normalising by mean and std before the lift"):
        color.check_range(torch.tensor([-1.0, 2.0]))
    with pytest.raises(ValueError, match="NaN"):
        color.check_range(torch.tensor([0.5, float("nan")]))


@pytest.mark.parametrize("shift", [-7.01, -6.9, 7.01, 30.0])
@pytest.mark.parametrize("move", [color.shift_saturation, color.shift_luminance])
@pytest.mark.parametrize(
    "pixel", [(1.0009, 1.0009, 1.0009), (1.0009, 0.0, 0.0), (-0.0009, 0.5, 1.0009), (1.0009, 1.0, 1.0)]
)
def test_values_that_overshoot_by_rounding_stay_in_the_cube_under_exact_moves(pixel, move, shift, dtype):
    image = torch.tensor(pixel, dtype=dtype).view(3, 1, 1)
    for moved in (move(image, shift), move(image[None], torch.tensor([shift], dtype=dtype))):
        assert moved.min() >= -1e-6
        assert moved.max() <= 1 + 1e-6
    name = "sat3" if move is color.shift_saturation else "lum3"
    lifted = ec.group(f"{name}(step={abs(shift)})").lift(image[None])
    assert lifted.min() >= -1e-6
    assert lifted.max() <= 1 + 1e-6


@pytest.mark.parametrize("name", ["hue", "saturation", "luminance", "temperature", "tint", "exposure"])
@pytest.mark.parametrize("shift", [float("nan"), float("inf"), 10**400, "far", None, torch.tensor(float("nan"))])
def test_a_shift_that_is_no_finite_number_is_refused_by_every_move(name, shift):
    with pytest.raises(ValueError, match="finite number"):
        getattr(ec.color, f"shift_{name}")(torch.rand(2, 3, 4, 4), shift)


def test_a_shift_that_is_not_finite_is_refused_for_one_image_of_several_and_in_lists():
    images, nan = torch.rand(2, 3, 4, 4), float("nan")
    with pytest.raises(ValueError, match="NaN or infinite"):
        ec.color.shift_hue(images, torch.tensor([0.0, nan]))
    for move in (ec.color.shift_light, ec.color.shift_stain):
        with pytest.raises(ValueError, match="finite number, got nan"):
            move(images, [0.0, nan, 0.0])
    with pytest.raises(ValueError, match="finite"):
        ec.group("hue3").move_by(images, torch.tensor([nan]))
    assert ec.color.shift_hue(images, np.float32(90)).shape == images.shape
    assert ec.color.shift_light(images, np.zeros(3)).shape == images.shape
