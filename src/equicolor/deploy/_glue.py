"""What stands between two group convolutions as one pass over memory, compiled; the convolutions stay calls.

A frozen group convolution is an inverse transform of R products, which a sum, an activation and the transform of the
next one follow. Eager, each of them reads and writes all features. Here they are one small function of R products,
number by number, whatever the size: it is compiled once for all layers that have the same transforms around them, and
PyTorch keeps what it compiled on disk.
"""

import operator
import warnings
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor, fx, nn

from equicolor._tools.tensors import is_channels_last, is_traced
from equicolor.algorithms import Matrix, written_out
from equicolor.nn import GroupConv2d

#: Numbers in a slab, with which a piece is compiled for any number of them.
_SOME = 1024


class _Piece(NamedTuple):
    """What is computed between convolutions. Without an inverse transform, features are given and not products."""

    inverse: tuple[Matrix, ...]
    beside: Literal["nothing", "products", "features"]  # what is added
    relu: bool
    feature: tuple[Matrix, ...]  # the next transform; none where no convolution follows
    kept: bool  # whether the features themselves are needed

    @property
    def order(self) -> int:
        """How many elements the features have."""
        order = 1
        for matrix in self.inverse or self.feature:
            order *= len(matrix) if self.inverse else len(matrix[0])
        return order

    @property
    def given(self) -> int:
        """How many terms it is computed from, but for what is added."""
        rank = 1
        for matrix in self.inverse:
            rank *= len(matrix[0])
        return rank if self.inverse else self.order

    @property
    def added(self) -> int:
        """How many terms are added."""
        return {"nothing": 0, "products": self.given, "features": self.order}[self.beside]


@lru_cache
def _graph(piece: _Piece) -> fx.GraphModule:
    """A piece as a graph of its own: of terms to the features, stacked, where they are kept, and the slabs."""
    graph = fx.Graph()
    count = piece.given + piece.added
    terms: list[Any] = [fx.Proxy(graph.placeholder(f"term_{place}")) for place in range(count)]  # tensors, to a reader
    given, added = terms[: piece.given], terms[piece.given :]
    if piece.beside == "products":
        given = [term + other for term, other in zip(given, added, strict=True)]
    features = written_out(piece.inverse, given)
    if piece.beside == "features":
        features = [term + other for term, other in zip(features, added, strict=True)]
    if piece.relu:
        features = [torch.relu(term) for term in features]
    slabs = written_out(piece.feature, features) if piece.feature else []
    kept = [torch.stack(features)] if piece.kept else []
    results: list[Any] = [*kept, *slabs]
    graph.output([proxy.node for proxy in results])
    return fx.GraphModule(nn.Module(), graph)


@lru_cache
def _compiled(piece: _Piece) -> Callable[..., list[Tensor]]:
    return torch.compile(_graph(piece), dynamic=True, fullgraph=True)


class _Glue(nn.Module):
    """A piece as a layer: ``(features or None, slabs)`` of products or features, and what is added."""

    def __init__(self, piece: _Piece) -> None:
        super().__init__()
        self.piece = piece

    def forward(
        self, given: Sequence[Tensor] | Tensor, beside: Sequence[Tensor] | Tensor | None = None
    ) -> tuple[Tensor | None, list[Tensor]]:
        piece, order = self.piece, self.piece.order
        like = given if isinstance(given, Tensor) else given[0]
        last = is_channels_last(like)
        rows, channels, height, width = like.shape
        rows //= order if isinstance(given, Tensor) else 1
        if isinstance(beside, Tensor):
            beside = beside.expand(order * rows, channels, height, width)
        terms = [*_flat(given, order, last), *([] if beside is None else _flat(beside, order, last))]
        one_by_one = is_traced() or terms[0].numel() < 2  # which a compiler takes for constants
        results = (_graph if one_by_one else _compiled)(piece)(*terms)
        shape = (-1, height, width, channels) if last else (-1, channels, height, width)
        formed = [result.view(len(result) * rows if result.dim() == 2 else rows, *shape[1:]) for result in results]
        formed = [result.permute(0, 3, 1, 2) for result in formed] if last else formed
        return (formed[0], formed[1:]) if piece.kept else (None, formed)


def _flat(given: Sequence[Tensor] | Tensor, order: int, last: bool) -> list[Tensor]:
    """Slabs, or features of so many elements, as rows of numbers in the order in which they lie in memory."""
    if isinstance(given, Tensor):
        return list((given.permute(0, 2, 3, 1) if last else given).reshape(order, -1).unbind(0))
    return [(slab.permute(0, 2, 3, 1) if last else slab).reshape(-1) for slab in given]


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
    kind = next(network.parameters()).dtype
    try:
        with torch.inference_mode():
            for piece in pieces:
                _compiled(piece)(*torch.zeros(piece.given + piece.added, _SOME, dtype=kind).unbind(0))
    except Exception as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        warnings.warn(f"nothing is compiled, which changes no result: {reason}", stacklevel=3)
        return False
    network.forward = FusedForward(fused)
    return True


