"""How well a canonicaliser moves along with its images, as a curve over each direction of its group."""

from dataclasses import dataclass

import torch
from torch import Tensor

from equicolor.color import as_images
from equicolor.groups import Factor
from equicolor.measure import evaluating
from equicolor.nn import Canonicalizer

#: Windows are tried so many times as far as the canonicaliser was trained for.
_BEYOND = 1.5


@dataclass(frozen=True, eq=False)
class CanonicalCurve:
    """The errors of a canonicaliser in one direction, made by :func:`canonical_curves`.

    Attributes:
        factors: the factors of the canonicaliser's group.
        along: the number of the factor whose quantity was moved.
        reach: how far the canonicaliser was trained to look; of a circle, all around.
        amounts: how far it was moved, in the unit of the factor, ``(N,)``.
        errors: how far the move that was found is from what it should be, ``(N, B, factors)``, in their units.
    """

    factors: tuple[Factor, ...]
    along: int
    reach: float
    amounts: Tensor
    errors: Tensor

    @property
    def factor(self) -> Factor:
        """The factor that was moved."""
        return self.factors[self.along]

    def largest(self, beyond: bool = False) -> float:
        """The largest error of the direction itself.

        Args:
            beyond: look at amounts beyond the reach, instead of within.

        Returns:
            The error; NaN where there are no such amounts.
        """
        far = self.amounts.abs() > self.reach * (1 + 1e-6)
        errors = self.errors[far == beyond, :, self.along].abs()
        return float(errors.max()) if errors.numel() else float("nan")


def canonical_curves(canonicalizer: Canonicalizer, images: Tensor, steps: int = 31) -> list[CanonicalCurve]:
    """Measures how far a canonicaliser is from equivariant, over and beyond the range that it was trained for.

    An image is moved by an amount a; then the move that is found should be that of the image as it was, and a. What is
    missing, found(moved) - found(unmoved) - a, is the error: 0 for all amounts if it is equivariant, and then the
    canonical image is always the same, whichever it is.

    Args:
        canonicalizer: trained or not; tried in eval mode, and left as it was.
        images: images in [0, 1] or uint8, ``(B, C, H, W)``.
        steps: how many amounts: for circles from 0 to all of the period, for windows up to 1.5 times the reach to
            either side. Odd, so that no move is one of them.

    Returns:
        One curve for each factor of its group. Errors of angles are the shorter way round.

    Raises:
        ValueError: ``steps`` is not odd, or less than 3.

    Example:
        >>> curve = canonical_curves(Canonicalizer("hue4"), torch.rand(2, 3, 16, 16), steps=5)[0]
        >>> curve.amounts.tolist(), curve.largest() < 1e-3
        ([0.0, 90.0, 180.0, 270.0, 360.0], True)
    """
    if steps < 3 or steps % 2 == 0:
        raise ValueError(f"steps must be an odd number of at least 3, got {steps}")
    group, bounds = canonicalizer.group, iter(canonicalizer.reach)
    images = as_images(images, group.channels)
    curves = []
    with evaluating(canonicalizer):
        still = canonicalizer(images).move
        for along, factor in enumerate(group.factors):
            reach = factor.period if factor.period is not None else next(bounds)
            places = torch.arange(steps, dtype=still.dtype, device=still.device)
            if factor.closes:
                amounts = places * reach / (steps - 1)
            else:
                amounts = (places - steps // 2) * (_BEYOND * reach / (steps // 2))  # 0 is just that
            errors = []
            for amount in amounts:
                asked = torch.zeros_like(still)
                asked[:, along] = amount
                errors.append(canonicalizer(group.move_by(images, asked)).move - still - asked)
            curves.append(
                CanonicalCurve(group.factors, along, reach, amounts.cpu(), _shorter(torch.stack(errors), group.factors))
            )
    return curves


def _shorter(errors: Tensor, factors: tuple[Factor, ...]) -> Tensor:
    """Errors of angles as the shorter way round the circle."""
    each = [
        own if factor.period is None else own - factor.period * torch.round(own / factor.period)
        for own, factor in zip(errors.unbind(-1), factors, strict=True)
    ]
    return torch.stack(each, -1).cpu()
