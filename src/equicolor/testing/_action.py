"""assert_action: whether the moves of a factor are an action, and as well-behaved as networks need them."""

from typing import NamedTuple

import torch
from torch import Tensor

from equicolor.groups import Group
from equicolor.groups import group as as_group

_TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-10}
_IMAGES, _SIDE = 4, 8


def assert_action(
    group: Group | str,
    images: Tensor | None = None,
    *,
    tolerance: dict[torch.dtype, float] | None = None,
    seed: int = 0,
) -> None:
    """Asserts that the moves of a factor, or a product, are an action of the real numbers on images.

    In float32 and float64: moving by 0 changes nothing; moving by a and then by b is moving by a + b; moving back by -a
    undoes it; what closes is back after its period; a lift holds these same moves; amounts for each image are each
    image by its own; the level of a window, where it has one, moves along; and the moves do move something.
    On images of any colour, black, white and greys too: results are finite and in [0, 1], and so are finite the
    gradients of images and amounts.

    Args:
        group: a factor, of your own or not, a product, or a name.
        images: those on which it is to be exact, ``(B, C, H, W)`` in [0, 1] and float64; by default random ones, as
            :meth:`equicolor.groups.Factor.domain` makes them.
        tolerance: the largest difference of a value; by default 1e-5 in float32, 1e-10 in float64.
        seed: what random images and amounts depend on.

    Example:
        >>> import equicolor as ec
        >>> assert_action(ec.Temperature(3))
    """
    group = as_group(group)
    generator = torch.Generator().manual_seed(seed)
    if images is None:
        noise = torch.rand((_IMAGES, group.channels or 3, _SIDE, _SIDE), generator=generator, dtype=torch.float64)
        images = group.in_domain(noise)
    a, b = _amounts(group, len(images), generator), _amounts(group, len(images), generator)
    for dtype, close in (tolerance or _TOLERANCE).items():
        case = _Case(group, dtype, close)
        _assert_exact(case, images.to(dtype), a.to(dtype), b.to(dtype))
        anything = torch.rand(images.shape, generator=generator, dtype=torch.float64).to(dtype)
        for amounts in (a, -a, torch.zeros_like(a)):
            _assert_safe(case, _with_corners(anything), amounts.to(dtype))


class _Case(NamedTuple):
    group: Group
    dtype: torch.dtype
    close: float

    def check(self, what: str, got: Tensor, expected: Tensor) -> None:
        difference = (got - expected).abs().max().item() if got.numel() else 0.0
        if not difference <= self.close:
            raise AssertionError(
                f"{self.group} is no action: in {self.name}, {what}, but values differ by up to {difference:.2e}, more "
                f"than {self.close:.0e}. If that is so for some colours only, say for which it holds, in domain()."
            )

    def require(self, holds: bool, what: str) -> None:
        if not holds:
            raise AssertionError(f"{self.group}: in {self.name}, {what}")

    @property
    def name(self) -> str:
        return str(self.dtype).removeprefix("torch.")


def _amounts(group: Group, count: int, generator: torch.Generator) -> Tensor:
    """Amounts for each image: anywhere on a circle, within the reach of a window's elements."""
    scales = [factor.period or 2 * max(map(abs, map(factor.amount, (*factor.offsets, 1)))) for factor in group.factors]
    evenly = torch.rand((count, len(scales)), generator=generator, dtype=torch.float64) - 0.5
    return evenly * torch.tensor(scales, dtype=torch.float64)


def _assert_exact(case: _Case, images: Tensor, a: Tensor, b: Tensor) -> None:
    group, move = case.group, case.group.move_by
    try:
        there = move(images, a)
    except (TypeError, ValueError, RuntimeError) as error:
        raise AssertionError(
            f"{group}: move(images, amount) takes a number, and a tensor of one for each image, (*, 1, 1, 1); given "
            f"such a tensor it raised {type(error).__name__}: {error}"
        ) from error
    case.require(there.dtype == images.dtype, f"images became {there.dtype}")
    low, high = there.min().item(), there.max().item()
    case.require(
        not (low < -case.close or high > 1 + case.close), f"results leave [0, 1]: from {low:.4g} to {high:.4g}"
    )
    case.require((there - images).abs().max().item() > case.close, "moves change nothing, of all the images tried")
    case.check("moving by 0 should change nothing", move(images, [0.0] * len(group.factors)), images)
    case.check("moving by a and then by b should be moving by a + b", move(there, b), move(images, a + b))
    case.check("moving by a and then by -a should change nothing", move(there, -a), images)
    for place, factor in enumerate(group.factors):
        if factor.period is not None:
            once = [0.0] * len(group.factors)
            once[place] = factor.period
            case.check(f"moving by the period of {factor.quantity} should change nothing", move(images, once), images)
    for image, amounts, moved in zip(images, a, there, strict=True):
        alone = "images moved by amounts of their own should be each image moved by its own"
        case.check(alone, moved, move(image, amounts.tolist()))
    windows = {place: factor for place, factor in enumerate(group.factors) if not factor.closes}
    if windows and len(group.stages) == 1:
        level, along = (group.factors[0].family.level(list(windows.values()), each) for each in (images, there))
        if level is not None and along is not None:
            case.check("the level of moved images should be moved by as much", along, level + a[:, list(windows)])
    lifted = torch.unflatten(group.lift(images), 0, (group.order, -1))
    for element, own in zip(group, lifted, strict=True):
        doing = f"element {element} of the lift should be the move that does it ({group.describe(element)})"
        case.check(doing, own, move(images, group.amounts(element)))
        case.check(
            f"element {element} alone should be what it is in the lift", group.act_on_images(element, images), own
        )


def _assert_safe(case: _Case, images: Tensor, amounts: Tensor) -> None:
    images, amounts = images.clone().requires_grad_(), amounts.clone().requires_grad_()
    moved = case.group.move_by(images, amounts)
    case.require(bool(moved.isfinite().all()), "some results are not finite")
    low, high = moved.min().item(), moved.max().item()
    case.require(low >= -case.close and high <= 1 + case.close, f"results leave [0, 1]: from {low:.4g} to {high:.4g}")
    torch.autograd.backward(moved.square().sum())
    for what, gradient in (("images", images.grad), ("amounts", amounts.grad)):
        case.require(gradient is not None, f"the {what} get no gradient")
        case.require(gradient is not None and bool(gradient.isfinite().all()), f"the gradient of {what} is not finite")


def _with_corners(images: Tensor) -> Tensor:
    """Black, white, grey and fully saturated pixels beside the others."""
    images = images.clone()
    images[..., 0, 0], images[..., 0, 1], images[..., 0, 2] = 0, 1, 0.5
    images[..., 1, :] = images[..., 1, :].round()
    return images
