"""Training: transforms, sums and activations between group convolutions in one pass each way; norms stay as they are.

The products of a convolution are transformed back by one compiled piece, which its batch norm follows, an ordinary call
that sees all of its batch; another piece adds what is beside, activates and transforms for the next convolution. What a
backward pass needs is the same as without: the slabs are not kept, but computed once more.
"""

import warnings
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, fx, nn
from torch.autograd import forward_ad
from torch.autograd.function import once_differentiable

from equicolor._tools.strided import is_strided_point
from equicolor._tools.tensors import is_traced, is_transformed
from equicolor._tools.words import first_line
from equicolor.algorithms import Steps
from equicolor.fusion._forward import Fused, foreign
from equicolor.fusion._graphs import (
    Products,
    add_call,
    both_of,
    called_layer,
    is_in_place,
    is_relu,
    only_user,
    terms_of_sum,
)
from equicolor.fusion._pieces import Computed, Gradient, Piece, compile_all, compute, computed_of, flat, formed
from equicolor.measure import evaluating
from equicolor.models import Canonicalized
from equicolor.nn import GroupConv2d


def fuse_for_training(network: nn.Module, images: Tensor) -> nn.Module:
    """Compiles what stands between the group convolutions of a network, for training on a CPU; in place.

    Transforms, sums and activations become small functions, each of which is one pass over memory. They are compiled in
    seconds, serve all layers that have the same neighbours, at any size, and PyTorch keeps them on disk for the next
    time. Convolutions and norms stay calls; parameters, hooks and ``state_dict`` stay as they are, and results are the
    same up to rounding. Memory is that of training without it.

    It is at work in training mode, where gradients are recorded and nothing else is (no autocast, no transform of
    ``torch.func``, no other compiler); elsewhere the network computes as before, and so it does from when layers are
    replaced, or hooks put on those that are no longer called, of which a warning tells. Second derivatives are an
    error.

    Where nothing can be fused a warning says why, and the network stays as it is: it is on another device, blocks of
    it are not this library's or PyTorch's own, so that nobody knows what else they do, it has no group convolution that
    the bilinear algorithm is faster for at this size, or there is no C++ compiler.

    Args:
        network: a network of this library, or a ``torch.nn.Sequential`` of layers, in the memory format that it is
            trained in.
        images: a batch like those to come, by whose size each group convolution takes its algorithm.

    Returns:
        The same network.

    Raises:
        TypeError: ``network`` is no module.

    Example:
        >>> from equicolor.models import create_model
        >>> images = torch.rand(8, 3, 32, 32).to(memory_format=torch.channels_last)
        >>> model = create_model("resnet18", group="hue4").to(memory_format=torch.channels_last)
        >>> model = fuse_for_training(model, images)  # doctest: +SKIP
    """
    if not isinstance(network, nn.Module):
        raise TypeError(f"expected a network, a torch.nn.Module, got {type(network).__name__}")
    inner = network.network if isinstance(network, Canonicalized) else network
    if isinstance(inner.__dict__.get("forward"), FusedTraining):
        return network
    if reason := _fuse(network, inner, images):
        warnings.warn(f"nothing is fused, which changes no result: {reason}", stacklevel=2)
    return network


def _fuse(network: nn.Module, inner: nn.Module, images: Tensor) -> str:
    """Fuses, and says nothing; or says why not."""
    if images.device.type != "cpu":
        return f"what stands between convolutions is compiled for CPUs, and images are on {images.device}"
    if reason := foreign(inner):
        return reason
    fast = _fast_layers(network, images)
    if not fast:
        return "no group convolution is computed by a bilinear algorithm at this size"
    try:
        graph = fx.Tracer().trace(inner)
    except Exception as error:
        return f"torch.fx cannot trace the network ({first_line(error)})"
    fused = fx.GraphModule(inner, graph)
    pieces = _rewrite(fused, dict(inner.named_modules()), fast)
    if not pieces:
        return "no group convolution of it is a call that can be replaced"
    forward = FusedTraining(inner, fused)
    if reason := forward.unheard:
        return reason
    with torch.no_grad():
        if reason := compile_all(pieces, images):
            return f"it cannot be compiled here ({reason})"
    inner.forward = forward
    return ""


def _fast_layers(network: nn.Module, images: Tensor) -> set[nn.Module]:
    """The group convolutions that take a bilinear algorithm for features of the size that they meet."""
    fast: set[nn.Module] = set()

    def look(layer: nn.Module, given: tuple[Any, ...]) -> None:
        if isinstance(layer, GroupConv2d) and layer.chosen_for(given[0]) == "fast":
            fast.add(layer)

    layers = [layer for layer in network.modules() if type(layer) is GroupConv2d]
    hooks = [layer.register_forward_pre_hook(look) for layer in layers]
    try:
        with evaluating(network):
            network(images)
    finally:
        for hook in hooks:
            hook.remove()
    return fast


class FusedTraining(Fused):
    """The forward of a network whose glue is compiled for training; elsewhere it is the one that it had."""

    def __call__(self, *given: Any, **named: Any) -> Any:
        """The network's result."""
        recorded = self.network.training and torch.is_grad_enabled()  # a graph has a mode of its own, nobody sets it
        forward = self.fused if recorded and not _elsewhere(given) and self.is_current() else self.before
        return forward(*given, **named)

    def is_stale(self, layer: nn.Module) -> bool:
        """Also where a layer was frozen since, which has no gradients."""
        return super().is_stale(layer) or getattr(layer, "frozen", False)