def _rewrite(fused: fx.GraphModule, modules: dict[str, nn.Module]) -> set[_Piece]:
    """Puts products and glue in the place of group convolutions, sums and activations; returns the pieces."""
    graph = fused.graph
    layers = {node: layer for node in graph.nodes if (layer := _fusable(node, modules)) is not None}
    slabs: dict[tuple[fx.Node, tuple[Matrix, ...]], fx.Node] = {}
    products: dict[fx.Node, fx.Node] = {}
    pieces: set[_Piece] = set()

    def add(kind: str, module: nn.Module, after: fx.Node, *given: fx.Node) -> fx.Node:
        name = f"_{kind}_{len(list(fused.children()))}"
        fused.add_submodule(name, module)
        with graph.inserting_after(after):
            return graph.call_module(name, given)

    def glue(piece: _Piece, after: fx.Node, *given: fx.Node) -> tuple[fx.Node, fx.Node]:
        pieces.add(piece)
        both = add("glue", _Glue(piece), after, *given)
        with graph.inserting_after(both):
            transformed = graph.call_function(operator.getitem, (both, 1))
            features = graph.call_function(operator.getitem, (both, 0))
        return features, transformed

    for node, layer in layers.items():
        feature, source = _matrices(layer, "feature"), node.args[0]
        assert isinstance(source, fx.Node)
        if (source, feature) not in slabs:
            _, slabs[source, feature] = glue(_Piece((), "nothing", False, feature, False), source, source)
        products[node] = add("products", _Products(layer), node, slabs[source, feature])
        if (chain := _chain(node, layers, modules, products)) is None:
            continue
        end, relu, other = chain
        given = [products[node]]
        beside: Literal["nothing", "products", "features"] = "nothing"
        if other is not None:
            beside = "products" if other in products else "features"
            given.append(products.get(other, other))
        following = [layers[user] for user in end.users if user in layers]
        after = _matrices(following[0], "feature") if following else ()
        kept = any(user not in layers or _matrices(layers[user], "feature") != after for user in end.users)
        piece = _Piece(_matrices(layer, "inverse"), beside, relu, after, kept)
        features, transformed = glue(piece, products[node] if end is node else end, *given)
        end.replace_all_uses_with(features)
        if after:
            slabs[features, after] = transformed
    graph.eliminate_dead_code()
    fused.recompile()
    return pieces


def _matrices(layer: GroupConv2d, which: Literal["feature", "inverse"]) -> tuple[Matrix, ...]:
    return tuple(getattr(part, which) for part in layer._bilinear.parts)


def _fusable(node: fx.Node, modules: dict[str, nn.Module]) -> GroupConv2d | None:
    """The layer that a node calls, where that is a group convolution whose products can be had by themselves."""
    layer = modules.get(str(node.target)) if node.op == "call_module" else None
    listened = layer is not None and (layer._forward_hooks or layer._forward_pre_hooks)
    return layer if type(layer) is GroupConv2d and layer.has_products and not listened else None


class _Chain(NamedTuple):
    end: fx.Node
    relu: bool
    other: fx.Node | None


def _chain(
    node: fx.Node, layers: dict[fx.Node, GroupConv2d], modules: dict[str, nn.Module], products: dict[fx.Node, fx.Node]
) -> _Chain | None:
    """What follows a convolution and nothing else listens to: a sum, an activation; None where another does it."""
    end, relu, other = _skip_identities(node, modules), False, None
    user = _only_user(end)
    if user is not None and user.target in (operator.add, torch.add) and len(user.args) == 2 and not user.kwargs:
        others = [arg for arg in user.args if arg is not end]
        if len(others) == 1 and isinstance(others[0], fx.Node):
            found = _source(others[0], modules)
            alike = found in layers and len(found.users) == 1
            alike = alike and _matrices(layers[found], "inverse") == _matrices(layers[node], "inverse")
            if alike and found not in products:
                return None  # the other convolution comes later, and takes this one in
            other, end = (found if alike else others[0]), user
            end = _skip_identities(end, modules)
            user = _only_user(end)
    if user is not None and _is_relu(user, modules):
        relu, end = True, _skip_identities(user, modules)
    return _Chain(end, relu, other)


def _source(node: fx.Node, modules: dict[str, nn.Module]) -> fx.Node:
    """What a node that nothing else listens to is the same as, before identities."""
    while len(node.users) == 1 and _is_identity(node, modules) and isinstance(node.args[0], fx.Node):
        node = node.args[0]
    return node


def _skip_identities(node: fx.Node, modules: dict[str, nn.Module]) -> fx.Node:
    while (user := _only_user(node)) is not None and _is_identity(user, modules):
        node = user
    return node


def _only_user(node: fx.Node) -> fx.Node | None:
    return next(iter(node.users)) if len(node.users) == 1 else None


def _is_identity(node: fx.Node, modules: dict[str, nn.Module]) -> bool:
    return node.op == "call_module" and type(modules.get(str(node.target))) is nn.Identity


def _is_relu(node: fx.Node, modules: dict[str, nn.Module]) -> bool:
    if node.op == "call_module":
        module = modules.get(str(node.target))
        return type(module) is nn.ReLU and not module._forward_hooks and not module._forward_pre_hooks
    return node.target in (torch.relu, torch.nn.functional.relu)
