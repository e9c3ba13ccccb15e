"""Who listens to whom in the graph of a network, and what is put into it."""

import operator

import torch
from torch import Tensor, fx, nn

from equicolor.nn import GroupConv2d


def called_layer(node: fx.Node, modules: dict[str, nn.Module]) -> GroupConv2d | None:
    """The group convolution that a node calls, if nobody else listens to it."""
    layer = modules.get(str(node.target)) if node.op == "call_module" else None
    return layer if type(layer) is GroupConv2d and not is_heard(layer) else None


def is_heard(module: nn.Module) -> bool:
    """Whether anybody listens to a module."""
    hooks = (module._forward_hooks, module._forward_pre_hooks, module._backward_hooks, module._backward_pre_hooks)
    return any(hooks)


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
        return type(module) is nn.ReLU and not is_heard(module)
    return node.target in (torch.relu, torch.nn.functional.relu)


def is_in_place(activation: fx.Node, modules: dict[str, nn.Module]) -> bool:
    """Whether an activation writes over what it is given."""
    if activation.op == "call_module":
        return bool(getattr(modules[str(activation.target)], "inplace", False))
    return any(activation.args[1:]) or bool(activation.kwargs.get("inplace"))


class Products(nn.Module):
    """The convolutions of a layer, of slabs that are transformed already; in training, of the features as well."""

    def __init__(self, layer: GroupConv2d) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, slabs: list[Tensor], features: Tensor | None = None) -> list[Tensor]:
        return self.layer.products(slabs, features)


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
