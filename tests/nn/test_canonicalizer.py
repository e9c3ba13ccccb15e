"""Canonicalizer: the move of each image is found and undone."""

import pytest
import torch

import equicolor as ec
from equicolor.nn import Canonicalizer


def settled(group, mode=None, dtype=torch.float32, **options):
    """A canonicaliser with random weights and statistics, in eval mode."""
    made = Canonicalizer(group, mode, **options).to(dtype)
    for parameter in made.parameters():
        torch.nn.init.normal_(parameter, 0.1, 0.3)
    return made.eval()


@pytest.mark.parametrize("name", ["hue3", "hue4", "hue7"])
def test_canonical_images_are_the_same_for_every_element_of_a_circle(name, dtype):
    made, group = settled(name, "discrete", dtype), ec.group(name)
    images = torch.rand(4, 3, 40, 36, dtype=dtype)
    still = made(images).images
    for element in group:
        torch.testing.assert_close(made(group.act_on_images(element, images)).images, still, atol=1e-5, rtol=0)


@pytest.mark.parametrize("name", ["hue3", "hue4", "hue7"])
def test_so_they_are_in_continuous_mode_as_precisely_as_the_numbers_are_known(name):
    made, group = settled(name, "continuous", torch.float64), ec.group(name)
    images = torch.rand(4, 3, 40, 36, dtype=torch.float64)
    still, move = made(images)
    assert (move % group.amount(1)).abs().max() > 1  # between the elements
    for element in group:
        torch.testing.assert_close(made(group.act_on_images(element, images)).images, still, atol=1e-8, rtol=0)


def test_the_move_that_is_found_moves_along_and_makes_the_image_of_the_canonical_one():
    made, group = settled("hue4"), ec.group("hue4")
    images = torch.rand(5, 3, 32, 32)
    canonical, move = made(images)
    torch.testing.assert_close(group.move_by(canonical, move), images, atol=1e-6, rtol=0)
    _, turned = made(group.act_on_images(1, images))
    torch.testing.assert_close(turned, (move + 90) % 360)
    assert len(move.unique()) > 1  # the claim is not empty


def test_hues_lie_in_one_turn(dtype):
    made = settled("hue4", "continuous", dtype)
    moves = made(torch.rand(40, 3, 8, 8, dtype=dtype)).move
    assert ((moves >= 0) & (moves < 360)).all()
    assert (moves > 300).any()  # where the crest is before that of element 0, too
    assert made._around(torch.tensor([[-1e-12]], dtype=torch.float32)).item() == 0


def test_picking_pixels_commutes_with_a_move_at_any_size():
    made, group = settled("hue3", size=16), ec.group("hue3")
    for size in ((16, 16), (17, 50), (224, 224), (5, 9)):
        images = torch.rand(2, 3, *size)
        assert torch.equal(made._picked(group.act_on_images(1, images)), group.act_on_images(1, made._picked(images)))
        torch.testing.assert_close(made(group.act_on_images(2, images)).images, made(images).images)


@pytest.mark.parametrize("memory_format", [torch.contiguous_format, torch.channels_last])
@pytest.mark.parametrize("name", ["hue4", "temp-tint", "gains:temp-tint"])
def test_large_images_are_moved_one_by_one_to_the_same_colours(name, memory_format, dtype):
    made = settled(name, dtype=dtype)
    images = torch.rand(3, 3, 131, 140, dtype=dtype).contiguous(memory_format=memory_format)
    before = images.clone()
    with torch.inference_mode():
        alone, move = made(images)
    torch.testing.assert_close(alone, made.group.move_by(images, -move), atol=2e-6, rtol=0)
    assert alone.is_contiguous(memory_format=memory_format)
    assert images.equal(before)
    learnt = images.clone().requires_grad_()
    assert made(learnt).images.requires_grad  # recorded, all at once


@pytest.mark.parametrize("mode", ["discrete", "continuous"])
def test_greys_stay_what_they_are(mode):
    greys = torch.rand(4, 1, 32, 32).expand(-1, 3, -1, -1)
    torch.testing.assert_close(settled("hue4", mode)(greys).images, greys)


def test_of_equal_numbers_the_first_counts():
    made = settled("hue4")
    for parameter in made.parameters():
        torch.nn.init.zeros_(parameter)
    images = torch.rand(3, 3, 32, 32)
    canonical, move = made(images)
    assert not move.any()
    assert torch.equal(canonical, images)


@pytest.mark.parametrize("training", [True, False])
def test_gradients_reach_the_scores_straight_through_and_change_no_value(training):
    made, images = Canonicalizer("hue4").train(training), torch.rand(3, 3, 32, 32)
    canonical, move = made(images)
    assert torch.equal(canonical, made.group.move_by(images, -move))
    canonical.square()[..., 0].sum().backward()
    assert made.scores[1].weight.grad.abs().sum() > 0


