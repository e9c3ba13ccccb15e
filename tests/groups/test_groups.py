"""Groups: the axioms, the names, the actions on images and on features, and lifting between them."""

import copy
import pickle

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import equicolor as ec
from equicolor.color import hsl_to_rgb

simple = st.one_of(
    st.builds(ec.Hue, st.integers(1, 12)),
    st.builds(
        ec.Saturation,
        st.integers(1, 5),
        st.none() | st.floats(1e-6, 2),
        st.sampled_from(["exact", "clamp"]),
        st.sampled_from(["hsl", "hsv"]),
    ),
    st.builds(ec.Luminance, st.integers(1, 5), st.floats(0.01, 1)),
)
FACTORS = ["hue1", "hue3", "hue4", "hue7", "sat2", "sat3", "lum3", "lum5"]
GROUPS = [*FACTORS, "hue4-sat3", "sat3-hue4", "hue3-sat3-lum3", "lum3-hue2-sat2"]
CLAMPED = ["sat3(action=clamp)", "lum3(action=clamp)", "hue4-sat3(action=clamp)-lum3(action=clamp)"]
groups = st.sampled_from([ec.group(name) for name in GROUPS])
CLOSE = {torch.float32: 2e-6, torch.float64: 1e-12}


def elements(group):
    """Any element, also outside of a truncated group's window."""
    whole = st.integers(-6, 6)
    return whole if isinstance(group.identity, int) else st.tuples(*[whole for _ in group.identity])


def middling_images(dtype=torch.float64, batch=2):
    """Colours of any hue that no clamped shift of 0.2 in saturation or luminance clips."""
    hsl = torch.rand(batch, 3, 4, 5, dtype=torch.float64)
    base = torch.tensor([0, 0.4, 0.4], dtype=torch.float64).view(3, 1, 1)
    return hsl_to_rgb(base + hsl * torch.tensor([360, 0.2, 0.2], dtype=torch.float64).view(3, 1, 1)).to(dtype)


# ---------------------------------------------------------------------------------------------- values


@given(simple)
def test_a_name_reads_back(group):
    assert ec.group(str(group)) == group
    assert hash(ec.group(str(group))) == hash(group)


@given(st.permutations(["hue4", "sat3(step=1e-05)", "lum3(step=0.25,action=clamp)"]), st.integers(1, 3))
def test_the_name_of_a_product_reads_back(names, count):
    name = "-".join(names[:count])
    assert str(ec.group(name)) == name
    assert ec.group(str(ec.group(name))) == ec.group(name)


def test_names_of_the_contract():
    assert ec.group("hue4") == ec.Hue(4)
    assert ec.group("hue4-sat3") == ec.Hue(4) * ec.Saturation(3)
    assert ec.group("hue3-sat3-lum3") == ec.Hue(3) * ec.Saturation(3) * ec.Luminance(3)
    assert (ec.Hue(4) * ec.Saturation(3, step=0.1)).order == 12
    assert str(ec.group("lum3")) == "lum3"
    assert str(ec.Saturation(3, 0.05, "clamp")) == "sat3(step=0.05,action=clamp)"
    assert ec.group(ec.Hue(5)) == ec.Hue(5)


def test_a_repr_is_the_expression_that_makes_the_group():
    for name in (*GROUPS, *CLAMPED):
        group = ec.group(name)
        assert eval(repr(group), vars(ec.groups)) == group


def test_groups_are_values():
    assert ec.Hue(3) != ec.Hue(4)
    assert ec.Saturation(3) != ec.Luminance(3)
    assert ec.Saturation(3, 0.1) != ec.Saturation(3, 0.2)
    assert ec.Hue(4) * ec.Saturation(3) != ec.Saturation(3) * ec.Hue(4)
    assert len({ec.Hue(4), ec.group("hue4"), copy.deepcopy(ec.Hue(4)), pickle.loads(pickle.dumps(ec.Hue(4)))}) == 1
    with pytest.raises(AttributeError):
        ec.Hue(4).n = 5


def test_elements_stand_in_the_order_of_the_group_axis():
    assert list(ec.Hue(3)) == [0, 1, 2]
    assert list(ec.Saturation(3)) == [-1, 0, 1]
    assert list(ec.Saturation(4)) == [-1, 0, 1, 2]
    assert list(ec.Hue(2) * ec.Saturation(3)) == [(0, -1), (0, 0), (0, 1), (1, -1), (1, 0), (1, 1)]
    for group in map(ec.group, GROUPS):
        assert len(group) == group.order == len(set(group))
        assert [group.index(element) for element in group] == list(range(group.order))
        assert group.identity in group


# ---------------------------------------------------------------------------------------------- axioms


