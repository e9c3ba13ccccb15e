"""Measuring equivariance: the paper's relative error, for each element of a group and each layer of a network."""

import math
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal, TypeAlias, overload

import torch
from torch import Tensor, nn

from equicolor.algorithms import inner
from equicolor.groups import Element, Group
from equicolor.groups import group as as_group

#: What a measurement acts on: plain RGB images, or features on the group.
Inputs: TypeAlias = Literal["images", "features"]
#: Of a window, which elements are compared: those known on both sides, or all, with zeros for what moved in.
Fill: TypeAlias = Literal["overlap", "zero"]


@overload
def equivariance_error(
    module: Callable[[Tensor], Tensor],
    images: Tensor,
    group: Group | str,
    *,
    layers: Literal[False] = False,
    fill: Fill = "overlap",
    acts_on: Inputs = "images",
    elements: Sequence[Element] | None = None,
) -> Tensor: ...


@overload
def equivariance_error(
    module: Callable[[Tensor], Tensor],
    images: Tensor,
    group: Group | str,
    *,
    layers: Literal[True],
    fill: Fill = "overlap",
    acts_on: Inputs = "images",
    elements: Sequence[Element] | None = None,
) -> dict[str, Tensor]: ...


def equivariance_error(
    module: Callable[[Tensor], Tensor],
    images: Tensor,
    group: Group | str,
    *,
    layers: bool = False,
    fill: Fill = "overlap",
    acts_on: Inputs = "images",
    elements: Sequence[Element] | None = None,
) -> Tensor | dict[str, Tensor]:
    """Measures how far a module is from equivariant: the paper's relative error for each element of the group.

    The error of element g is ‖f(φ(g, x)) - ϕ(g, f(x))‖ / ‖f(φ(g, x)) + ϕ(g, f(x))‖. A result on the group, ``(G·B,
    *)``, is compared with the moved feature; one that no longer knows the group, ``(B, *)``, with itself: its error is
    the paper's error of invariance. A result on the smaller window that valid convolutions leave, the ``out_group`` of
    a layer, is compared there; where a move leaves nothing to compare, the error is NaN. A module is measured in eval
    mode and left as it was; nothing is learned from the measurement.

    Args:
        module: a function of a batch, from images to features or to pooled results.
        images: RGB in [0, 1], ``(B, 3, H, W)``; or features ``(G·B, C, H, W)`` with ``acts_on="features"``.
        group: the group, or its name.
        layers: measure every layer of a module on the way, too.
        fill: what is compared in a truncated group, where what is moved in from outside the window is unknown.
            ``"overlap"``: the elements that are known on both sides. ``"zero"``: all, with zeros for the unknown, as
            the paper writes it.
        acts_on: what kind of input ``images`` is.
        elements: which elements to measure; all by default.

    Returns:
        The error of each element, ``(G,)``, in the order of ``group.elements``; with ``layers``, a dict of these by
        layer name in the order of their calls, which ends with the module itself under the name ``"output"``.

    Raises:
        TypeError: the images are no tensor, the module returns none, or ``layers`` is asked of something that is no
            module.
        ValueError: ``fill``, ``acts_on`` or an element is unknown, or there are no images.

    Example:
        >>> from equicolor.nn import Lift
        >>> equivariance_error(Lift("hue3"), torch.rand(2, 3, 8, 8), "hue3").tolist()
        [0.0, 0.0, 0.0]
    """
    group = as_group(group)
    if fill not in ("overlap", "zero"):
        raise ValueError(f"unknown fill {fill!r}: expected 'overlap' or 'zero'")
    if acts_on not in ("images", "features"):
        raise ValueError(f"unknown acts_on {acts_on!r}: expected 'images' or 'features'")
    if layers and not isinstance(module, nn.Module):
        raise TypeError(f"only an nn.Module has layers to measure, got {type(module).__name__}")
    if not isinstance(images, Tensor):
        raise TypeError(f"expected a torch.Tensor of images or features, got {type(images).__name__}")
    if images.dim() == 0 or images.shape[0] == 0:
        raise ValueError(f"expected at least one image to measure on, got shape {tuple(images.shape)}")
    act = group.act_on_images if acts_on == "images" else group.act_on_features
    batch = images.shape[0] if acts_on == "images" else group.split(images).shape[len(group.shape)]

    with evaluating(module):
        still = _outputs(module, images, layers)
        groups = groups_by_rows(module, group, batch)
        errors: dict[str, list[float]] = {name: [] for name in _comparable(still, batch, groups)}
        if "output" not in errors:
            raise ValueError(
                f"expected a result (G·B, …) = ({group.order * batch}, …) or (B, …) = ({batch}, …), "
                f"got shape {tuple(still['output'].shape)}"
            )
        for element in group if elements is None else elements:
            moved = _outputs(module, act(element, images), layers)
            for name in errors:
                own = groups.get(len(still[name]), group)
                errors[name].append(element_error(moved[name], still[name], element, own, batch, fill))
    result = {name: torch.tensor(values, dtype=torch.float64) for name, values in errors.items()}
    return result if layers else result["output"]