def _elsewhere(given: Sequence[Any]) -> bool:
    """Whether somebody else than autograd records what is done, or changes how."""
    recorded = is_traced() or is_transformed() or any(isinstance(each, fx.Proxy) for each in given)
    return recorded or torch.is_autocast_enabled("cpu") or forward_ad._current_level >= 0


def _rewrite(fused: fx.GraphModule, modules: dict[str, nn.Module], fast: set[nn.Module]) -> dict[Computed, None]:
    """Puts products and pieces in the place of group convolutions, and of sums and activations before them."""
    layers = {node: layer for node in fused.graph.nodes if (layer := _fusable(node, modules, fast)) is not None}
    slabs: dict[tuple[fx.Node, Steps], fx.Node] = {}
    pieces: dict[Computed, None] = {}  # in order, and once each
    activations: list[tuple[Piece, fx.Node]] = []
    convolved: set[fx.Node] = set()

    def glue(piece: Piece, after: fx.Node, *given: fx.Node) -> tuple[fx.Node, fx.Node]:
        pieces[piece] = None
        return both_of(fused, add_call(fused, "between", _Between(piece), after, *given))

    for node, layer in layers.items():
        feature, source = layer.bilinear.feature_steps, node.args[0]
        assert isinstance(source, fx.Node)
        if (source, feature) not in slabs:
            activated = is_relu(source, modules)
            before: Any = source.args[0] if activated else source
            if activated and only_user(before) is not source and is_in_place(source, modules):
                activated, before = False, source  # others see what it writes over
            summed = terms_of_sum(before) if before is source or only_user(before) is source else None
            if activated or summed:
                given = summed or (before,)
                piece = Piece((), "features" if summed else "nothing", activated, feature, kept=True)
                features, transformed = glue(piece, source, *given)
                activations.append((piece, features))
                source.replace_all_uses_with(features)
                source = features
            else:
                # Of lifted images, as a rule: nobody asks for their gradient, which is compiled when somebody does.
                _, transformed = glue(Piece((), "nothing", False, feature, kept=False), source, source)
            slabs[source, feature] = transformed
        products = add_call(fused, "products", Products(layer), node, slabs[source, feature], source)
        convolved.add(products)
        piece = Piece(layer.bilinear.inverse_steps, "nothing", False, (), kept=True)
        result, _ = glue(piece, products, products)
        pieces[Gradient(piece, of_features=True, of_slabs=False)] = None
        node.replace_all_uses_with(result)
        fused.graph.erase_node(node)
    fused.graph.eliminate_dead_code()
    for piece, features in activations:  # of features that convolutions alone look at, the slabs have the gradient
        pieces[Gradient(piece, not convolved.issuperset(features.users), of_slabs=True)] = None
    fused.recompile()
    return pieces


def _fusable(node: fx.Node, modules: dict[str, nn.Module], fast: set[nn.Module]) -> GroupConv2d | None:
    """The layer that a node calls, where that is a group convolution whose products can be had by themselves.

    A strided 1×1 convolution is not: it transforms no more than it looks at.
    """
    layer = called_layer(node, modules)
    if layer is None or layer not in fast or layer.frozen or not layer.has_products or len(node.args) != 1:
        return None
    return None if is_strided_point(layer.kernel_size, layer.stride, layer.padding) else layer


class _Between(nn.Module):
    """A piece as a layer: ``(features or None, slabs)`` of products or features, and what is added."""

    def __init__(self, piece: Piece) -> None:
        super().__init__()
        self.piece = piece

    def forward(
        self, given: Sequence[Tensor] | Tensor, beside: Tensor | None = None
    ) -> tuple[Tensor | None, list[Tensor]]:
        terms = [given] if isinstance(given, Tensor) else [*given]
        if beside is not None:
            shape = torch.broadcast_shapes(terms[0].shape, beside.shape)  # type: ignore[no-untyped-call]
            terms = [terms[0].expand(shape), beside.expand(shape)]
        found: Any = _Function.apply(self.piece, *terms)  # type: ignore[no-untyped-call]
        return (found[0], list(found[1:])) if self.piece.kept else (None, list(found))


class _Function(torch.autograd.Function):
    """``apply(piece, *tensors)``: of features, or of products, and of what is added, to features and slabs."""

    @staticmethod
    def forward(ctx: Any, *inputs: Any) -> tuple[Tensor, ...]:
        piece, *tensors = inputs
        given = tensors if piece.inverse else tensors[0]
        found, ctx.shape, ctx.last = computed_of(piece, given, tensors[1] if piece.beside == "features" else None)
        results = [each.data for each in found]  # no views, which nobody could change in place
        ctx.piece = piece
        ctx.save_for_backward(*(results[:1] if piece.relu else []))
        ctx.set_materialize_grads(False)
        return tuple(results)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor | None) -> tuple[Tensor | None, ...]:
        piece, last, order = ctx.piece, ctx.last, ctx.piece.order
        of_features, of_slabs = (gradients[0], gradients[1:]) if piece.kept else (None, gradients)
        listened = [each for each in of_slabs if each is not None]
        if of_features is None and not listened:
            return (None,) * len(ctx.needs_input_grad)
        if 0 < len(listened) < len(of_slabs):  # some of the products were not used
            of_slabs = tuple(torch.zeros_like(listened[0]) if each is None else each for each in of_slabs)
        terms = [] if of_features is None else flat(of_features, order, last)
        terms += flat([each for each in of_slabs if each is not None], order, last)
        terms += flat(ctx.saved_tensors[0], order, last) if piece.relu else []
        gradient = Gradient(piece, of_features is not None, bool(listened))
        results = formed(compute(gradient, terms), ctx.shape, last)
        if piece.inverse:
            return None, *results
        return (None, *results, *results) if piece.beside == "features" else (None, *results)
