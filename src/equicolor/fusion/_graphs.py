"""Who listens to whom in the graph of a network."""

import operator
from typing import Literal

import torch
from torch import fx, nn

from equicolor.algorithms import Matrix
from equicolor.nn import GroupConv2d


def matrices(layer: GroupConv2d, which: Literal["feature", "inverse"]) -> tuple[Matrix, ...]:
    """The transform of a layer, factor by factor."""
    return tuple(getattr(part, which) for part in layer.bilinear.parts)


def called_layer(node: fx.Node, modules: dict[str, nn.Module]) -> GroupConv2d | None:
    """The group convolution that a node calls, if nobody else listens to it."""
    layer = modules.get(str(node.target)) if node.op == "call_module" else None
    listened = layer is not None and (layer._forward_hooks or layer._forward_pre_hooks or layer._backward_hooks)
    return layer if type(layer) is GroupConv2d and not listened else None


def terms_of_sum(node: fx.Node | None) -> tuple[fx.Node, fx.Node] | None:
    """What a node adds, if it is the sum of two others."""
    if node is None or node.target not in (operator.add, torch.add) or len(node.args) != 2 or node.kwargs:
        return None
    one, other = node.args
    return (one, other) if isinstance(one, fx.Node) and isinstance(other, fx.Node) and one is not other else None


def skip_identities(node: fx.Node, modules: dict[str, nn.Module]) -> fx.Node:
    """The last of the identities that follow a node, and that alone listen to it."""
    while (user := only_user(node)) is not None and is_identity(user, modules):
        node = user
    return node


def only_user(node: fx.Node) -> fx.Node | None:
    """What listens to a node, if one does."""
    return next(iter(node.users)) if len(node.users) == 1 else None


def is_identity(node: fx.Node, modules: dict[str, nn.Module]) -> bool:
    """Whether a node gives what it is given."""
    return node.op == "call_module" and type(modules.get(str(node.target))) is nn.Identity


def is_relu(node: fx.Node, modules: dict[str, nn.Module]) -> bool:
    """Whether a node is this activation, to which nobody else listens."""
    if not node.args or not isinstance(node.args[0], fx.Node):
        return False
    if node.op == "call_module":
        module = modules.get(str(node.target))
        return type(module) is nn.ReLU and not module._forward_hooks and not module._forward_pre_hooks
    return node.target in (torch.relu, torch.nn.functional.relu)


def is_in_place(activation: fx.Node, modules: dict[str, nn.Module]) -> bool:
    """Whether an activation writes over what it is given."""
    if activation.op == "call_module":
        return bool(getattr(modules[str(activation.target)], "inplace", False))
    return any(activation.args[1:]) or bool(activation.kwargs.get("inplace"))


def add_call(fused: fx.GraphModule, kind: str, module: nn.Module, after: fx.Node, *given: fx.Node) -> fx.Node:
    """A call of a new module of a network, behind a node."""
    name = f"_{kind}_{len(list(fused.children()))}"
    fused.add_submodule(name, module)
    with fused.graph.inserting_after(after):
        return fused.graph.call_module(name, given)


def both_of(fused: fx.GraphModule, pair: fx.Node) -> tuple[fx.Node, fx.Node]:
    """The two results of a call."""
    with fused.graph.inserting_after(pair):
        second = fused.graph.call_function(operator.getitem, (pair, 1))
        first = fused.graph.call_function(operator.getitem, (pair, 0))
    return first, second
