"""The families that come with the library, light and stain, and factors of several in a given order."""

import pytest
import torch

import equicolor as ec
from equicolor import color

LIGHT = ["temp3", "tint3", "exp3", "temp3-tint3", "tint2-exp3-temp3", "temp3(step=0.3)"]
CLAMPED = ["temp3(action=clamp)", "temp3(action=clamp)-tint3(action=clamp)"]
STAIN = ["hema3", "eosin3", "dab3", "hema3-eosin3", "dab2-hema3-eosin3"]
GAINS = ["gain3(direction=0.0:1.0:0.0:0.0)", "gain3(direction=0.0:1.0:0.0:0.0)-gain2(direction=1.0:0.0:0.0:0.0)-exp2"]
ALL = [*LIGHT, *CLAMPED, *STAIN, *GAINS]
CLOSE = {torch.float32: 2e-6, torch.float64: 1e-12}


def images_for(group, dtype=torch.float64):
    return group.in_domain(torch.rand(2, group.channels or 3, 4, 5, dtype=torch.float64)).to(dtype)


def test_names_of_the_contract():
    assert ec.group("temp3-tint3") == ec.Temperature(3) * ec.Tint(3)
    assert ec.group("exp3") == ec.Exposure(3)
    assert ec.group("temp5(step=0.5,action=clamp)") == ec.Temperature(5, 0.5, "clamp")
    assert ec.group("hema3-eosin3-dab3") == ec.Hematoxylin(3) * ec.Eosin(3) * ec.DAB(3)
    assert ec.Temperature(3).step == 0.75
    assert ec.Temperature(3, action="clamp").step == 0.3


@pytest.mark.parametrize("name", ALL)
def test_names_and_reprs_read_back(name):
    group = ec.group(name)
    assert str(group) == name
    assert eval(repr(group), vars(ec.groups)) == group


def test_a_stain_matrix_of_ones_own_is_part_of_the_name():
    own = [[0.5, 0.5, 0.5], [0.1, 0.8, 1e-05], [-0.1, 0.1, 0.9]]
    group = ec.Hematoxylin(3, matrix=torch.tensor(own, dtype=torch.float64)) * ec.Eosin(2, 0.1, own)
    assert str(group).startswith("hema3(matrix=0.5:0.5:0.5/0.1:0.8:1e-05/-0.1:0.1:0.9)-eosin2(step=0.1,matrix=")
    assert ec.group(str(group)) == group
    assert ec.Hematoxylin(3, matrix=color.STAINS) == ec.Hematoxylin(3)


@pytest.mark.parametrize("name", ALL)
def test_a_lift_is_every_move_in_group_major_order(name, dtype):
    group = ec.group(name)
    images = images_for(group, dtype)
    lifted = group.lift(images)
    assert lifted.shape == (group.order * 2, *images.shape[1:])
    for index, element in enumerate(group):
        rows = lifted[2 * index : 2 * index + 2]
        torch.testing.assert_close(rows, group.act_on_images(element, images), rtol=0, atol=CLOSE[dtype])
        torch.testing.assert_close(rows, group.move_by(images, group.amounts(element)), rtol=0, atol=CLOSE[dtype])
        one_by_one = images
        for factor, part in zip(group.factors, group._parts(element), strict=True):
            one_by_one = factor.act_on_images(part, one_by_one)
        torch.testing.assert_close(rows, one_by_one, rtol=0, atol=CLOSE[dtype])
    start = 2 * group.index(group.identity)
    assert torch.equal(lifted[start : start + 2], images)


@pytest.mark.parametrize("name", ALL)
def test_lifting_moved_images_moves_the_lift_on_the_overlap(name, dtype):
    group = ec.group(name)
    images = images_for(group, dtype)
    for element in group:
        moved = group.lift(group.act_on_images(element, images))
        expected = group.act_on_features(element, group.lift(images))
        known = group.overlap(element).repeat_interleave(2)
        assert known.any()
        assert (moved - expected)[known].abs().max() <= CLOSE[dtype]


@pytest.mark.parametrize("name", ["hue4-sat3-lum3", "temp3-tint3-exp2", "hema3-eosin3", "hue4", "exp3"])
def test_moving_each_image_by_its_own_amounts_is_one_by_one_and_is_undone(name, dtype):
    group = ec.group(name)
    images = images_for(group, dtype).repeat(2, 1, 1, 1)
    amounts = torch.randn(4, len(group.factors), dtype=dtype) * 0.5
    amounts[0] = 0
    moved = group.move_by(images, amounts)
    for image, amount, own in zip(images, amounts, moved, strict=True):
        torch.testing.assert_close(own, group.move_by(image, amount.tolist()), rtol=0, atol=CLOSE[dtype])
        torch.testing.assert_close(own, group.move_by(image, amount), rtol=0, atol=CLOSE[dtype])
    assert torch.equal(moved[0], images[0])
    assert (group.move_by(moved, -amounts) - images).abs().max() <= CLOSE[dtype]


def test_amounts_get_gradients():
    group = ec.group("temp3-tint3")
    images = images_for(group)
    amounts = torch.zeros(2, 2, dtype=torch.float64, requires_grad=True)  # also where nothing moves
    assert torch.autograd.gradcheck(lambda a: group.move_by(images, a), amounts)