@given(st.data(), groups)
def test_the_axioms_of_a_group(data, group):
    a, b, c = (data.draw(elements(group)) for _ in range(3))
    one, product = group.identity, group.compose
    assert product(product(a, b), c) == product(a, product(b, c))
    assert product(a, one) == product(one, a) == product(a, group.compose(one, one))
    assert product(a, group.inverse(a)) == product(group.inverse(a), a) == one
    assert product(a, b) == product(b, a)


@pytest.mark.parametrize("name", ["hue3", "hue4", "hue12"])
def test_hue_is_closed_and_truncated_groups_are_not(name):
    group = ec.group(name)
    assert not group.is_truncated
    assert all(group.compose(a, b) in group for a in group for b in group)
    window = ec.Saturation(3)
    assert window.is_truncated
    assert window.compose(1, 1) == 2
    with pytest.raises(ValueError, match="outside the window of sat3"):
        window.index(2)


@given(st.data(), groups)
def test_groups_act_on_images(data, group):
    a, b = data.draw(elements(group)), data.draw(elements(group))
    for dtype, close in CLOSE.items():
        images = torch.rand(2, 3, 4, 5, dtype=torch.float64).to(dtype)
        assert torch.equal(group.act_on_images(group.identity, images), images)
        twice = group.act_on_images(a, group.act_on_images(b, images))
        # An element of ±6 multiplies a logit's rounding error by up to e^(6·0.4).
        assert (twice - group.act_on_images(group.compose(a, b), images)).abs().max() <= 12 * close


@given(st.data(), groups)
def test_groups_act_on_features_where_nothing_leaves_the_window(data, group):
    a, b = data.draw(elements(group)), data.draw(elements(group))
    features = torch.rand(group.order * 2, 3, dtype=torch.float64)
    assert torch.equal(group.act_on_features(group.identity, features), features)
    twice = group.act_on_features(a, group.act_on_features(b, features))
    once = group.act_on_features(group.compose(a, b), features)
    kept = (group.overlap(a) & group.overlap(group.compose(a, b))).repeat_interleave(2)
    assert torch.equal(twice[kept], once[kept])
    if not group.is_truncated:
        assert kept.all()


def test_the_action_on_features_is_a_roll_for_hue_and_fills_with_zeros_for_the_others():
    assert ec.Hue(4).act_on_features(1, torch.arange(4)).tolist() == [1, 2, 3, 0]
    assert ec.Hue(4).act_on_features(-1, torch.arange(4)).tolist() == [3, 0, 1, 2]
    assert ec.Luminance(3).act_on_features(1, torch.tensor([1, 2, 3])).tolist() == [2, 3, 0]
    assert ec.Luminance(3).act_on_features(-1, torch.tensor([1, 2, 3])).tolist() == [0, 1, 2]
    assert ec.Luminance(3).act_on_features(7, torch.tensor([1, 2, 3])).tolist() == [0, 0, 0]
    moved = ec.group("hue2-sat3").act_on_features((1, 1), torch.arange(1, 7))
    assert moved.tolist() == [5, 6, 0, 2, 3, 0]


# ---------------------------------------------------------------------------------------------- lifting


@pytest.mark.parametrize("name", [*GROUPS, *CLAMPED])
def test_a_lift_holds_every_move_in_group_major_order(name, dtype):
    group = ec.group(name)
    images = torch.rand(2, 3, 4, 5, dtype=dtype)
    lifted = group.lift(images)
    assert lifted.shape == (group.order * 2, 3, 4, 5)
    assert lifted.dtype == dtype
    for index, element in enumerate(group):
        rows = lifted[2 * index : 2 * index + 2]
        torch.testing.assert_close(rows, group.act_on_images(element, images), atol=2e-6, rtol=0)
    start = 2 * group.index(group.identity)
    assert torch.equal(lifted[start : start + 2], images)


@pytest.mark.parametrize("name", [*GROUPS, *CLAMPED])
def test_lifting_moved_images_moves_the_lift(name, dtype):
    """lift(φ(g, x)) = ϕ(g, lift(x)): all of it for hue, on the overlap for truncated groups where nothing clips."""
    group = ec.group(name)
    images = middling_images(dtype) if "clamp" in name else torch.rand(2, 3, 4, 5, dtype=dtype)
    for element in group:
        moved = group.lift(group.act_on_images(element, images))
        expected = group.act_on_features(element, group.lift(images))
        known = group.overlap(element).repeat_interleave(2)
        assert known.any()
        assert (moved - expected)[known].abs().max() <= CLOSE[dtype]
        if not group.is_truncated:
            assert known.all()


def test_the_lift_to_hue_3_is_bit_exactly_equivariant():
    images = torch.rand(2, 3, 4, 5)
    for element in ec.Hue(3):
        moved = ec.Hue(3).lift(ec.Hue(3).act_on_images(element, images))
        assert torch.equal(moved, ec.Hue(3).act_on_features(element, ec.Hue(3).lift(images)))


