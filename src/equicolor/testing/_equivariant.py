"""assert_equivariant: the test that users put into their own test suites."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from equicolor.baselines import CEConvLift
from equicolor.groups import Element, Group
from equicolor.groups import group as as_group
from equicolor.measure import Inputs, equivariance_error, evaluating
from equicolor.nn import Lift
from equicolor.testing._inputs import kind_of_inputs, parameter_kind, random_inputs

_TOLERANCE = {torch.float64: 1e-10, torch.float32: 1e-5, torch.bfloat16: 5e-2, torch.float16: 1e-2}


def assert_equivariant(
    module: Callable[[Tensor], Tensor],
    group: Group | str,
    inputs: Tensor | None = None,
    *,
    acts_on: Inputs | None = None,
    tolerance: float | None = None,
    seed: int = 0,
) -> None:
    """Raises AssertionError unless ``module`` is equivariant to every element of ``group``.

    Results on the group must move with it, pooled results must not move at all; both to ``tolerance``, as measured by
    :func:`equicolor.equivariance_error`. The message names the element, the size of the violation and, for an
    ``nn.Module``, the first layer that shows it.

    A truncated group (saturation, luminance) is a window of an infinite one, and a convolution on the window cannot
    know what stands outside of it: several layers together are only approximately equivariant to its moves, by as much
    as :func:`equicolor.equivariance_error` says. Exact, and therefore asserted, is each layer by itself where the edge
    of the window cannot be seen: on features that a move keeps inside. What a forward does between its layers is then
    judged by the hue moves of a product alone. A function of images without a lifting layer is judged as a whole.

    Args:
        module: any function of a batch; of images if there is a lifting layer in it, of features on the group if not.
        group: the group, or its name.
        inputs: what to try it on; by default two random images of 32×32, or features with the channels of the first
            layer that has any.
        acts_on: ``"images"`` or ``"features"``, where the rule above does not fit.
        tolerance: the largest relative error; by default 1e-5 in float32, 1e-10 in float64.
        seed: of the random inputs.

    >>> from equicolor.nn import GroupConv2d, GroupPool, Lift
    >>> network = nn.Sequential(Lift("hue4"), GroupConv2d("hue4", 3, 8, 3), nn.ReLU(), GroupPool("hue4"))
    >>> assert_equivariant(network, "hue4")
    """
    group = as_group(group)
    dtype = parameter_kind(module)[1]
    if acts_on is None:
        acts_on = kind_of_inputs(module)
    if inputs is None:
        inputs = random_inputs(module, group, acts_on, seed)
    if tolerance is None:
        tolerance = _TOLERANCE.get(dtype, 1e-5)

    _assert_whole(module, inputs, group, acts_on, tolerance, [e for e in group if _stays_inside(e, group)])
    if group.is_truncated and not _assert_layers(module, inputs, group, acts_on, tolerance):
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
        raise AssertionError(_message(_name(module), group, elements[worst], errors[worst], tolerance) + where)


class _Call(NamedTuple):
    """A layer with the tensor it was called on, its other arguments, and how many rows it returned."""

    name: str
    layer: Callable[..., Tensor]
    inputs: Tensor
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    rows_returned: int


def _assert_layers(
    module: Callable[[Tensor], Tensor], inputs: Tensor, group: Group, acts_on: Inputs, tolerance: float
) -> bool:
    """Each layer by itself, on its own inputs where the move keeps them inside the window and zero elsewhere.

    Returns whether that says anything of the module: not so for a function of images that nothing lifts.
    """
    judged = False
    rows = inputs.shape[0] * (group.order if acts_on == "images" else 1)
    for call in _layer_calls(module, inputs, rows):
        lifts = isinstance(call.layer, (Lift, CEConvLift))
        if not lifts and call.inputs.shape[0] != rows:
            continue  # before the lift and after the pooling there is no group

        def layer(x: Tensor, call: _Call = call) -> Tensor:
            return call.layer(x, *call.args, **call.kwargs)

        for element in group:
            tried = call.inputs if lifts else _inside(call.inputs, element, group)
            kind: Inputs = "images" if lifts else "features"
            with evaluating(call.layer):
                error = equivariance_error(layer, tried, group, acts_on=kind, elements=[element]).item()
            if not error <= tolerance:
                raise AssertionError(_message(call.name, group, element, error, tolerance))
        judged = judged or lifts or acts_on == "features"
    return judged


def _layer_calls(module: Callable[[Tensor], Tensor], inputs: Tensor, rows: int) -> list[_Call]:
    """The calls of the layers in ``module``; what has no layers is one itself.

    So is a module from features to features, of ``rows`` rows, that hands other shapes to its own layers: it rearranges
    the group, and only as a whole can it be judged.
    """
    if not isinstance(module, nn.Module):
        return [_Call(_name(module), module, inputs, (), {}, rows)]
    calls: dict[str, _Call] = {}
    handles = []
    for path, layer in module.named_modules():

        def before(layer: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], path: str = path) -> None:
            if args and isinstance(args[0], Tensor) and args[0].dim() > 0:
                name = f"layer {path!r} ({_name(layer)})" if path else _name(layer)
                calls[path] = _Call(name, layer, args[0].clone(), args[1:], kwargs, 0)

        def after(layer: nn.Module, args: tuple[Any, ...], output: Any, path: str = path) -> None:
            if path in calls and isinstance(output, Tensor) and output.dim() > 0:
                calls[path] = calls[path]._replace(rows_returned=output.shape[0])

        handles.append(layer.register_forward_pre_hook(before, with_kwargs=True))
        handles.append(layer.register_forward_hook(after))
    try:
        with evaluating(module):
            module(inputs)
    finally:
        for handle in handles:
            handle.remove()

    chosen: dict[str, _Call] = {}
    for path, call in sorted(calls.items()):  # a module sorts before its own layers
        prefix = f"{path}." if path else ""
        own = [other for name, other in calls.items() if name != path and name.startswith(prefix)]
        rearranges = call.inputs.shape[0] == call.rows_returned == rows and any(c.inputs.shape[0] != rows for c in own)
        inside_another = any(path != name and path.startswith(f"{name}." if name else "") for name in chosen)
        if (not own or rearranges) and not inside_another:
            chosen[path] = call
    return list(chosen.values())


def _inside(features: Tensor, element: Element, group: Group) -> Tensor:
    """``features`` on the elements that ``element`` keeps inside the window, zero on the others."""
    kept = group.overlap(group.inverse(element)).to(features.device)
    rows = kept.repeat_interleave(features.shape[0] // group.order)
    return features * rows.view(-1, *[1] * (features.dim() - 1))


def _stays_inside(element: Element, group: Group) -> bool:
    return bool(group.overlap(element).all())


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
            kind = _name(layers[name.partition("#")[0]])
            return f" It first shows after layer {name!r} ({kind}), by {error.item():.2e}."
    return ""


def _message(what: str, group: Group, element: Element, error: float, tolerance: float) -> str:
    return (
        f"{what} is not equivariant to {group}: element {element} ({group.describe(element)}) violates it by a "
        f"relative error of {error:.2e}, above the tolerance of {tolerance:.0e}."
    )


def _name(module: object) -> str:
    return type(module).__name__ if isinstance(module, nn.Module) else getattr(module, "__name__", repr(module))
