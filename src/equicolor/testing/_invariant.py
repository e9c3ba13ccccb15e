"""assert_invariant: the test of a whole network whose results should not change with the colours."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from equicolor.groups import Group
from equicolor.groups import group as as_group
from equicolor.measure import evaluating
from equicolor.testing._inputs import TOLERANCE, parameter_kind
from equicolor.testing._windows import name_of


def assert_invariant(
    model: Callable[[Tensor], Tensor],
    group: Group | str,
    images: Tensor | None = None,
    *,
    tolerance: float | None = None,
    seed: int = 0,
) -> None:
    """Asserts that the results of a network are the same under every element of a group.

    Each image is judged by itself, by ‖f(φ(g, x)) - f(x)‖ / ‖f(φ(g, x)) + f(x)‖. A module is tried in eval mode and
    left as it was.

    Args:
        model: any function from a batch of images to a tensor whose first axis is the batch.
        group: the group, or its name.
        images: what to try it on; by default four random images of 32×32, of different colours.
        tolerance: the largest relative error; by default 1e-5 in float32, 1e-10 in float64.
        seed: what the random images depend on.

    Raises:
        AssertionError: they are not; the message names the element, the image and the size of the worst violation.

    Example:
        >>> from equicolor.models import canonicalize, create_model
        >>> assert_invariant(canonicalize(create_model("z2cnn"), "hue4"), "hue4")
    """
    group = as_group(group)
    device, dtype = parameter_kind(model)
    if images is None:
        generator = torch.Generator().manual_seed(seed)
        shape = (4, group.channels or 3)
        noise = torch.rand(*shape, 32, 32, generator=generator, dtype=torch.float64)
        images = group.in_domain(noise * torch.rand(*shape, 1, 1, generator=generator, dtype=torch.float64))
        images = images.to(device, dtype)
    tolerance = TOLERANCE.get(dtype, 1e-5) if tolerance is None else tolerance
    worst, message = -1.0, ""
    with evaluating(model):
        still = _result(model, images)
        for element in group:
            errors = _errors(_result(model, group.act_on_images(element, images)), still)
            number = int(errors.nan_to_num(nan=math.inf).argmax())
            error = errors[number].item()
            if not error <= max(worst, tolerance):
                worst = math.inf if math.isnan(error) else error
                message = (
                    f"{name_of(model)} is not invariant to {group}: element {element} ({group.describe(element)}) "
                    f"changes its result for image {number} by a relative error of {error:.2e}, above the tolerance of "
                    f"{tolerance:.0e}."
                )
    if message:
        raise AssertionError(message)


def _result(model: Callable[[Tensor], Tensor], images: Tensor) -> Tensor:
    result = model(images)
    if not isinstance(result, Tensor):
        raise TypeError(f"expected a model that returns one tensor, got {type(result).__name__}: hand over a function")
    if result.dim() == 0 or len(result) != len(images):
        raise ValueError(f"expected a result for each of {len(images)} images, got shape {tuple(result.shape)}")
    return result.cpu().double().flatten(1) if result.dim() > 1 else result.cpu().double()[:, None]


def _errors(moved: Tensor, still: Tensor) -> Tensor:
    difference, total = (moved - still).norm(dim=1), (moved + still).norm(dim=1)
    return torch.where(difference == 0, 0.0, difference / total)
