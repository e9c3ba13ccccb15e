"""Lift: the group's lift as a layer, with normalisation after it and checks before it."""

import copy
import pickle

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

import equicolor as ec
from equicolor.nn import Lift


def test_it_lifts_then_normalises(dtype):
    images = torch.rand(2, 3, 4, 5, dtype=dtype)
    mean, std = [0.4, 0.5, 0.6], [0.1, 0.2, 0.3]
    lifted = Lift("hue4-sat3", mean, std, dtype=dtype)(images)
    expected = ec.group("hue4-sat3").lift(images) - torch.tensor(mean, dtype=dtype).view(3, 1, 1)
    torch.testing.assert_close(lifted, expected / torch.tensor(std, dtype=dtype).view(3, 1, 1))
    assert torch.equal(Lift("hue4", dtype=dtype)(images), ec.Hue(4).lift(images))


@pytest.mark.parametrize("name", ["hue3", "hue4", "sat3", "hue4-lum3"])
def test_it_is_equivariant(name):
    ec.testing.assert_equivariant(Lift(name, mean=0.5, std=0.25), name)


@pytest.mark.parametrize("other", [{}, {"mean": 0.1, "std": 1.5}])
def test_the_normalisation_belongs_to_the_state(other):
    lift, other = Lift("hue4", mean=0.5, std=[0.1, 0.2, 0.3]), Lift("hue4", **other)
    other.load_state_dict(lift.state_dict())
    images = torch.rand(2, 3, 4, 4)
    assert torch.equal(other(images), lift(images))
    lift.load_state_dict(Lift("hue4").state_dict())
    assert torch.equal(lift(images), ec.Hue(4).lift(images))


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float64])
def test_bytes_are_lifted_to_the_precision_of_the_layer(kind):
    images = torch.randint(0, 256, (2, 3, 4, 4), dtype=torch.uint8)
    assert Lift("hue4").to(kind)(images).dtype == kind


def test_channels_last_stays_channels_last():
    images = torch.rand(2, 3, 8, 8).contiguous(memory_format=torch.channels_last)
    for name in ("hue4", "hue2-sat3"):
        assert Lift(name)(images).is_contiguous(memory_format=torch.channels_last)


def test_it_survives_pickling_deepcopy_meta_and_empty_batches():
    lift = Lift("hue4", mean=0.5)
    images = torch.rand(2, 3, 4, 4)
    assert torch.equal(pickle.loads(pickle.dumps(lift))(images), lift(images))
    assert torch.equal(copy.deepcopy(lift)(images), lift(images))
    assert lift(images[:0]).shape == (0, 3, 4, 4)
    assert Lift("hue4", device="meta")(images.to("meta")).shape == (8, 3, 4, 4)


def test_images_are_checked_on_every_call_on_the_cpu():
    lift = Lift("hue4")
    for _ in range(3):
        lift(torch.rand(1, 3, 2, 2))
    with pytest.raises(ValueError, match=r"normalising by mean and std before the lift"):
        lift(torch.randn(1, 3, 8, 8) * 2)
    with pytest.raises(ValueError, match="NaN"):
        lift(torch.full((1, 3, 2, 2), float("nan")))
    with pytest.raises(TypeError, match=r"torch\.int32"):
        lift(torch.zeros(1, 3, 2, 2, dtype=torch.int32))
    with pytest.raises(ValueError, match=r"\(1, 4, 2, 2\)"):
        lift(torch.rand(1, 4, 2, 2))


def test_on_an_accelerator_ever_fewer_calls_are_checked(monkeypatch):
    """There is no accelerator here, so what is counted is when the check that would wait for one is made."""
    checks = []
    monkeypatch.setattr(ec.color, "check_range", lambda images: checks.append(images))

    class Elsewhere(torch.Tensor):
        device = torch.device("cuda")

    lift = Lift("hue4")
    when = []
    for call in range(1, 101):
        lift._check(torch.rand(1, 3, 2, 2).as_subclass(Elsewhere))
        when += [call] * (len(checks) - len(when))
    assert when == [1, 2, 4, 8, 16, 32, 64]


def test_bad_normalisation_is_refused():
    with pytest.raises(ValueError, match="mean takes one number or three"):
        Lift("hue4", mean=[0.5, 0.5])
    with pytest.raises(ValueError, match="std must be positive"):
        Lift("hue4", std=[0.5, 0.0, 0.5])


def test_the_repr_names_group_and_normalisation():
    assert repr(Lift("hue4")) == "Lift(hue4)"
    assert repr(Lift("hue4-sat3", 0.5, 0.25)) == "Lift(hue4-sat3, mean=(0.5, 0.5, 0.5), std=(0.25, 0.25, 0.25))"


