"""Every colour in every precision: moves stay among colours, and are what they are in the highest precision."""

import pytest
import torch

import equicolor as ec
from equicolor.color import hsl_to_rgb, hsv_to_rgb, rgb_to_hsl, rgb_to_hsv, shift_hue
from equicolor.groups import registered_factors

DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
#: How far a result may be from that in float64: rounding to the precision, and what float32 in between adds.
CLOSE = {dtype: torch.finfo(dtype).eps + (8e-7 if dtype != torch.float64 else 1e-14) for dtype in DTYPES}


def colours(side, dtype):
    """A grid of side³ colours with all corners, ties and greys, and as random ones as fill the last row."""
    steps = torch.linspace(0, 1, side, dtype=torch.float64)
    grid = torch.cartesian_prod(steps, steps, steps).T
    missing = -grid.shape[1] % 1000 + 1000 * (side // 6)
    noise = torch.rand(3, missing, dtype=torch.float64, generator=torch.Generator().manual_seed(side))
    return torch.cat([grid, noise], dim=1).to(dtype).view(1, 3, -1, 1000)


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_colour_moves_to_a_colour_and_back(dtype, amount, record_property):
    images = colours(amount(20, 50, 110), dtype)
    exact = images.double()
    for degrees in (0, 120, 240, -120, 360, 37.5, 90, 180, 211.25, 299.99):
        moved = shift_hue(images, degrees)
        assert (moved.double() - shift_hue(exact, degrees)).abs().max() <= CLOSE[dtype]
        assert (moved.amax(1) - images.amax(1)).abs().max() <= CLOSE[dtype]
        assert (moved.amin(1) - images.amin(1)).abs().max() <= CLOSE[dtype]
    assert torch.equal(shift_hue(images, 360), images)
    assert torch.equal(shift_hue(shift_hue(images, 120), -120), images)
    if dtype in (torch.float32, torch.float64):
        for there, back in ((rgb_to_hsl, hsl_to_rgb), (rgb_to_hsv, hsv_to_rgb)):
            assert (back(there(images)) - images).abs().max() <= CLOSE[dtype]
    record_property("colours", images[0, 0].numel())


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("prefix", registered_factors())
def test_every_colour_is_lifted_to_colours(prefix, dtype, amount):
    group = ec.group(f"{prefix}3" + ("(direction=1:0.5:0)" if prefix == "gain" else ""))
    images = colours(amount(20, 50, 110), dtype)
    lifted = group.lift(images).unflatten(0, (3, -1))
    assert bool(lifted.isfinite().all())
    assert 0 <= float(lifted.min()) <= float(lifted.max()) <= 1
    unmoved = lifted[group.index(group.identity)]
    assert (unmoved.double() - images.double()).abs().max() <= CLOSE[dtype]
