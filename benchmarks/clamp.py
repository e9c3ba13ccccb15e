"""How far the paper's clamped shifts of saturation are from a group action, in the numbers of docs/method.md."""

import torch

import equicolor as ec


def on_greys(step: float, action: str) -> float:
    """By how much turning hue and moving saturation fail to commute on greys, at the most."""
    greys = torch.linspace(0, 1, 1001).expand(3, 1, -1)
    first = ec.color.shift_hue(ec.color.shift_saturation(greys, step, action=action), 90)
    second = ec.color.shift_saturation(ec.color.shift_hue(greys, 90), step, action=action)
    return float((first - second).abs().max())


def on_the_overlap(step: float, action: str) -> float:
    """The share of values on which the lift of moved colours is not the moved lift, by more than 0.001."""
    colours = torch.rand(16, 3, 32, 32, generator=torch.Generator().manual_seed(0))
    group = ec.Saturation(3, step=step, action=action)
    moved = ec.color.shift_saturation(colours, step, action=action)
    found, expected = (group.lift(images).unflatten(0, (3, -1)) for images in (moved, colours))
    return float(((found[:2] - expected[1:]).abs() > 1e-3).float().mean())


if __name__ == "__main__":
    for action in ("clamp", "exact"):
        for step in (0.05, 0.1, 0.2, 0.5):
            print(f"{action} {step}: greys {on_greys(step, action):.2g}, overlap {on_the_overlap(step, action):.1%}")
