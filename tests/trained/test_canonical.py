"""Curves of canonicalisers: how far the move that is found is from the one that was made."""

import csv
import math

import pytest
import torch
from PIL import Image

import equicolor as ec
from equicolor.cli import main
from equicolor.nn import Canonicalizer
from equicolor.train import fit
from equicolor.trained import canonical_curves, inspect_model, plot_canonical
from runs import SMALL


class KnownMoves(Canonicalizer):
    """Reads the temperature off a grey image, exactly, and says so many times as much, but no more than its reach."""

    def __init__(self, times=1.0, **options):
        super().__init__("temp-tint", **options)
        self.times = times

    def forward(self, images):
        red, green, blue = images.logit().mean((2, 3)).unbind(1)
        temperature, tint = (red - blue) / 2, (2 * green - red - blue) / 3
        bounds = torch.tensor(self.reach)
        move = (self.times * torch.stack([temperature, tint], 1)).clamp(-bounds, bounds)
        return super().forward(images)._replace(move=move)


def test_what_follows_every_move_has_no_error_within_reach_and_cannot_beyond():
    curves = canonical_curves(KnownMoves(reach=(1.0, 0.5)), torch.full((2, 3, 8, 8), 0.5), steps=7)
    assert [curve.factor.quantity for curve in curves] == ["temperature", "tint"]
    assert [curve.reach for curve in curves] == [1.0, 0.5]
    torch.testing.assert_close(curves[0].amounts, torch.linspace(-1.5, 1.5, 7))
    for curve in curves:
        assert curve.errors.shape == (7, 2, 2)
        assert curve.largest() < 1e-6
        assert curve.largest(beyond=True) == pytest.approx(0.5 * curve.reach, abs=1e-5)
        torch.testing.assert_close(curve.errors[-1, :, curve.along], torch.full((2,), -0.5 * curve.reach))


def test_the_error_is_what_is_missing_of_the_move():
    temperature, _ = canonical_curves(KnownMoves(0.5, reach=2.0), torch.full((1, 3, 8, 8), 0.5), steps=3)
    torch.testing.assert_close(temperature.errors[:, 0, 0], torch.tensor([1.5, 0.0, -1.5]))
    untrained, _ = canonical_curves(Canonicalizer("temp-tint"), torch.rand(1, 3, 8, 8), steps=5)
    torch.testing.assert_close(untrained.errors[:, 0, 0], -untrained.amounts)  # finds nothing
    assert untrained.errors[:, 0, 1].abs().max() == 0


@pytest.mark.parametrize("mode", ["discrete", "continuous"])
def test_a_circle_has_no_error_at_its_elements_and_at_most_half_a_step_of_a_discrete_one_between(mode):
    made = Canonicalizer("hue4", mode).double()
    for parameter in made.parameters():
        torch.nn.init.normal_(parameter, 0.1, 0.3)
    (curve,) = canonical_curves(made, torch.rand(4, 3, 16, 16, dtype=torch.float64), steps=17)
    assert (curve.amounts[0], curve.amounts[-1]) == (0, 360)
    assert curve.errors[::4].abs().max() < 1e-6
    assert 1 < curve.largest() <= 180  # the shorter way round
    assert math.isnan(curve.largest(beyond=True))
    if mode == "discrete":
        assert (curve.errors[2::4] % 90 - 45).abs().max() < 1e-6  # an element is all it can find


def test_it_is_left_as_it_was_and_odd_numbers_of_steps_are_asked_for():
    made = Canonicalizer("temp").train()
    canonical_curves(made, torch.rand(1, 3, 8, 8), steps=3)
    assert made.training
    with pytest.raises(ValueError, match="an odd number of at least 3, got 4"):
        canonical_curves(made, torch.rand(1, 3, 8, 8), steps=4)


def test_the_picture_has_a_panel_for_each_direction_and_lines_of_one_unit():
    curves = canonical_curves(Canonicalizer("hue3-sat"), torch.rand(2, 3, 8, 8), steps=3)
    hue, saturation = plot_canonical(curves, "a title").axes
    assert (hue.get_xlabel(), saturation.get_xlabel()) == ("hue shift in °", "saturation shift")
    assert [len(axes.lines) for axes in (hue, saturation)] == [2, 2]  # one for each image
    (light, _) = plot_canonical(canonical_curves(Canonicalizer("temp-tint"), torch.rand(1, 3, 8, 8), steps=3)).axes
    assert [line.get_linestyle() for line in light.lines] == ["-", "--"]


def test_inspection_finds_every_canonicaliser():
    whole = ec.canonicalize(ec.canonicalize(ec.create_model("z2cnn"), "hue4"), "temp-tint")
    seen = inspect_model(whole.eval(), torch.rand(3, 28, 28))
    assert sorted(curve.factor.quantity for curve in seen.curves) == ["hue", "temperature", "tint"]
    assert not inspect_model(ec.create_model("z2cnn"), torch.rand(3, 28, 28)).curves


def test_inspect_draws_and_writes_the_curves_of_a_canonicalised_run(tmp_path, capsys):
    recipe = SMALL.replace(group=None, canonicalize="temp-tint", canonicalizer_steps=3, epochs=1, train_size=32)
    fit(recipe, tmp_path / "run", quiet=True)
    image, out = tmp_path / "image.png", tmp_path / "seen.png"
    Image.fromarray((255 * torch.rand(28, 28, 3)).byte().numpy()).save(image)
    assert main(["inspect", str(tmp_path / "run"), str(image), "--out", str(out)]) == 0
    with open(tmp_path / "seen-canonicaliser.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * 31 * 2
    amounts = [float(row["amount"]) for row in rows if row["moved"] == row["found"] == "temperature"]
    assert (amounts[0], amounts[15], amounts[-1]) == (-2.25, 0, 2.25)  # 1.5 times what it was trained for
    assert all(float(row["error"]) == 0 for row in rows if float(row["amount"]) == 0)
    with Image.open(tmp_path / "seen-canonicaliser.png") as picture:
        assert picture.width > 800
    assert "how far the move it finds" in " ".join(capsys.readouterr().out.split())
