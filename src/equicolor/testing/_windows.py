"""What is exact on a window of a group: each layer by itself, and what a module does between its layers.

Both are tried on features that a move keeps inside the window, and that are zero elsewhere, as they are outside it. A
layer that leaves a smaller window, its ``out_group``, as a valid convolution does, takes nothing for what is outside:
it is tried on any features, and judged where its window and the moved one overlap.
"""

from collections import defaultdict
from collections.abc import Callable, Container
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from equicolor.baselines import CEConvLift
from equicolor.groups import Element, Group
from equicolor.measure import (
    Inputs,
    element_error,
    equivariance_error,
    evaluating,
    groups_by_rows,
    relative_error,
)
from equicolor.nn import Lift


class Violation(NamedTuple):
    """What is not equivariant, to which element, and by how much."""

    where: str
    element: Element
    error: float


class _Call(NamedTuple):
    """A layer with the tensor it was called on, its other arguments, and what it returned."""

    path: str
    name: str
    layer: Callable[..., Tensor]
    inputs: Tensor
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    output: Any

    @property
    def lifts(self) -> bool:
        return isinstance(self.layer, (Lift, CEConvLift))

    @property
    def rows_returned(self) -> int:
        return self.output.shape[0] if isinstance(self.output, Tensor) and self.output.dim() else 0


