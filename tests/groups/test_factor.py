"""A factor of a user's own: one class with one method, and everything follows; families; products; names."""

import pickle
from dataclasses import dataclass

import pytest
import torch

import equicolor as ec
from equicolor.groups import Factor, Family, registered_factors


class Channels(Factor):
    """A cyclic factor that is not the hue: whole thirds cycle the channels, in between they are mixed."""

    prefix, quantity, unit, period = "cycle", "channels", "", 3.0

    def move(self, images, amount):
        spectrum = torch.fft.rfft(images, dim=-3)
        angle = torch.as_tensor(amount, dtype=images.dtype) * (2 * torch.pi / 3)
        whole = spectrum[..., :1, :, :].real
        real = spectrum[..., 1:, :, :].real * angle.cos() + spectrum[..., 1:, :, :].imag * angle.sin()
        imaginary = spectrum[..., 1:, :, :].imag * angle.cos() - spectrum[..., 1:, :, :].real * angle.sin()
        return torch.fft.irfft(torch.cat([whole + 0j, torch.complex(real, imaginary)], -3), n=3, dim=-3).clamp(0, 1)

    def domain(self, noise):
        return 0.4 + 0.2 * noise


GAMMA = Family("gamma")


@dataclass(frozen=True)
class Gamma(Factor):
    prefix, quantity, channels, family = "gamma", "log gamma", None, GAMMA
    step: float = 0.25

    def move(self, images, amount):
        return images ** torch.as_tensor(amount, dtype=images.dtype).exp()


@dataclass(frozen=True)
class Red(Factor):
    prefix, quantity, family = "redgamma", "log gamma of red", GAMMA
    step: float = 0.5
    channel: int = 0

    def move(self, images, amount):
        exponent = torch.zeros(3, 1, 1, dtype=images.dtype)
        exponent[self.channel] = 1
        return images ** (exponent * torch.as_tensor(amount, dtype=images.dtype)).exp()


@pytest.fixture
def registry(monkeypatch):
    """What is registered in a test is forgotten after it."""
    from equicolor.groups import _names

    monkeypatch.setattr(_names, "_FACTORS", dict(_names._FACTORS))


def test_a_factor_is_one_method_and_a_few_words():
    group = Channels(6)
    assert group.closes
    assert not group.is_truncated
    assert [group.amount(i) for i in (0, 1, 5, 6, -1)] == [0, 0.5, 2.5, 0, 2.5]
    assert group.describe(1) == "channels +0.5"
    assert str(group) == "cycle6"
    assert Channels(6) == group != Channels(3)
    assert pickle.loads(pickle.dumps(group)) == group
    window = Gamma(4)
    assert window.is_truncated
    assert list(window) == [-1, 0, 1, 2]
    assert window.amounts(2) == (0.5,)


def test_the_lift_of_a_factor_is_its_moves_in_order_and_its_identity_is_bit_exact(dtype):
    for group, channels in ((Channels(6), 3), (Gamma(3), 5), (Gamma(3) * Red(3), 3)):
        images = torch.rand(2, channels, 4, 5, dtype=dtype)
        lifted = group.lift(images)
        assert lifted.dtype == dtype
        assert lifted.shape == (2 * group.order, channels, 4, 5)
        for index, element in enumerate(group):
            torch.testing.assert_close(lifted[2 * index : 2 * index + 2], group.act_on_images(element, images))
        assert torch.equal(group.act_on_images(group.identity, images), images)
        assert torch.equal(
            group.move_by(images, torch.tensor(group.amounts(group.identity)) + 0.5) == images, images < 0
        )


def test_a_cyclic_factor_of_ones_own_gets_the_cyclic_algorithm(dtype):
    """Not that of a window, which once made fast and direct differ by a quarter."""
    for group in (Channels(4), Channels(4) * Other(3)):
        layers = [ec.nn.GroupConv2d(group, 3, 4, 3, algorithm=name).to(dtype) for name in ("fast", "direct")]
        layers[1].load_state_dict(layers[0].state_dict())
        features = torch.rand(group.order * 2, 3, 6, 6, dtype=dtype)
        fast, direct = (layer(features) for layer in layers)
        torch.testing.assert_close(fast, direct, rtol=0, atol=1e-5 if dtype == torch.float32 else 1e-12)
    assert ec.algorithms.fast(Channels(4)).rank == ec.algorithms.fast(ec.Hue(4)).rank == 5


class Other(Channels):
    """A second cyclic factor of the same family: its moves commute with those of Channels."""

    prefix, quantity, family = "recycle", "channels once more", Channels.family


def test_factors_of_one_family_multiply_and_those_of_two_do_not():
    assert str(Gamma(3) * Red(3)) == "gamma3-redgamma3"
    assert (Channels(4) * Other(3)).order == 12
    with pytest.raises(ValueError, match=r"hue4 \* cycle3.*hue \(HSL\).*channels.*do not commute.*hue4\+cycle3"):
        ec.Hue(4) * Channels(3)
    with pytest.raises(ValueError, match="at most once, got gamma3-gamma5"):
        Gamma(3) * Gamma(5)