def test_a_frozen_choice_has_no_gradient():
    made, images = Canonicalizer("hue4").requires_grad_(False), torch.rand(2, 3, 8, 8, requires_grad=True)
    canonical, move = made(images)
    (through,) = torch.autograd.grad(canonical.square().sum(), images)
    (alone,) = torch.autograd.grad(made.group.move_by(images, -move).square().sum(), images)
    assert torch.equal(through, alone)


@pytest.mark.parametrize(("name", "mode"), [("hue4", "discrete"), ("hue4", "continuous"), ("temp-tint", None)])
def test_under_autocast_the_move_is_found_in_full_precision(name, mode):
    made, images = settled(name, mode), torch.rand(8, 3, 32, 32)
    expected = made(images).move
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert torch.equal(made(images).move, expected)


@pytest.mark.parametrize("name", ["temp-tint", "temp-tint-exp", "sat", "lum", "hema-eosin", "hue4-sat", "sat-hue3"])
def test_moves_of_windows_are_bounded_and_differentiable(name):
    made = settled(name, reach=0.3)
    images = torch.rand(3, 3, 32, 32)
    canonical, move = made(images)
    windows = [place for place, factor in enumerate(made.group.factors) if not factor.closes]
    assert move[:, windows].abs().max() <= 0.3
    assert move[:, windows].abs().max() > 0
    assert canonical.min() >= 0
    assert canonical.max() <= 1
    made.requires_grad_().train()
    made.loss(images, made.draw(torch.rand(3, len(made.group.factors)))).backward()
    assert all(parameter.grad is not None for parameter in made.parameters())


def test_untrained_windows_are_left_alone():
    images = torch.rand(2, 3, 32, 32)
    assert torch.equal(Canonicalizer("temp-tint").eval()(images).images, images)


ANCHORED = ["temp-tint", "temp-tint-exp", "exp", "gain(direction=1:2:0)", "sat", "lum", "sat-lum", "hue4-sat"]


def far(group, count, dtype):
    """Amounts for each image, farther than networks look; of circles the elements' own."""
    amounts = 6 * torch.rand(count, len(group.factors), dtype=dtype) - 3
    for place, factor in enumerate(group.factors):
        if factor.closes:
            amounts[:, place] = torch.randint(factor.order, (count,)).to(dtype) * factor.amount(1)
    return amounts


@pytest.mark.parametrize("name", ANCHORED)
def test_anchored_canonical_images_are_the_same_for_every_amount(name, dtype):
    made = settled(name, dtype=dtype, anchored=True)
    images = torch.rand(6, 3, 40, 36, dtype=dtype)
    images[:, :, :8], images[:, :, -4:] = 0, 1  # which no move changes
    amounts = far(made.group, 6, dtype)
    still, moved = made(images), made(made.group.move_by(images, amounts))
    close = {torch.float32: 5e-4, torch.float64: 1e-10}[dtype]
    torch.testing.assert_close(moved.images, still.images, atol=close, rtol=0)
    windows = [place for place, factor in enumerate(made.group.factors) if not factor.closes]
    torch.testing.assert_close((moved.move - still.move)[:, windows], amounts[:, windows], atol=close, rtol=0)
    assert (still.images - images).abs().max() > 0.1  # the claim is not empty


def test_names_say_that_one_is_anchored():
    made = Canonicalizer("anchored:temp-tint", size=16)
    assert made.config == Canonicalizer("temp3-tint3", anchored=True, size=16).config
    gains = Canonicalizer("gains:temp-tint")
    assert gains.config == Canonicalizer("temp(action=clamp)-tint(action=clamp)", anchored=True).config
    for name, says in (("gains:sat", "no measure"), ("gains:hue4", "action"), ("gained:temp", "unknown group")):
        with pytest.raises(ValueError, match=says):
            Canonicalizer(name)


def test_anchored_gains_are_found_exactly_where_they_do_not_clip(dtype):
    made = settled("temp(action=clamp)-tint(action=clamp)", dtype=dtype, anchored=True)
    images, amounts = 0.2 * torch.rand(6, 3, 32, 32, dtype=dtype), torch.rand(6, 2, dtype=dtype) - 0.5
    images[:, :, :8] = 0
    still, moved = made(images), made(made.group.move_by(images, amounts))
    torch.testing.assert_close(moved.images, still.images, atol=1e-5, rtol=0)
    torch.testing.assert_close(moved.move, still.move + amounts, atol=1e-5, rtol=0)
    bright = made.group.move_by(4 * images, amounts)  # of which some is clipped now, and the medians are not
    torch.testing.assert_close(made(bright).move, made(4 * images).move + amounts, atol=1e-5, rtol=0)
    assert (bright == 1).any()