def first_violation(
    module: Callable[[Tensor], Tensor], inputs: Tensor, group: Group, acts_on: Inputs, tolerance: float
) -> Violation | bool:
    """The first violation, by a layer or between layers, under any element; else whether that says anything at all.

    It does not for a function of images that nothing lifts.
    """
    groups = groups_by_rows(module, group, inputs.shape[0] // (1 if acts_on == "images" else group.order))
    calls = _layer_calls(module, inputs, groups)
    judged = False
    for call in calls:
        if not call.lifts and call.inputs.shape[0] not in groups:
            continue  # before the lift and after the pooling there is no group
        own = group if call.lifts else groups[call.inputs.shape[0]]
        for element in _telling(call, own):
            error = _error_of(call, element, own)
            if not error <= tolerance:
                return Violation(call.name, element, error)
        judged = judged or call.lifts or acts_on == "features"
    if isinstance(module, nn.Module) and judged and calls[0].layer is not module:
        for element in group:
            found = _between(module, inputs, calls, element, group, groups, acts_on, tolerance)
            if found:
                return found
    return judged


def name_of(module: object) -> str:
    """What to call it in a message."""
    return type(module).__name__ if isinstance(module, nn.Module) else getattr(module, "__name__", repr(module))


def _telling(call: _Call, group: Group) -> list[Element]:
    """The elements that leave of a layer's result something to compare; ValueError where these move nothing."""
    left = _out_group(call, group)
    telling = [element for element in group if left.overlap(element).any()]
    for place, factor in enumerate(group.factors):
        if factor.order > 1 and not any(group.amounts(element)[place] for element in telling):
            raise ValueError(
                f"{call.name} takes features on {group} and leaves {left}: too small a window to tell whether it is "
                f"equivariant to moves of {factor.quantity}. Try it on a wider one, of {factor.order + 2} elements."
            )
    return telling


def _out_group(call: _Call, group: Group) -> Group:
    """What the result of a layer lives on, if it lives on a group."""
    left = getattr(call.layer, "out_group", group)
    return left if isinstance(left, Group) and not call.lifts else group


def _error_of(call: _Call, element: Element, group: Group) -> float:
    """The error of one layer by itself."""

    def layer(x: Tensor) -> Tensor:
        return call.layer(x, *call.args, **call.kwargs)

    left = _out_group(call, group)
    if left != group:
        with evaluating(call.layer):
            still, moved = layer(call.inputs), layer(group.act_on_features(element, call.inputs))
        return element_error(moved, still, element, left, len(call.inputs) // group.order)
    tried = call.inputs if call.lifts else _inside(call.inputs, element, group)
    kind: Inputs = "images" if call.lifts else "features"
    with evaluating(call.layer):
        return equivariance_error(layer, tried, group, acts_on=kind, elements=[element]).item()


def _between(
    module: nn.Module,
    inputs: Tensor,
    calls: list[_Call],
    element: Element,
    group: Group,
    groups: dict[int, Group],
    acts_on: Inputs,
    tolerance: float,
) -> Violation | None:
    """What comes to each layer, and out of the module, where every layer gives just what it should.

    Layers have been judged by themselves, so their outputs are put in their places: as they are, and moved.
    """
    if acts_on == "images":
        batch, still, moved = len(inputs), inputs, group.act_on_images(element, inputs)
    else:
        batch, still = len(inputs) // group.order, _inside(inputs, element, group)
        moved = group.act_on_features(element, still)
    forced = [call.output for call in calls]
    turned = list(forced)
    for place, call in enumerate(calls):
        if own := groups.get(call.rows_returned):
            forced[place] = _inside(call.output, element, own)
            turned[place] = own.act_on_features(element, forced[place])
    before, after = _run(module, still, calls, forced), _run(module, moved, calls, turned)
    on_group = acts_on == "features"
    for place, (one, other) in enumerate(zip(before, after, strict=True)):
        ends = place == len(calls)
        where = f"the result of {name_of(module)}" if ends else f"what comes to {calls[place].name}"
        if not ends and calls[place].lifts:
            on_group = True
            error = relative_error(other, group.act_on_images(element, one))
        elif on_group and one.shape == other.shape and (one.shape[0] == batch or one.shape[0] in groups):
            own = groups.get(one.shape[0], group)
            if not own.overlap(element).any():
                continue
            error = element_error(other, one, element, own, batch)
        else:
            continue
        if not error <= tolerance:
            return Violation(where, element, error)
    return None


def _run(module: nn.Module, inputs: Tensor, calls: list[_Call], outputs: list[Any]) -> list[Tensor]:
    """What comes to each layer, and out of the module, where the layers give ``outputs``."""
    seen: dict[int, Tensor] = {}
    places: dict[str, list[int]] = defaultdict(list)
    for place, call in enumerate(calls):
        places[call.path].append(place)
    handles = []
    for path, own in places.items():

        def come(_: nn.Module, args: tuple[Any, ...], left: list[int] = own) -> None:
            if left and args and isinstance(args[0], Tensor):
                seen[left[0]] = args[0].clone()

        def give(_: nn.Module, args: tuple[Any, ...], output: Any, left: list[int] = own) -> Any:
            if not left or left[0] not in seen:
                return None
            given = outputs[left.pop(0)]
            return given.clone() if isinstance(given, Tensor) else given  # the next layer may work in place

        layer = module.get_submodule(path)
        handles += [layer.register_forward_pre_hook(come), layer.register_forward_hook(give)]
    try:
        with evaluating(module):
            result = module(inputs)
    finally:
        for handle in handles:
            handle.remove()
    return [*(seen.get(place, calls[place].inputs) for place in range(len(calls))), result]


def _layer_calls(module: Callable[[Tensor], Tensor], inputs: Tensor, rows: Container[int]) -> list[_Call]:
    """The calls of the layers in ``module``, in their order; what has no layers is one itself.

    So is a module from features to features, of one of these numbers of ``rows``, that hands other shapes to its own
    layers: it rearranges the group, and only as a whole can it be judged.
    """
    if not isinstance(module, nn.Module):
        return [_Call("", name_of(module), module, inputs, (), {}, None)]
    calls: list[_Call] = []
    begun: list[_Call] = []
    handles = []
    for path, layer in module.named_modules():

        def before(layer: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], path: str = path) -> None:
            name = f"layer {path!r} ({name_of(layer)})" if path else name_of(layer)
            first = args[0].clone() if args and isinstance(args[0], Tensor) else torch.empty(0)
            begun.append(_Call(path, name, layer, first, args[1:], kwargs, None))

        def after(layer: nn.Module, args: tuple[Any, ...], output: Any) -> None:
            call = begun.pop()
            if call.inputs.dim() > 0 and args and isinstance(args[0], Tensor):
                calls.append(call._replace(output=output.clone() if isinstance(output, Tensor) else output))

        handles.append(layer.register_forward_pre_hook(before, with_kwargs=True))
        handles.append(layer.register_forward_hook(after))
    try:
        with evaluating(module):
            module(inputs)
    finally:
        for handle in handles:
            handle.remove()
    return _outermost(calls, rows)


def _outermost(calls: list[_Call], rows: Container[int]) -> list[_Call]:
    """The calls of layers without layers, and of those that only as a whole can be judged."""
    chosen: set[str] = set()
    for path in sorted({call.path for call in calls}):  # a module sorts before its own layers
        prefix = f"{path}." if path else ""
        own = [call for call in calls if call.path != path and call.path.startswith(prefix)]
        rearranges = any(c.inputs.shape[0] not in rows for c in own) and all(
            c.inputs.shape[0] == c.rows_returned and c.rows_returned in rows for c in calls if c.path == path
        )
        inside_another = any(path.startswith(f"{other}." if other else "") for other in chosen)
        if (not own or rearranges) and not inside_another:
            chosen.add(path)
    return [call for call in calls if call.path in chosen]


def _inside(features: Tensor, element: Element, group: Group) -> Tensor:
    """``features`` on the elements that ``element`` keeps inside the window, zero on the others."""
    kept = group.overlap(group.inverse(element)).to(features.device)
    rows = kept.repeat_interleave(features.shape[0] // group.order)
    return features * rows.view(-1, *[1] * (features.dim() - 1))
