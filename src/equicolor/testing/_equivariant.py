"""assert_equivariant: the test that users put into their own test suites."""

import math
from collections.abc import Callable

from torch import Tensor, nn

from equicolor.groups import Element, Group
from equicolor.groups import group as as_group
from equicolor.measure import Inputs, equivariance_error
from equicolor.testing._inputs import TOLERANCE, kind_of_inputs, parameter_kind, random_inputs
from equicolor.testing._windows import Violation, first_violation, name_of


def assert_equivariant(
    module: Callable[[Tensor], Tensor],
    group: Group | str,
    inputs: Tensor | None = None,
    *,
    acts_on: Inputs | None = None,
    tolerance: float | None = None,
    seed: int = 0,
) -> None:
    """Asserts that a module is equivariant to every element of a group.

    Results on the group must move with it, pooled results must not move at all; both to ``tolerance``, as measured by
    :func:`equicolor.equivariance_error`. The message names the element, the size of the violation and, for an
    ``nn.Module``, the first layer that shows it.

    A truncated group (saturation, light, …) is a window of an infinite one, and a convolution on the window cannot
    know what stands outside of it: several layers together are only approximately equivariant to its moves, by as much
    as :func:`equicolor.equivariance_error` says. Exact, and therefore asserted, is each layer by itself, and what the
    module does between one layer and the next, where the edge of the window cannot be seen: on features that a move
    keeps inside. A function of images without a lifting layer is judged as a whole. A layer that leaves a smaller
    window, a valid convolution or one of your own with an ``out_group``, is judged on what the windows before and after
    a move share. Layers that make up what is outside, with ``window="rescale"`` or ``"replicate"``, fail.

    Args:
        module: any function of a batch; of images if there is a lifting layer in it, of features on the group if not.
        group: the group, or its name; of more than one element, since the identity alone shows nothing.
        inputs: what to try it on; by default two random images of 32×32 on which the group's moves are exact, or
            features with the channels of the first layer that has any.
        acts_on: ``"images"`` or ``"features"``, where the rule above does not fit.
        tolerance: the largest relative error; by default 1e-5 in float32, 1e-10 in float64.
        seed: what the random inputs depend on.

    Raises:
        AssertionError: it is not equivariant.
        ValueError: the group, or what a layer leaves of it, is too small to tell.

    Example:
        >>> from equicolor.nn import GroupConv2d, GroupPool, Lift
        >>> network = nn.Sequential(Lift("hue4"), GroupConv2d("hue4", 3, 8, 3), nn.ReLU(), GroupPool("hue4"))
        >>> assert_equivariant(network, "hue4")
    """
    group = as_group(group)
    if group.order < 2:
        raise ValueError(
            f"{group} has no element but the identity, under which everything is equivariant: take another"
        )
    dtype = parameter_kind(module)[1]
    if acts_on is None:
        acts_on = kind_of_inputs(module)
    if inputs is None:
        inputs = random_inputs(module, group, acts_on, seed)
    if tolerance is None:
        tolerance = TOLERANCE.get(dtype, 1e-5)

    _assert_whole(module, inputs, group, acts_on, tolerance, [e for e in group if bool(group.overlap(e).all())])
    if not group.is_truncated:
        return
    found = first_violation(module, inputs, group, acts_on, tolerance)
    if isinstance(found, Violation):
        raise AssertionError(_message(found.where, group, found.element, found.error, tolerance))
    if not found:
        _assert_whole(module, inputs, group, acts_on, tolerance, list(group))


def _assert_whole(
    module: Callable[[Tensor], Tensor],
    inputs: Tensor,
    group: Group,
    acts_on: Inputs,
    tolerance: float,
    elements: list[Element],
) -> None:
    """The module from its inputs to its result, under ``elements``."""
    errors = equivariance_error(module, inputs, group, acts_on=acts_on, elements=elements).tolist()
    worst = max(range(len(elements)), key=lambda index: (math.isnan(errors[index]), errors[index]))
    if not errors[worst] <= tolerance:
        where = _first_violation(module, inputs, group, acts_on, elements[worst], tolerance)
        raise AssertionError(_message(name_of(module), group, elements[worst], errors[worst], tolerance) + where)


def _first_violation(
    module: Callable[[Tensor], Tensor],
    inputs: Tensor,
    group: Group,
    acts_on: Inputs,
    element: Element,
    tolerance: float,
) -> str:
    if not isinstance(module, nn.Module) or not any(module.children()):
        return ""
    layers = dict(module.named_modules())
    measured = equivariance_error(module, inputs, group, layers=True, acts_on=acts_on, elements=[element])
    for name, error in measured.items():
        if name != "output" and not error.item() <= tolerance:
            kind = name_of(layers[name.partition("#")[0]])
            return f" It first shows after layer {name!r} ({kind}), by {error.item():.2e}."
    return ""


def _message(what: str, group: Group, element: Element, error: float, tolerance: float) -> str:
    return (
        f"{what} is not equivariant to {group}: element {element} ({group.describe(element)}) violates it by a "
        f"relative error of {error:.2e}, above the tolerance of {tolerance:.0e}."
    )