def test_anchored_and_untrained_it_is_a_white_balance():
    made = Canonicalizer("temp-tint-exp", anchored=True).eval()
    images = torch.rand(4, 3, 31, 31) * torch.tensor([0.9, 0.5, 0.3]).view(3, 1, 1)
    torch.testing.assert_close(made(images).images.flatten(-2).median(-1).values, torch.full((4, 3), 0.5))


def test_anchored_it_learns_which_colours_are_usual_whatever_the_move():
    made, images = settled("temp-tint", anchored=True), torch.rand(4, 3, 32, 32)
    losses = [made.loss(made.group.move_by(images, a), a) for a in (far(made.group, 4, torch.float32) for _ in "ab")]
    torch.testing.assert_close(losses[0], losses[1], atol=1e-4, rtol=1e-4)
    level = made._anchor(images)[1]
    with torch.no_grad():
        made.shifts.amounts.copy_(-level.mean(0) / torch.tensor(made.reach))
    made.zero_grad()
    made.loss(images, torch.zeros(4, 2)).backward()
    assert made.shifts.amounts.grad.abs().max() < 1e-5  # nothing is closer to no move than the mean
    assert made(images).move.mean(0).abs().max() < 1e-5


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_where_there_is_nothing_to_measure_nothing_is_moved(value):
    images = torch.full((2, 3, 8, 8), value)
    canonical, move = Canonicalizer("temp-tint-exp", anchored=True).eval()(images)
    assert torch.equal(canonical, images)
    assert not move.any()


def test_anchors_that_hold_nothing_are_refused():
    for group in ("sat(action=clamp)", "hema-eosin"):
        with pytest.raises(ValueError, match="no measure that moves along exactly"):
            Canonicalizer(group, anchored=True)
    with pytest.raises(ValueError, match="hue4 is exact as it is"):
        Canonicalizer("hue4", anchored=True)
    with pytest.raises(ValueError, match="looks once"):
        Canonicalizer("temp", anchored=True, iterations=2)
    with pytest.raises(ValueError, match="anchored is True or False, got 'yes'"):
        Canonicalizer("temp", anchored="yes")


def test_a_second_look_finds_what_the_first_left():
    once, twice = Canonicalizer("exp", iterations=1), Canonicalizer("exp", iterations=2)

    class Half(torch.nn.Module):
        """Finds half of the exposure above a mid grey, in units of 1.5."""

        def forward(self, images):
            return images[:, :1, 0, 0].logit() / 1.5 / 2

    once.shifts = twice.shifts = Half()
    images = torch.full((1, 3, 8, 8), 0.5)
    bright = ec.group("exp3").move_by(images, [1.0])
    assert once(bright).move.item() == pytest.approx(0.5, abs=1e-5)
    assert twice(bright).move.item() == pytest.approx(0.75, abs=1e-5)


def test_a_frozen_one_stays_in_eval_mode():
    made = Canonicalizer("hue4").requires_grad_(False).eval()
    assert not made.train().training
    assert not any(module.training for module in made.modules())


def test_its_config_builds_it_anew():
    for made in (
        Canonicalizer("temp-tint", reach=(1, 2), size=16),
        Canonicalizer("hue4", "continuous", width=8),
        Canonicalizer("temp-tint", anchored=True),
    ):
        again = Canonicalizer(**made.config)
        assert again.config == made.config
        again.load_state_dict(made.state_dict())


def test_bytes_are_images_too():
    images = torch.randint(256, (2, 3, 32, 32), dtype=torch.uint8)
    made = settled("hue3")
    torch.testing.assert_close(made(images).images, made(images / 255).images)


def test_bad_arguments_are_refused():
    with pytest.raises(ValueError, match="temp3 is a window"):
        Canonicalizer("temp3", "discrete")
    with pytest.raises(ValueError, match=r"one family.*hue4\+temp3"):
        Canonicalizer("hue4+temp3")
    with pytest.raises(ValueError, match="3 or more"):
        Canonicalizer("hue2", "continuous")
    with pytest.raises(ValueError, match="unknown group 'hue'"):
        Canonicalizer("hue")
    with pytest.raises(ValueError, match="reach takes"):
        Canonicalizer("temp-tint", reach=(1.0,))
    with pytest.raises(ValueError, match="size must be"):
        Canonicalizer("hue4", size=0)
    with pytest.raises(ValueError, match=r"\[0, 1\]"):
        Canonicalizer("hue4").eval()(torch.full((1, 3, 8, 8), 7.0))