def test_mean_and_std_can_be_set_after_the_layer_was_built():
    lift, images = Lift("hue4"), torch.rand(2, 3, 4, 4)
    plain = lift(images)
    lift.mean.fill_(0.5)
    torch.testing.assert_close(lift(images), plain - 0.5)
    lift.std.copy_(torch.tensor([0.25, 0.5, 2.0]).view(3, 1, 1))
    torch.testing.assert_close(lift(images), (plain - 0.5) / lift.std)
    lift.mean.data.zero_()
    torch.testing.assert_close(lift(images), plain / lift.std)
    assert "mean=(0.0, 0.0, 0.0), std=(0.25, 0.5, 2.0)" in repr(lift)


def test_subclasses_of_tensors_are_checked_too():
    class Image(torch.Tensor):
        pass

    with pytest.raises(ValueError, match="NaN"):
        Lift("hue4")(torch.full((1, 3, 2, 2), float("nan")).as_subclass(Image))


@pytest.mark.parametrize("name", ["hue4", "temp3-tint2", "hema3"])
def test_images_are_not_looked_at_where_they_have_no_values(name):
    lift, images = Lift(name), torch.rand(2, 3, 4, 4)
    expected = lift(images)
    for image, lifted in zip(images, torch.func.vmap(lambda x: lift(x[None]))(images), strict=True):
        torch.testing.assert_close(lifted, lift(image[None]))
    torch.testing.assert_close(torch.jit.trace(lift, images)(images), expected)
    with FakeTensorMode():
        assert Lift(name)(torch.rand(2, 3, 4, 4)).shape == expected.shape


def test_it_takes_as_many_channels_as_the_group_and_its_user_say():
    assert Lift("exp3", in_channels=5)(torch.rand(2, 5, 4, 4)).shape == (6, 5, 4, 4)
    assert Lift("exp3", mean=[0.5] * 4)(torch.rand(2, 4, 4, 4)).shape == (6, 4, 4, 4)
    assert Lift(ec.Gain(3, direction=(0, 1)), mean=0.5)(torch.rand(2, 2, 4, 4)).shape == (6, 2, 4, 4)
    assert repr(Lift("exp3", in_channels=5)) == "Lift(exp3, in_channels=5)"
    with pytest.raises(ValueError, match=r"\(\*, 5, H, W\), got shape \(2, 3, 4, 4\)"):
        Lift("exp3", in_channels=5)(torch.rand(2, 3, 4, 4))
    with pytest.raises(ValueError, match=r"got shape \(2, 5, 4, 4\)"):
        Lift("exp3")(torch.rand(2, 5, 4, 4))
    with pytest.raises(ValueError, match="hue4 is for images of 3 channels, got in_channels=5"):
        Lift("hue4", in_channels=5)
    with pytest.raises(ValueError, match="mean takes one number or 5, one for each channel"):
        Lift("exp3", mean=[0.5, 0.5], in_channels=5)
    with pytest.raises(ValueError, match="positive whole number, got 0"):
        Lift("exp3", in_channels=0)


@pytest.mark.parametrize("name", ["temp3-tint3", "hema3-eosin2", "exp3(action=clamp)", "hue4+temp3"])
def test_light_and_stain_are_lifted_in_channels_last_and_compiled(name):
    images = torch.rand(2, 3, 8, 8).contiguous(memory_format=torch.channels_last)
    lift = Lift(name, mean=0.5, std=0.25)
    assert lift(images).is_contiguous(memory_format=torch.channels_last)
    compiled = torch.compile(lift, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(images), lift(images))


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [0.5, float("nan"), 0.5]])
def test_mean_and_std_must_be_finite(value):
    with pytest.raises(ValueError, match="mean must be finite"):
        Lift("hue4", mean=value)
    with pytest.raises(ValueError, match="std must be positive and finite"):
        Lift("hue4", std=value)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("group", [None, "hue3", "ceconv3"])
def test_images_of_another_precision_than_the_network_are_refused_in_one_line(group, dtype):
    model, images = ec.create_model("z2cnn", group), torch.rand(1, 3, 28, 28)
    given = str(dtype).removeprefix("torch.")
    with pytest.raises(TypeError, match=rf"the images are {given} and the network is float32: convert"):
        model(images.to(dtype))
    assert model.double().eval()(images.double()).dtype == torch.float64


def test_under_autocast_pytorch_chooses_the_precision():
    with torch.autocast("cpu", torch.bfloat16):
        assert Lift("hue4")(torch.rand(1, 3, 4, 4).bfloat16()).shape == (4, 3, 4, 4)
