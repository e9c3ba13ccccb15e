"""Inference: inverse transform, sum, activation and next transform of frozen group convolutions, in one pass."""

import warnings
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor, fx, nn

from equicolor._tools.tensors import is_channels_last
from equicolor.algorithms import Matrix
from equicolor.fusion._graphs import (
    add_call,
    both_of,
    called_layer,
    is_identity,
    is_relu,
    matrices,
    only_user,
    skip_identities,
    terms_of_sum,
)
from equicolor.fusion._pieces import Piece, compile_all, compute, flat, formed
from equicolor.nn import GroupConv2d


class _Glue(nn.Module):
    """A piece as a layer: ``(features or None, slabs)`` of products or features, and what is added."""

    def __init__(self, piece: Piece) -> None:
        super().__init__()
        self.piece = piece

    def forward(
        self, given: Sequence[Tensor] | Tensor, beside: Sequence[Tensor] | Tensor | None = None
    ) -> tuple[Tensor | None, list[Tensor]]:
        piece, order = self.piece, self.piece.order
        like = given if isinstance(given, Tensor) else given[0]
        last = is_channels_last(like)
        rows = len(like) // (order if isinstance(given, Tensor) else 1)
        if isinstance(beside, Tensor):
            beside = beside.expand(order * rows, *like.shape[1:])
        terms = [*flat(given, order, last), *([] if beside is None else flat(beside, order, last))]
        results = formed(compute(piece, terms), (rows, *like.shape[1:]), last)
        return (results[0], results[1:]) if piece.kept else (None, results)


class _Products(nn.Module):
    """The convolutions of a frozen layer, of slabs that are transformed already."""

    def __init__(self, layer: GroupConv2d) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, slabs: list[Tensor]) -> list[Tensor]:
        return self.layer.products(slabs)


class FusedForward:
    """The forward of a network whose glue is compiled: in inference mode throughout, so that it is compiled once."""

    def __init__(self, network: fx.GraphModule) -> None:
        self.network = network

    def __call__(self, *given: Any, **named: Any) -> Any:
        """The network's result, which may be computed with outside of inference mode."""
        with torch.inference_mode():
            result = self.network(*given, **named)
        return result.clone() if isinstance(result, Tensor) and not torch.is_inference_mode_enabled() else result


def fuse_glue(network: nn.Module) -> bool:
    """Compiles, in place, what stands between the frozen group convolutions of a network.

    Args:
        network: one that :func:`equicolor.optimize_for_inference` made, which is changed.

    Returns:
        Whether it did. Not where ``torch.fx`` cannot trace the network's forward, where there is nothing to fuse, or
        where there is no compiler, of which a warning tells.
    """
    try:
        graph = fx.Tracer().trace(network)
    except Exception:
        return False
    fused = fx.GraphModule(network, graph)
    pieces = _rewrite(fused, dict(network.named_modules()))
    if not pieces:
        return False
    with torch.inference_mode():
        reason = compile_all(pieces, next(network.parameters()))
    if reason:
        warnings.warn(f"nothing is compiled, which changes no result: {reason}", stacklevel=3)
        return False
    network.forward = FusedForward(fused)
    return True


def _rewrite(fused: fx.GraphModule, modules: dict[str, nn.Module]) -> set[Piece]:
    """Puts products and glue in the place of group convolutions, sums and activations; returns the pieces."""
    graph = fused.graph
    layers = {node: layer for node in graph.nodes if (layer := _fusable(node, modules)) is not None}
    slabs: dict[tuple[fx.Node, tuple[Matrix, ...]], fx.Node] = {}
    products: dict[fx.Node, fx.Node] = {}
    pieces: set[Piece] = set()

    def glue(piece: Piece, after: fx.Node, *given: fx.Node) -> tuple[fx.Node, fx.Node]:
        pieces.add(piece)
        return both_of(fused, add_call(fused, "glue", _Glue(piece), after, *given))

    for node, layer in layers.items():
        feature, source = matrices(layer, "feature"), node.args[0]
        assert isinstance(source, fx.Node)
        if (source, feature) not in slabs:
            _, slabs[source, feature] = glue(Piece((), "nothing", False, feature, False), source, source)
        products[node] = add_call(fused, "products", _Products(layer), node, slabs[source, feature])
        if (chain := _chain(node, layers, modules, products)) is None:
            continue
        end, relu, other = chain
        given = [products[node]]
        beside: Literal["nothing", "products", "features"] = "nothing"
        if other is not None:
            beside = "products" if other in products else "features"
            given.append(products.get(other, other))
        following = [layers[user] for user in end.users if user in layers]
        after = matrices(following[0], "feature") if following else ()
        kept = any(user not in layers or matrices(layers[user], "feature") != after for user in end.users)
        piece = Piece(matrices(layer, "inverse"), beside, relu, after, kept)
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
            alike = alike and matrices(layers[found], "inverse") == matrices(layers[node], "inverse")
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
