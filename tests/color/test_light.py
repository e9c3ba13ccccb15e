"""Light: the directions, the exact action and the clamped one, for any number of channels."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from equicolor import color

NAMED = [color.shift_temperature, color.shift_tint, color.shift_exposure]
CLOSE = {torch.float32: 1e-6, torch.float64: 1e-14}
shifts = st.floats(-2, 2)


def directions():
    return torch.tensor([color.TEMPERATURE, color.TINT, color.EXPOSURE], dtype=torch.float64)


def test_the_directions_are_at_right_angles_and_greys_brighten_by_exposure_alone():
    products = directions() @ directions().T
    assert torch.equal(products, torch.diag(products.diagonal()))
    assert (directions().sum(1) == torch.tensor([0, 0, 3])).all()


@pytest.mark.parametrize("shift", NAMED)
def test_a_shift_adds_to_the_logit_of_each_channel(shift):
    images = torch.rand(4, 3, 5, 6, dtype=torch.float64)
    direction = directions()[NAMED.index(shift)].view(3, 1, 1)
    expected = torch.sigmoid(torch.logit(images) + 0.7 * direction)
    torch.testing.assert_close(shift(images, 0.7), expected, rtol=0, atol=1e-14)


@given(st.sampled_from(NAMED), shifts, shifts)
def test_it_is_an_action_of_the_real_numbers(shift, s, t):
    for dtype, close in CLOSE.items():
        images = torch.rand(2, 3, 4, 4, dtype=torch.float64).to(dtype)
        assert torch.equal(shift(images, 0.0), images)
        assert (shift(shift(images, s), -s) - images).abs().max() <= close
        assert (shift(shift(images, s), t) - shift(images, s + t)).abs().max() <= close
        assert shift(images, s).min() >= 0
        assert shift(images, s).max() <= 1


def test_all_changes_of_light_commute():
    images = torch.rand(2, 3, 4, 4, dtype=torch.float64)
    for one in NAMED:
        for other in NAMED:
            torch.testing.assert_close(one(other(images, 0.8), -0.3), other(one(images, -0.3), 0.8), rtol=0, atol=1e-14)


@pytest.mark.parametrize("action", ["exact", "clamp"])
@pytest.mark.parametrize("shift", NAMED)
def test_one_shift_for_each_image_is_each_image_by_its_own(shift, action, dtype):
    images, amounts = torch.rand(5, 3, 4, 4, dtype=dtype), torch.tensor([-1.5, -0.1, 0.0, 0.3, 2.0], dtype=dtype)
    together = shift(images, amounts, action=action)
    for image, amount, moved in zip(images, amounts, together, strict=True):
        torch.testing.assert_close(moved, shift(image, amount.item(), action=action), rtol=0, atol=CLOSE[dtype])
    assert torch.equal(together[2], images[2])


@pytest.mark.parametrize("shift", NAMED)
@pytest.mark.parametrize("action", ["exact", "clamp"])
@pytest.mark.parametrize("by", [-1e30, -100.0, -3.0, 0.0, 3.0, 100.0, 1e30])
def test_results_and_gradients_are_finite_for_any_shift_also_at_black_and_white(shift, action, by, dtype):
    images = torch.tensor([0.0, 1e-30, 0.5, 1 - 1e-7, 1.0], dtype=dtype).expand(1, 3, 4, 5).clone().requires_grad_()
    amount = torch.tensor([by], dtype=dtype, requires_grad=True)
    moved = shift(images, amount, action=action)
    assert moved.isfinite().all()
    assert moved.min() >= 0
    assert moved.max() <= 1
    torch.autograd.backward(moved.sum())
    assert images.grad.isfinite().all()
    assert amount.grad.isfinite().all()


def test_the_gradient_at_black_is_the_gain_and_at_white_its_inverse():
    images = torch.tensor([0.0, 1.0], dtype=torch.float64).expand(1, 3, 1, 2).clone().requires_grad_()
    torch.autograd.backward(color.shift_exposure(images, 0.7).sum())
    gain = math.exp(0.7)
    torch.testing.assert_close(images.grad[0, :, 0], torch.tensor([gain, 1 / gain], dtype=torch.float64).expand(3, 2))


def test_shifts_are_differentiable():
    images = torch.rand(2, 3, 2, 2, dtype=torch.float64).mul(0.9).add(0.05).requires_grad_()
    amounts = torch.tensor([[0.3, -0.2, 0.0], [0.5, 0.1, 0.2]], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(color.shift_light, (images, amounts))


def test_black_white_and_grey_behave_as_documented():
    grey = torch.tensor([0.0, 0.5, 1.0]).expand(3, 1, 3)
    warm = color.shift_temperature(grey, 1.0)[:, 0]
    assert warm[:, 0].tolist() == [0, 0, 0]
    assert warm[:, 2].tolist() == [1, 1, 1]
    assert [round(value, 2) for value in warm[:, 1].tolist()] == [0.73, 0.5, 0.27]
    assert [round(value, 2) for value in color.shift_tint(grey, 1.0)[:, 0, 1].tolist()] == [0.38, 0.73, 0.38]
    assert [round(value, 2) for value in color.shift_exposure(grey, 1.0)[:, 0, 1].tolist()] == [0.73, 0.73, 0.73]


def test_clamp_is_the_gain_of_a_camera():
    images = torch.rand(2, 3, 4, 4, dtype=torch.float64)
    gains = torch.exp(0.5 * directions()[0]).view(3, 1, 1)
    torch.testing.assert_close(color.shift_temperature(images, 0.5, action="clamp"), (gains * images).clamp(max=1))


def test_exposure_and_gains_take_any_number_of_channels():
    images = torch.rand(2, 7, 4, 4)
    torch.testing.assert_close(color.shift_exposure(images, 0.3), color.shift_light(images, [0.3] * 7))
    assert torch.equal(color.shift_light(images, [0, 0, 0, 5, 0, 0, 0])[:, 4], images[:, 4])
    with pytest.raises(ValueError, match=r"RGB images \(\*, 3, H, W\), got shape \(2, 7, 4, 4\)"):
        color.shift_temperature(images, 0.3)
    with pytest.raises(ValueError, match=r"a shift for each of 7 channels.*got shape \(3,\)"):
        color.shift_light(images, [0.1, 0.2, 0.3])
    with pytest.raises(ValueError, match=r"one for each image \(2,\), got a tensor of shape \(3,\)"):
        color.shift_tint(images[:, :3], torch.zeros(3))
    with pytest.raises(ValueError, match="unknown action 'wrap'"):
        color.shift_exposure(images, 0.3, action="wrap")


@pytest.mark.parametrize("action", ["exact", "clamp"])
def test_an_orbit_is_all_the_shifts_at_once(action, dtype):
    images = torch.rand(2, 3, 4, 5, dtype=dtype)
    moves = [[0.0, 0.0, 0.0], [0.7, 0.0, -0.7], [-2.0, 1.0, 3.0]]
    orbit = color.light_orbit(images, moves, action)
    assert orbit.shape == (3, 2, 3, 4, 5)
    assert torch.equal(orbit[0], images)
    for move, moved in zip(moves, orbit, strict=True):
        torch.testing.assert_close(moved, color.shift_light(images, move, action), rtol=0, atol=CLOSE[dtype])


def test_half_precision_is_rounded_once_and_bytes_are_divided():
    images = torch.rand(2, 3, 4, 4).to(torch.bfloat16)
    assert torch.equal(color.shift_tint(images, 0.4), color.shift_tint(images.float(), 0.4).to(torch.bfloat16))
    image = torch.randint(0, 256, (3, 4, 4), dtype=torch.uint8)
    assert torch.equal(color.shift_tint(image, 0.4), color.shift_tint(image.float() / 255, 0.4))
