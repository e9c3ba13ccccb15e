"""A network: its errors against moves are those of its curve, and what would help is told from where it breaks."""

import json
import math
from dataclasses import replace

import pytest
import torch
from torch import nn

import equicolor as ec
from equicolor.data import Held, load
from equicolor.trained import diagnose_model, evaluate_curve, plot_model
from equicolor.trained.diagnosis import tries, words_of_model


class Redness(nn.Module):
    """Tells images by how much red they have beside blue: light matters, and nothing else does."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(50.0))

    def forward(self, images):
        warm = (images[:, 0] - images[:, 2]).mean((1, 2))
        return self.scale * torch.stack([-warm, warm], 1)


class Never(nn.Module):
    """Does not look at colours."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.tensor(1.0))

    def forward(self, images):
        return self.scale * torch.stack([images.new_ones(len(images)), images.new_zeros(len(images))], 1)


@pytest.fixture(scope="module")
def two():
    """Reddish images of class 1 and bluish ones of class 0."""
    draws = torch.Generator().manual_seed(0)
    labels = torch.arange(100) % 2
    grey = 0.3 + 0.4 * torch.rand(100, 1, 8, 8, generator=draws).expand(-1, 3, -1, -1)
    images = ec.color.shift_temperature(grey, (0.6 * labels - 0.3).view(-1, 1, 1, 1))
    digits = load("digits", split="test").sample(100)
    return replace(
        digits, name="two", source=Held((255 * images).round().byte()), rows=torch.arange(100), gray=False,
        original_rows=torch.arange(100), labels=labels, classes=("blue", "red"),
    )  # fmt: skip


def hold(diagnosis, factor):
    return next(each for each in diagnosis.moves if each.factor == factor)


def test_errors_are_those_of_the_curve(two):
    diagnosis = diagnose_model(Redness(), two)
    curve = evaluate_curve(Redness(), two, "temp", tries()["temp"])
    assert hold(diagnosis, "temp").errors == {amount: each.error for amount, each in sorted(curve.items())}


def test_it_says_how_far_it_holds_and_which_class_breaks_first(two):
    diagnosis = diagnose_model(Redness(), two)
    temperature = hold(diagnosis, "temp")
    assert diagnosis.error == 0
    assert (temperature.low, temperature.high) == (-0.25, 0.25)
    assert abs(temperature.breaks_at) == 0.5
    assert temperature.classes == (("red",) if temperature.breaks_at < 0 else ("blue",))
    assert not temperature.everywhere
    assert temperature.worst == 0.5
    assert hold(diagnosis, "exp").everywhere
    assert hold(diagnosis, "exp").group is None


def test_the_group_covers_what_was_tried(two):
    temperature = hold(diagnose_model(Redness(), two), "temp")
    group = ec.group(temperature.group)
    farthest = max(group.amounts(element)[0] for element in group.elements)
    assert group.step <= 2 * temperature.high  # between two elements it holds
    assert farthest + temperature.high >= max(temperature.errors)


def test_the_family_that_breaks_is_named(two):
    diagnosis = diagnose_model(Redness(), two)
    assert "light" in diagnosis.recommendations
    advice = diagnosis.recommendations["light"]
    assert advice.how == "canonicalize"
    assert advice.canonicalize.startswith("temp")
    assert "temperature" in advice.text


def test_hue_is_covered_all_around(two):
    turned = hold(diagnose_model(Redness(), two), "hue")
    assert not turned.everywhere
    assert ec.group(turned.group).order >= 180 / max(turned.high, 30)
    assert min(turned.errors) > -180
    assert max(turned.errors) == 180


def test_a_network_that_sees_no_colour_holds_everywhere(two):
    diagnosis = diagnose_model(Never(), two)
    assert all(each.everywhere and each.breaks_at is None and not each.classes for each in diagnosis.moves)
    assert diagnosis.recommendations == {}


def test_images_that_are_shifted_already_are_noticed(two):
    class Cold(Redness):
        def forward(self, images):
            return super().forward(ec.color.shift_temperature(images, -0.6))

    diagnosis = diagnose_model(Cold(), two)
    assert diagnosis.error == 0.5
    assert diagnosis.better.best == 0 == hold(diagnosis, "temp").best
    said = words_of_model(diagnosis, "").lines
    assert any("seem to differ in colour from those of its training" in line for line in said)
    assert diagnose_model(Redness(), two).better is None


def test_of_few_images_nothing_is_said_to_hold(two):
    few = diagnose_model(Never(), two.sample(6))
    assert few.few
    assert few.allowed <= 1
    assert "too few to tell" in words_of_model(few, "").lines[0]
    assert not diagnose_model(Redness(), two).few


def test_chance_is_allowed_for(two):
    few, many = (diagnose_model(Never(), two.sample(count)) for count in (20, 100))
    assert few.allowed - few.error > many.allowed - many.error > 0.02


def test_all_of_it_is_fit_for_json(two):
    diagnosis = diagnose_model(Redness(), two)
    summary = json.loads(json.dumps(diagnosis.summary()))
    assert summary["recommendations"]["light"]["option"].startswith("--canonicalize temp")
    assert math.isclose(summary["moves"][0]["errors"]["0"], 0.0)
    assert len(plot_model(diagnosis).axes) >= len(diagnosis.moves)


def test_a_saved_network_is_opened_with_its_data(tmp_path):
    model = ec.create_model("z2cnn", width=4).eval()
    ec.save_pretrained(model, tmp_path / "model", classes=tuple("0123456789"))
    diagnosis = ec.diagnose(tmp_path / "model", data="hue_shift_digits:test_a", limit=20)
    assert diagnosis.count == 20
    assert diagnosis.data == "hue_shift_digits test_a"
    assert {each.factor for each in diagnosis.moves} == set(tries())
