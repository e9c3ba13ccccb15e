"""assert_action: passes what is an action, and says what is wrong with what is not."""

from dataclasses import dataclass

import pytest
import torch

import equicolor as ec
from equicolor.testing import assert_action


@pytest.mark.parametrize(
    "name",
    [
        *("hue4", "hue7", "sat3", "lum4", "sat3(action=clamp)", "lum3(action=clamp)", "sat3(space=hsv)"),
        *("hue4-sat3-lum3", "temp3", "tint3", "exp3", "temp3-tint3-exp3", "temp3(action=clamp)-tint3(action=clamp)"),
        *("hema3", "eosin3", "dab3", "hema3-eosin3-dab3", "gain3(direction=0.0:1.0:0.0:0.0)"),
    ],
)
def test_what_comes_with_the_library_is_an_action(name):
    assert_action(name)
    assert_action(name, seed=1)


class Sound(ec.Factor):
    """Powers: an action, from which the others here fall off."""

    prefix, quantity, step = "sound", "log gamma", 0.3

    def move(self, images, amount):
        return images ** torch.as_tensor(amount, dtype=images.dtype).exp()

    def domain(self, noise):
        return 0.1 + 0.8 * noise


class Safe(Sound):
    """With a gradient at 0, too."""

    def move(self, images, amount):
        return super().move(images.clamp(min=1e-12), amount)


def test_a_factor_of_ones_own_is_judged():
    assert_action(Safe(3))
    with pytest.raises(AssertionError, match=r"gradient of (images|amounts) is not finite"):
        assert_action(Sound(3))


def off(move, **attributes):
    return type("Off", (Safe,), {"move": move, **attributes})(3)


@pytest.mark.parametrize(
    ("factor", "message"),
    [
        (off(lambda self, x, a: Safe.move(self, x, a + 0.1)), "moving by 0 should change nothing"),
        (off(lambda self, x, a: Safe.move(self, x, abs(a))), "moving by a and then by b should be"),
        (off(lambda self, x, a: (x + a).clamp(0, 1)), "moving by a and then by b should be"),
        (off(lambda self, x, a: x), "moves change nothing"),
        (off(lambda self, x, a: x + 0 * a + a / 8), r"results leave \[0, 1\]"),
        (off(lambda self, x, a: x + 1), r"results leave \[0, 1\]"),
        (
            off(lambda self, x, a: Safe.move(self, x, float(a))),
            r"a tensor of one for each image, \(\*, 1, 1, 1\); given",
        ),
        (off(lambda self, x, a: Safe.move(self, x, a), period=1.0), "moving by the period of log gamma"),
        (off(lambda self, x, a: Safe.move(self, x, torch.as_tensor(a).flatten()[0])), "each image moved by its own"),
        (off(lambda self, x, a: Safe.move(self, x, float(torch.as_tensor(a).mean()))), "sound3"),
    ],
)
def test_what_is_wrong_is_said(factor, message):
    with pytest.raises(AssertionError, match=message):
        assert_action(factor)


def test_rounding_to_a_lower_precision_is_found_in_float64():
    coarse = off(lambda self, x, a: Safe.move(self, x.float(), a if isinstance(a, float) else a.float()).to(x.dtype))
    with pytest.raises(AssertionError, match="in float64, moving by"):
        assert_action(coarse)


def test_a_fused_pass_that_does_something_else_is_found():
    class Wrong(ec.groups.Family):
        def orbit(self, factors, images, amounts):
            return super().orbit(factors, images, [[2 * amount for amount in own] for own in amounts])

    factor = off(Safe.move, family=Wrong("wrong"))
    with pytest.raises(AssertionError, match=r"element -1 of the lift should be the move that does it"):
        assert_action(factor)


def test_groups_in_order_are_no_action():
    with pytest.raises(AssertionError, match=r"hue4\+temp3 is no action"):
        assert_action("hue4+temp3")


def test_where_it_is_exact_can_be_said_by_images_of_ones_own():
    @dataclass(frozen=True)
    class Brighter(ec.Factor):
        prefix, quantity = "brighter", "brightness"
        step: float = 0.1

        def move(self, images, amount):
            return (images + amount).clamp(0, 1)

    with pytest.raises(AssertionError, match=r"for some colours only, say for which it holds, in domain"):
        assert_action(Brighter(3))
    assert_action(Brighter(3), torch.rand(2, 3, 4, 4, dtype=torch.float64) * 0.2 + 0.4)