@contextmanager
def evaluating(module: object) -> Iterator[None]:
    """Puts a module in eval mode, without gradients; afterwards every submodule is in the mode it was in.

    Args:
        module: a module; anything else is left alone.

    Returns:
        A context manager.
    """
    modes = {m: m.training for m in module.modules()} if isinstance(module, nn.Module) else {}
    for submodule in modes:
        submodule.training = False
    try:
        with torch.no_grad():
            yield
    finally:
        for submodule, training in modes.items():
            submodule.training = training


def layer_outputs(module: nn.Module, inputs: Tensor, only: str | None = None) -> dict[str, Tensor]:
    """Runs a network and collects what its layers give.

    Args:
        module: the network.
        inputs: what it is run on.
        only: the name of a single layer that is wanted; all by default.

    Returns:
        Outputs by the names of layers, in the order of their calls; the second call of one is ``name#2``.
    """
    outputs = _outputs(module, inputs, True, only)
    del outputs["output"]
    return outputs


def _outputs(
    module: Callable[[Tensor], Tensor], inputs: Tensor, layers: bool, only: str | None = None
) -> dict[str, Tensor]:
    """What each layer gives, by name in the order of the calls, and at last the whole under ``"output"``."""
    outputs: dict[str, Tensor] = {}
    handles = []
    if layers and isinstance(module, nn.Module):
        for path, layer in module.named_modules():
            if path and not any(layer.children()) and (only is None or only.partition("#")[0] == path):

                def keep(_layer: nn.Module, _inputs: Any, output: Any, path: str = path) -> None:
                    if isinstance(output, Tensor):
                        calls = sum(name.partition("#")[0] == path for name in outputs)
                        # A copy, since the next layer may work in place.
                        outputs[f"{path}#{calls + 1}" if calls else path] = output.clone()

                handles.append(layer.register_forward_hook(keep))
    try:
        output = module(inputs)
        if not isinstance(output, Tensor):
            raise TypeError(f"expected a module that returns one tensor, got {type(output).__name__}")
        outputs["output"] = output
    finally:
        for handle in handles:
            handle.remove()
    return outputs


def groups_by_rows(module: object, group: Group, batch: int) -> dict[int, Group]:
    """Says what features live on, by their rows: the group, or a window that valid convolutions leave of it.

    Args:
        module: the network whose layers are looked at.
        group: the group of its lift.
        batch: the number of images.

    Returns:
        Groups by the number of rows.
    """
    left = {getattr(m, "out_group", None) for m in module.modules()} if isinstance(module, nn.Module) else set()
    found, own, smaller = {group.order * batch: group}, group, inner(group)
    while 1 < smaller.order < own.order:  # a feature on one element is not told from a pooled one
        own, smaller = smaller, inner(smaller)
        if own in left:
            found[own.order * batch] = own
    return found


def _comparable(outputs: dict[str, Tensor], batch: int, groups: Container[int]) -> list[str]:
    """The outputs on the group, and those behind them that no longer know it; not those from before the lift."""
    rows = {name: output.shape[0] if output.dim() else 0 for name, output in outputs.items()}
    on_group = [index for index, count in enumerate(rows.values()) if count in groups]
    start = min(on_group, default=0)
    return [
        name
        for index, (name, count) in enumerate(rows.items())
        if index >= start and (count == batch or count in groups)
    ]


def element_error(
    moved: Tensor, still: Tensor, element: Element, group: Group, batch: int, fill: Fill = "overlap"
) -> float:
    """The relative error of one element, given the results for moved and for unmoved images.

    Args:
        moved: the result for the moved images.
        still: the result for the images as they are; on the group it is moved by ϕ(``element``) before the comparison,
            off the group it should be the same.
        element: the element that the images were moved by.
        group: the group.
        batch: the number of images.
        fill: what is compared in a truncated group, as for :func:`equivariance_error`.

    Returns:
        The error.
    """
    if still.shape[0] == group.order * batch and group.order > 1:
        still = group.act_on_features(element, still)
        if fill == "overlap":
            known = group.overlap(element).to(still.device).repeat_interleave(batch)
            if not known.any():
                return math.nan
            still, moved = still[known], moved[known]
    return relative_error(moved, still)


def relative_error(one: Tensor, other: Tensor) -> float:
    """The relative difference ‖one - other‖ / ‖one + other‖ of two tensors; 0 where both vanish.

    Args:
        one: a tensor.
        other: a tensor of the same shape.

    Returns:
        The difference.

    Example:
        >>> relative_error(torch.tensor([1.0]), torch.tensor([3.0]))
        0.5
    """
    one, other = one.cpu().double(), other.cpu().double()  # there, as not every device has float64
    difference, total = (one - other).norm().item(), (one + other).norm().item()
    if difference == 0:
        return 0.0
    return difference / total if total else float("inf")