def test_amounts_of_another_shape_are_refused():
    images = torch.rand(4, 3, 2, 2)
    with pytest.raises(ValueError, match=r"temp3-tint3, \(2,\).*\(4, 2\), got shape \(4,\)"):
        ec.group("temp3-tint3").move_by(images, torch.zeros(4))
    with pytest.raises(ValueError, match="each of 2 factors of temp3-tint3, got 1"):
        ec.group("temp3-tint3").move_by(images, [0.1])


def test_lifting_is_differentiable():
    for name in ("temp3-tint3", "exp2(action=clamp)", "hema3-eosin2"):
        images = images_for(ec.group(name)).requires_grad_()
        assert torch.autograd.gradcheck(ec.group(name).lift, images)


def test_light_of_two_actions_or_directions_that_are_one_is_refused():
    with pytest.raises(ValueError, match="share one action"):
        ec.Temperature(3) * ec.Tint(3, action="clamp")
    with pytest.raises(ValueError, match="each direction of light at most once, got temp3-temp5"):
        ec.Temperature(3) * ec.Temperature(5)
    with pytest.raises(ValueError, match="each direction of light at most once"):
        ec.Temperature(3) * ec.Gain(3, direction=(2, 0, -2))
    with pytest.raises(ValueError, match="each direction of light at most once"):
        ec.Temperature(3) * ec.Tint(3) * ec.Exposure(3) * ec.Gain(3, direction=(1, 0, 0))
    with pytest.raises(ValueError, match="same number of channels"):
        ec.Gain(3, direction=(1, 0, 0, 0)) * ec.Temperature(3)
    with pytest.raises(ValueError, match="share one stain matrix"):
        ec.Hematoxylin(3) * ec.Eosin(3, matrix=[[1, 0, 0], [0, 1, 0], [0, 0, 1]])


def test_a_group_says_how_many_channels_it_takes():
    assert ec.group("temp3").channels == 3
    assert ec.group("exp3").channels is None
    assert ec.group("temp3-exp3").channels == 3
    assert ec.Gain(3, direction=(1, 0, 0, 0, 0)).channels == 5
    with pytest.raises(ValueError, match=r"RGB images \(\*, 3, H, W\), got shape \(2, 5, 4, 4\)"):
        ec.group("temp3").lift(torch.rand(2, 5, 4, 4))
    with pytest.raises(ValueError, match=r"images \(\*, 5, H, W\), got shape \(2, 3, 4, 4\)"):
        ec.Gain(3, direction=(1, 0, 0, 0, 0)).lift(torch.rand(2, 3, 4, 4))


# ---------------------------------------------------------------------------------------------- in order


def test_a_product_across_families_is_refused_with_the_reason_and_what_to_do():
    with pytest.raises(ValueError, match=r"hue4 \* temp3 is no group.*do not commute.*hue4\+temp3.*equivariance_error"):
        ec.Hue(4) * ec.Temperature(3)
    with pytest.raises(ValueError, match="do not commute"):
        ec.group("hue4-temp3")
    with pytest.raises(ValueError, match="do not commute"):
        ec.Hue(4).then(ec.Temperature(3)) * ec.Tint(3)


def test_groups_in_order_act_one_after_the_other(dtype):
    group = ec.Hue(4).then(ec.Temperature(3))
    images = torch.rand(2, 3, 4, 4, dtype=dtype)
    lifted = group.lift(images)
    for index, (hue, temperature) in enumerate(group):
        expected = ec.Temperature(3).act_on_images(temperature, ec.Hue(4).act_on_images(hue, images))
        torch.testing.assert_close(lifted[2 * index : 2 * index + 2], expected, rtol=0, atol=CLOSE[dtype])
        torch.testing.assert_close(group.act_on_images((hue, temperature), images), expected, rtol=0, atol=CLOSE[dtype])
        by = group.move_by(images, group.amounts((hue, temperature)))
        torch.testing.assert_close(by, expected, rtol=0, atol=CLOSE[dtype])
    other = ec.Temperature(3).then(ec.Hue(4))
    assert (group.act_on_images((1, 1), images) - other.act_on_images((1, 1), images)).abs().max() > 0.01


@pytest.mark.parametrize("name", ["hue4+temp3", "temp3+hue4", "hue2-sat3+temp3-tint2", "hema2+temp2+hue3-lum2"])
def test_the_name_of_groups_in_order_reads_back_and_needs_no_quotes(name):
    group = ec.group(name)
    assert str(group) == name
    assert ec.group(str(group)) == group
    assert eval(repr(group), vars(ec.groups)) == group
    assert [len(factor) for stage in group.stages for factor in stage] == list(group.shape)


def test_neighbours_of_one_family_become_one_stage():
    assert str(ec.Hue(4).then(ec.Temperature(3)).then(ec.Tint(3))) == "hue4+temp3-tint3"
    assert ec.Hue(4).then(ec.Saturation(3)) == ec.Hue(4) * ec.Saturation(3)
    assert ec.group("hue4+sat3") == ec.group("hue4-sat3")
    with pytest.raises(ValueError, match="at most once"):
        ec.group("temp3+hue4+temp5")


def test_equivariance_error_tells_how_far_an_order_is_from_a_group():
    images = torch.rand(2, 3, 8, 8, dtype=torch.float64)
    group = ec.group("hue4+temp3")
    errors = dict(zip(group, ec.equivariance_error(ec.nn.Lift(group).double(), images, group).tolist(), strict=True))
    assert errors[0, 0] == 0
    assert errors[1, 0] < 1e-12  # turned first: it only takes turns in another order
    assert errors[0, 1] > 0.01