def test_a_hue_of_ones_own_never_becomes_the_hue_of_hsl():
    """A subclass that moves otherwise has a family for itself: in a product it is refused, not replaced."""

    class Other(ec.Hue):
        prefix = "otherhue"

        def move(self, images, amount):
            return 1 - images

    images = torch.rand(2, 3, 4, 4)
    assert torch.equal(Other(4).act_on_images(1, images), 1 - images)
    assert torch.equal(Other(4).lift(images)[2:4], 1 - images)
    with pytest.raises(ValueError, match="do not commute"):
        Other(4) * ec.Saturation(3)
    ordered = Other(4).then(ec.Saturation(3))
    assert torch.equal(ordered.act_on_images((1, 0), images), 1 - images)


def test_what_would_bypass_products_is_refused():
    with pytest.raises(TypeError, match=r"in move\(images, amount\), not in act_on_images"):

        class Bypassing(Factor):
            def act_on_images(self, element, images):
                return images

    with pytest.raises(TypeError, match="set period instead of closes"):

        class Closing(Factor):
            closes = True


def test_a_move_that_returns_something_else_is_named():
    class Halving(Factor):
        prefix, quantity, period = "half", "half", 2.0

        def move(self, images, amount):
            return images[..., ::2]

    with pytest.raises(ValueError, match=r"Halving.move was given images \(1, 3, 4, 4\) and returned \(1, 3, 4, 2\)"):
        Halving(2).lift(torch.rand(1, 3, 4, 4))


def test_a_window_needs_a_step():
    class Stepless(Factor):
        prefix, quantity = "stepless", "nothing"

        def move(self, images, amount):
            return images

    with pytest.raises(TypeError, match="Stepless has no period, so it is a window, and needs a step"):
        Stepless(3)


# ---------------------------------------------------------------------------------------------- names


def test_a_registered_factor_is_known_by_name_with_its_arguments(registry):
    ec.register_group(Gamma)
    ec.register_group(Red)
    assert ec.group("gamma3") == Gamma(3)
    assert ec.group("gamma3-redgamma5(step=0.125,channel=2)") == Gamma(3) * Red(5, 0.125, 2)
    for group in (Gamma(3), Gamma(3, 1e-05), Red(4, channel=1), Gamma(2) * Red(3, 0.1), ec.Hue(4).then(Gamma(3))):
        assert ec.group(str(group)) == group
    assert registered_factors()["gamma"] is Gamma


def test_register_group_is_a_decorator_and_may_be_repeated(registry):
    assert ec.register_group(Channels) is Channels
    assert ec.register_group(Channels) is Channels
    assert ec.group("cycle6") == Channels(6)


@pytest.mark.parametrize("prefix", ["", "Hue", "hue2", "my-hue", "hü", "a b", "a+b", "ａ"])
def test_malformed_prefixes_are_refused(registry, prefix):
    kind = type("Named", (Channels,), {"prefix": prefix})
    with pytest.raises(ValueError, match="lower-case letters a to z alone"):
        ec.register_group(kind)


def test_taken_prefixes_and_what_is_no_factor_are_refused(registry):
    with pytest.raises(ValueError, match="'hue' is taken, by Hue"):
        ec.register_group(type("Mine", (Channels,), {"prefix": "hue"}))
    with pytest.raises(ValueError, match="'ceconv' is taken"):
        ec.register_group(type("Mine", (Channels,), {"prefix": "ceconv"}))
    with pytest.raises(TypeError, match=r"derived from equicolor.Factor, got 3"):
        ec.register_group(3)
    with pytest.raises(TypeError, match="must say its quantity"):
        ec.register_group(type("Mine", (Factor,), {"prefix": "mine", "move": Channels.move}))
    with pytest.raises(TypeError, match="must define move"):
        ec.register_group(type("Mine", (Factor,), {"prefix": "mine", "quantity": "mine"}))
    assert ec.group("hue4") == ec.Hue(4)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("sat3(size=2)", "sat takes step, action, space, got 'size=2'"),
        ("hue4(step=1)", "hue takes no arguments, got 'step=1'"),
        ("sat3(step=1,step=2)", "step is given twice"),
        ("sat3(step)", "got 'step'"),
        ("sat3(step=1_0)", "is no number: '1_0'"),
        ("sat3(step=１)", "is no number"),
        ("hue１", "unknown group"),
        ("hue" + "9" * 5000, "at most 1000000 elements"),
        (f"hue{10**30}", "at most 1000000 elements"),
        ("hue1000001", "at most 1000000 elements"),
        ("temp9999-tint9999", "at most 1000000 elements"),
        ("hue0", "positive whole number"),
        ("hue4+", "unknown group"),
        ("hue4++temp3", "unknown group"),
        ("gain3", r"unknown group 'gain3': it needs direction, as in 'gain3\(direction=…\)'"),
        ("gain3(direction=0:0)", "not all of them 0"),
        ("hema3(matrix=1:2:3)", "stain matrix is 3×3"),
        ("hema3(matrix=1:0:0/2:0:0/0:0:1)", "different directions"),
        ("okhue6", r"unknown group 'okhue6'.*imported"),
    ],
)
def test_bad_names_are_told_what_is_wrong(name, message):
    with pytest.raises(ValueError, match=message):
        ec.group(name)
