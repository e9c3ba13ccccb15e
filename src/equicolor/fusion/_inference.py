"""Inference: inverse transform, sum, activation and next transform of frozen group convolutions, in one pass."""

import warnings
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor, fx, nn
from torch.utils._pytree import tree_map

from equicolor._tools.words import first_line
from equicolor.algorithms import Steps
from equicolor.fusion._forward import Fused, foreign
from equicolor.fusion._graphs import (
    Products,
    add_call,
    both_of,
    called_layer,
    is_identity,
    is_relu,
    only_user,
    skip_identities,
    terms_of_sum,
)
from equicolor.fusion._pieces import Piece, compile_all, computed_of
from equicolor.nn import GroupConv2d


class _Glue(nn.Module):
    """A piece as a layer: ``(features or None, slabs)`` of products or features, and what is added."""

    def __init__(self, piece: Piece) -> None:
        super().__init__()
        self.piece = piece

    def forward(
        self, given: Sequence[Tensor] | Tensor, beside: Sequence[Tensor] | Tensor | None = None
    ) -> tuple[Tensor | None, list[Tensor]]:
        piece, like = self.piece, given if isinstance(given, Tensor) else given[0]
        if isinstance(beside, Tensor):
            rows = len(like) * (1 if isinstance(given, Tensor) else piece.order)
            beside = beside.expand(rows, *like.shape[1:])
        results = computed_of(piece, given, beside).tensors
        return (results[0], results[1:]) if piece.kept else (None, results)


class FusedForward(Fused):
    """The forward of a network whose glue is compiled: in inference mode throughout, so that it is compiled once."""

    def __call__(self, *given: Any, **named: Any) -> Any:
        """The network's result, which may be computed with outside of inference mode."""
        if not self.is_current():
            return self.before(*given, **named)
        with torch.inference_mode():
            result = self.fused(*given, **named)
        if torch.is_inference_mode_enabled():
            return result
        return tree_map(lambda each: each.clone() if isinstance(each, Tensor) else each, result)


def fuse_glue(network: nn.Module) -> bool:
    """Compiles, in place, what stands between the frozen group convolutions of a network.

    Args:
        network: one that :func:`equicolor.optimize_for_inference` made, which is changed.

    Returns:
        Whether it did. A warning says why not: ``torch.fx`` cannot trace the network's forward, blocks of it are not
        this library's or PyTorch's own, there is nothing to fuse, or there is no compiler.
    """
    if reason := _fuse(network):
        warnings.warn(f"nothing is compiled, which changes no result: {reason}", stacklevel=3)
    return not reason


def _fuse(network: nn.Module) -> str:
    """Fuses, and says nothing; or says why not."""
    if reason := foreign(network):
        return reason
    try:
        graph = fx.Tracer().trace(network)
    except Exception as error:
        return f"torch.fx cannot trace the network ({first_line(error)})"
    fused = fx.GraphModule(network, graph)
    modules = dict(network.named_modules())
    pieces = _rewrite(fused, modules)
    if not pieces:
        return "it has no frozen group convolution that is computed by a bilinear algorithm"
    forward = FusedForward(network, fused)
    if reason := forward.unheard:
        return reason
    like = next(layer.filters for layer in modules.values() if isinstance(layer, GroupConv2d) and layer.frozen)
    with torch.inference_mode():
        if reason := compile_all(pieces, like):
            return f"it cannot be compiled here ({reason})"
    network.forward = forward
    return ""


def _rewrite(fused: fx.GraphModule, modules: dict[str, nn.Module]) -> set[Piece]:
    """Puts products and glue in the place of group convolutions, sums and activations; returns the pieces."""
    graph = fused.graph
    layers = {node: layer for node in graph.nodes if (layer := _fusable(node, modules)) is not None}
    slabs: dict[tuple[fx.Node, Steps], fx.Node] = {}
    products: dict[fx.Node, fx.Node] = {}
    pieces: set[Piece] = set()

    def glue(piece: Piece, after: fx.Node, *given: fx.Node) -> tuple[fx.Node, fx.Node]:
        pieces.add(piece)
        return both_of(fused, add_call(fused, "glue", _Glue(piece), after, *given))

    for node, layer in layers.items():
        feature, source = layer.bilinear.feature_steps, node.args[0]
        assert isinstance(source, fx.Node)
        if (source, feature) not in slabs:
            _, slabs[source, feature] = glue(Piece((), "nothing", False, feature, False), source, source)
        products[node] = add_call(fused, "products", Products(layer), node, slabs[source, feature])
        if (chain := _chain(node, layers, modules, products)) is None:
            continue
        end, relu, other = chain
        given = [products[node]]
        beside: Literal["nothing", "products", "features"] = "nothing"
        if other is not None:
            beside = "products" if other in products else "features"
            given.append(products.get(other, other))
        following = [layers[user] for user in end.users if user in layers]
        after = following[0].bilinear.feature_steps if following else ()
        kept = any(user not in layers or layers[user].bilinear.feature_steps != after for user in end.users)
        piece = Piece(layer.bilinear.inverse_steps, beside, relu, after, kept)
        features, transformed = glue(piece, products[node] if end is node else end, *given)
        end.replace_all_uses_with(features)
        if after:
            slabs[features, after] = transformed
    graph.eliminate_dead_code()
    fused.recompile()
    return pieces


def _fusable(node: fx.Node, modules: dict[str, nn.Module]) -> GroupConv2d | None:
    """The layer that a node calls, where that is a group convolution whose products can be had by themselves."""
    layer = called_layer(node, modules)
    return layer if layer is not None and layer.frozen and layer.algorithm == "fast" and layer.has_products else None


class _Chain(NamedTuple):
    end: fx.Node
    relu: bool
    other: fx.Node | None


def _chain(
    node: fx.Node, layers: dict[fx.Node, GroupConv2d], modules: dict[str, nn.Module], products: dict[fx.Node, fx.Node]
) -> _Chain | None:
    """What follows a convolution and nothing else listens to: a sum, an activation; None where another does it."""
    end, relu, other = skip_identities(node, modules), False, None
    user = only_user(end)
    if user is not None and (terms := terms_of_sum(user)) is not None:
        others = [term for term in terms if term is not end]
        if len(others) == 1:
            found = _source(others[0], modules)
            alike = found in layers and len(found.users) == 1
            alike = alike and layers[found].bilinear.inverse_steps == layers[node].bilinear.inverse_steps
            if alike and found not in products:
                return None  # the other convolution comes later, and takes this one in
            other, end = (found if alike else others[0]), user
            end = skip_identities(end, modules)
            user = only_user(end)
    if user is not None and is_relu(user, modules):
        relu, end = True, skip_identities(user, modules)
    return _Chain(end, relu, other)


def _source(node: fx.Node, modules: dict[str, nn.Module]) -> fx.Node:
    """What a node that nothing else listens to is the same as, before identities."""
    while len(node.users) == 1 and is_identity(node, modules) and isinstance(node.args[0], fx.Node):
        node = node.args[0]
    return node