def test_where_clamp_clips_the_lifting_identity_fails():
    group = ec.Saturation(3, 0.2, "clamp")
    vivid = hsl_to_rgb(torch.tensor([30.0, 0.95, 0.5], dtype=torch.float64).view(1, 3, 1, 1))
    moved = group.lift(group.act_on_images(1, vivid))
    expected = group.act_on_features(1, group.lift(vivid))
    assert (moved - expected)[group.overlap(1)].abs().max() > 0.05


def test_lifting_is_differentiable():
    images = torch.rand(1, 3, 2, 2, dtype=torch.float64, requires_grad=True)
    for name in ("hue4", "hue3-sat3-lum2"):
        assert torch.autograd.gradcheck(ec.group(name).lift, images)


def test_uint8_images_are_lifted_as_floats_in_the_unit_interval():
    images = torch.randint(0, 256, (2, 3, 4, 4), dtype=torch.uint8)
    assert torch.equal(ec.Hue(4).lift(images), ec.Hue(4).lift(images.float() / 255))


def test_an_empty_batch_lifts_to_an_empty_batch():
    for name in ("hue4", "hue3-sat3"):
        assert ec.group(name).lift(torch.rand(0, 3, 4, 4)).shape == (0, 3, 4, 4)


# ---------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    "name", ["hue", "hue4-", "-hue4", "4hue", "hue4_sat3", "rgb3", "", "sat3(", "hue4(step=1)", "sat3(size=2)"]
)
def test_unknown_names_are_told_what_exists(name):
    with pytest.raises(ValueError, match="unknown group"):
        ec.group(name)


def test_bad_arguments_are_refused():
    with pytest.raises(TypeError, match="'hue4', got 4"):
        ec.group(4)
    for n in (0, -1, 2.5, "3", True):
        with pytest.raises(ValueError, match="positive whole number"):
            ec.Hue(n)
    for step in (0, -0.1, float("nan"), float("inf"), "big"):
        with pytest.raises(ValueError, match="positive finite step"):
            ec.Saturation(3, step)
    with pytest.raises(ValueError, match="no number: 'x'"):
        ec.group("sat3(step=x)")
    with pytest.raises(ValueError, match="unknown action 'wrap'"):
        ec.group("sat3(action=wrap)")
    with pytest.raises(ValueError, match="at most once, got hue3-hue4"):
        ec.Hue(3) * ec.Hue(4)
    with pytest.raises(ValueError, match="share one colour space"):
        ec.Saturation(3, space="hsv") * ec.Luminance(3)
    with pytest.raises(TypeError):
        ec.Hue(3) * 2


def test_bad_elements_are_refused():
    images = torch.rand(1, 3, 2, 2)
    with pytest.raises(TypeError, match=r"integer, got \(1, 0\)"):
        ec.Hue(4).act_on_images((1, 0), images)
    with pytest.raises(TypeError, match=r"integer, got 0\.5"):
        ec.Hue(4).act_on_images(0.5, images)
    with pytest.raises(TypeError, match="tuple of 2 integers, got 3"):
        ec.group("hue4-sat3").act_on_images(3, images)
    assert torch.equal(ec.Hue(4).act_on_images(np.int64(1), images), ec.Hue(4).act_on_images(1, images))


def test_bad_images_and_features_are_refused():
    with pytest.raises(ValueError, match=r"\(3, 4, 4\).*images\[None\]"):
        ec.Hue(4).lift(torch.rand(3, 4, 4))
    with pytest.raises(ValueError, match=r"from -2.*normalising"):
        ec.Hue(4).lift(torch.full((1, 3, 2, 2), -2.0))
    with pytest.raises(ValueError, match="NaN"):
        ec.Hue(4).act_on_images(1, torch.full((1, 3, 2, 2), float("nan")))
    with pytest.raises(ValueError, match=r"hue4.*G = 4.*\(6, 2\).*Lift images first"):
        ec.Hue(4).act_on_features(1, torch.rand(6, 2))


def test_numbers_of_elements_are_bounded_and_of_plain_digits():
    for n in (10**30, 10**5000):
        with pytest.raises(ValueError, match="Hue takes at most 1000000 elements"):
            ec.Hue(n)
    for name in ("hue１", "hue٣", "hue1_0", "sat3(step=０.1)"):
        with pytest.raises(ValueError, match="group"):
            ec.group(name)
    with pytest.raises(ValueError, match="unknown group"):
        ec.create_model("z2cnn", "ceconv３")


def test_an_argument_that_is_given_twice_is_named():
    with pytest.raises(ValueError, match="step is given twice"):
        ec.group("sat3(step=0.1,step=0.2)")
