"""Augmentation: what each step does, and that its draws are functions of seed and step."""

import pytest
import torch

from equicolor import color
from equicolor.data import Augment
from equicolor.data.augment import _STEPS, PRESETS, _jittered, steps_of
from equicolor.groups import factor_kind, registered_factors

pytest.importorskip("kornia")


def images(count: int = 16, size: int = 32) -> torch.Tensor:
    return torch.rand(count, 3, size, size, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize(
    "pipeline", [*PRESETS, *_STEPS, *_jittered(), "photo+resnet-aug", "cifar+resnet-gray", "cifar+color-jitter"]
)
@pytest.mark.parametrize("training", [True, False])
def test_every_pipeline_keeps_images_rgb_in_the_unit_interval(pipeline: str, training: bool) -> None:
    augment = Augment(pipeline, 28).train(training)
    size = (
        28
        if {"resized-crop", "center-crop"} & set(steps_of(pipeline)) or ("crop" in steps_of(pipeline) and training)
        else 32
    )
    result = augment(images(), step=1)
    assert result.shape == (16, 3, size, size)
    color.check_range(result)
    assert result.min() >= 0
    assert result.max() <= 1


def test_a_draw_is_a_function_of_seed_and_step() -> None:
    augment, batch = Augment("cifar+resnet-aug+color-jitter", 32, seed=5), images()
    at_three = augment(batch, step=3)
    torch.manual_seed(99)  # whatever else was drawn
    assert torch.equal(Augment("cifar+resnet-aug+colour-jitter", 32, seed=5)(batch, step=3), at_three)
    for other in (augment(batch, step=4), Augment(augment.pipeline, 32, seed=6)(batch, step=3)):
        assert not torch.equal(other, at_three)
    assert not torch.equal(Augment(augment.pipeline, 32, seed=5, rank=1)(batch, step=3), at_three)


@pytest.mark.parametrize("step", ["crop", "flip", "resized-crop", "hue-jitter", "color-jitter"])
def test_each_sample_has_its_own_draw(step: str) -> None:
    same = images(1).expand(32, -1, -1, -1)
    assert len(Augment(step, 32)(same).flatten(1).unique(dim=0)) >= (2 if step == "flip" else 20)


def test_a_resumed_run_goes_on_as_if_it_had_not_stopped() -> None:
    def run(steps: range) -> list[torch.Tensor]:
        augment = Augment("photo+resnet-aug", 24, seed=1)
        return [augment(images(), step) for step in steps]

    whole, resumed = run(range(6)), run(range(3, 6))
    assert all(torch.equal(one, other) for one, other in zip(whole[3:], resumed, strict=True))


def test_augmenting_leaves_other_randomness_alone() -> None:
    torch.manual_seed(1)
    expected = torch.rand(3)
    torch.manual_seed(1)
    Augment("cifar+resnet-aug", 32)(images())
    assert torch.equal(torch.rand(3), expected)


def test_flips_mirror_about_half_of_the_samples() -> None:
    batch = images(400, 4)
    flipped = Augment("flip", 4)(batch)
    mirrored = (flipped == batch.flip(-1)).all((1, 2, 3))
    kept = (flipped == batch).all((1, 2, 3))
    assert (mirrored ^ kept).all()
    assert 150 < mirrored.sum() < 250


def test_crops_are_whole_pixel_shifts_into_black_padding() -> None:
    batch = images(64, 32)
    cropped = Augment("crop", 32)(batch)
    padded = torch.nn.functional.pad(batch, (4, 4, 4, 4))
    places = set()
    for image, source in zip(cropped, padded, strict=True):
        windows = source.unfold(1, 32, 1).unfold(2, 32, 1).movedim(0, 2)  # 9 × 9 places
        match = (windows == image).all(-1).all(-1).all(-1).nonzero()
        assert len(match) == 1
        places.add(tuple(match[0].tolist()))
    assert len(places) > 30
    assert {y for y, _ in places} == {x for _, x in places} == set(range(9))


def test_hue_jitter_turns_each_sample_by_up_to_a_quarter_of_the_circle() -> None:
    red = torch.tensor([1.0, 0.0, 0.0]).view(1, 3, 1, 1).expand(500, -1, -1, -1)
    hue = color.rgb_to_hsl(Augment("resnet-aug", 1)(red))[:, 0, 0, 0]
    turned = torch.where(hue > 180, hue - 360, hue)
    assert turned.abs().max() <= 90 + 1e-3
    assert turned.min() < -80
    assert turned.max() > 80
    assert len(turned.unique()) > 400


@pytest.mark.parametrize(("step", "channel"), [("saturation-jitter", 1), ("luminance-jitter", 2)])
def test_jitter_moves_one_quantity_by_up_to_its_reach_and_no_other(step: str, channel: int) -> None:
    brown = color.hsl_to_rgb(torch.tensor([30.0, 0.5, 0.5]).view(1, 3, 1, 1)).expand(500, -1, -1, -1)
    hsl = color.rgb_to_hsl(Augment(step, 1)(brown))[:, :, 0, 0]
    moved = torch.logit(hsl[:, channel])  # from logit 0
    assert 1.1 < moved.max() <= 1.2 + 1e-3
    assert -1.2 - 1e-3 <= moved.min() < -1.1
    assert torch.allclose(hsl[:, 3 - channel], torch.tensor(0.5), atol=1e-3)
    assert torch.allclose(hsl[:, 0], torch.tensor(30.0), atol=0.1)


def test_gray_has_equal_channels_in_training_and_testing() -> None:
    for training in (True, False):
        gray = Augment("resnet-gray", 32).train(training)(images())
        assert torch.equal(gray[:, 0], gray[:, 1])
        assert torch.equal(gray[:, 0], gray[:, 2])


def test_testing_takes_the_centre_of_photographs() -> None:
    batch = images(2, 256)
    assert torch.equal(Augment("photo", 224).eval()(batch), batch[..., 16:240, 16:240])
    larger = Augment("photo", 224).eval()(images(2, 300))
    assert larger.shape == (2, 3, 224, 224)


def test_masks_move_with_the_pixels() -> None:
    batch = images(32, 32)
    masks = (batch[:, 0] > 0.5).long()
    moved, moved_masks = Augment("cifar", 32)(batch, 2, masks)
    inside = moved.sum(1) > 0  # not the padding
    assert torch.equal((moved[:, 0] > 0.5)[inside], moved_masks[inside] == 1)
    assert moved_masks.dtype == torch.int64
    assert not torch.equal(moved_masks, masks)
    untouched = Augment("resnet-aug", 32)(batch, 2, masks)[1]
    assert torch.equal(untouched, masks)


@pytest.mark.parametrize("pipeline", ["cifar", "cifar+resnet-aug", "photo+flip", "gray+crop"])
def test_bytes_give_what_floats_give(pipeline: str) -> None:
    batch = (images() * 255).to(torch.uint8)
    augment = Augment(pipeline, 32)
    assert torch.equal(augment(batch, 5), augment(batch.float() / 255, 5))


def test_bytes_are_taken_as_images() -> None:
    whole = Augment("none", 4)(torch.full((1, 3, 4, 4), 255, dtype=torch.uint8))
    assert whole.dtype == torch.float32
    assert whole.max() == 1


def test_an_augmentation_moves_with_its_model() -> None:
    model = torch.nn.Sequential(Augment("cifar+gray", 32), torch.nn.Conv2d(3, 4, 3)).double()
    assert model(images().double()).dtype == torch.float64


def test_unknown_steps_and_wrong_shapes_are_explained() -> None:
    with pytest.raises(ValueError, match=r"unknown augmentation 'cfiar' in 'cfiar\+gray'"):
        Augment("cfiar+gray", 32)
    with pytest.raises(ValueError, match="expected a batch"):
        Augment("flip", 32)(torch.rand(3, 32, 32))


@pytest.mark.parametrize("prefix", [prefix for prefix in registered_factors() if prefix != "gain"])
def test_there_is_jitter_of_every_factor_by_up_to_its_reach(prefix: str) -> None:
    factor = factor_kind(prefix)(1)
    batch = images(size=8)
    moved = Augment(f"{prefix}-jitter", 8, seed=5)(batch, step=3)
    amounts = [step * factor.reach / 100 for step in range(-100, 101)]
    nearest = torch.stack([(factor.move_by(batch, [by]) - moved).abs().amax((1, 2, 3)) for by in amounts]).amin(0)
    assert nearest.max() < 0.05  # every image is close to one that was moved by so much
    assert moved.sub(batch).abs().amax((1, 2, 3)).max() > 0.02
    assert torch.equal(Augment(f"{prefix}-jitter", 8).eval()(batch), batch)


def test_stain_jitter_is_jitter_of_each_dye() -> None:
    assert steps_of("crop+hed-jitter") == ("crop", "hema-jitter", "eosin-jitter", "dab-jitter")
    assert steps_of("light-jitter") == ("temp-jitter", "tint-jitter")
    with pytest.raises(ValueError, match=r"unknown augmentation 'gain-jitter'.*temp-jitter"):
        steps_of("gain-jitter")


def test_images_are_brought_to_size_once() -> None:
    with pytest.raises(ValueError, match="brings images to size twice"):
        Augment("photo+centre-crop", 8)
