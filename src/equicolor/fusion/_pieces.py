"""A piece of glue: what is computed between convolutions, number by number, and its gradient; as graphs, and compiled.

A group convolution ends in an inverse transform of R products, which a sum, an activation and the transform of the next
one may follow. Eager, each of them reads and writes all features. A piece is one small function of all of it, whatever
the size: it is compiled once for all layers that have the same neighbours, and PyTorch keeps what it compiled on disk.
"""

import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor, fx, nn

from equicolor._tools.tensors import is_channels_last, is_traced
from equicolor._tools.words import first_line
from equicolor.algorithms import Steps, transposed, written_out

#: Numbers in a slab, with which a piece is compiled for any number of them.
_SOME = 1024
#: An argument that is one row of numbers.
_ROW = 0


class Piece(NamedTuple):
    """What is computed between convolutions. Without an inverse transform, features are given and not products."""

    inverse: Steps
    beside: Literal["nothing", "products", "features"]  # what is added
    relu: bool
    feature: Steps  # the next transform; none where no convolution follows
    kept: bool  # whether the features themselves are needed

    @property
    def order(self) -> int:
        """How many elements the features have."""
        return _rows(self.inverse) if self.inverse else _columns(self.feature)

    @property
    def given(self) -> int:
        """How many terms it is computed from, but for what is added."""
        return _columns(self.inverse) if self.inverse else self.order

    @property
    def takes(self) -> tuple[int, ...]:
        """Its arguments: features count their elements, which are stacked, and a product is one row of numbers."""
        given = (_ROW,) * self.given if self.inverse else (self.order,)
        return given + {"nothing": (), "products": (_ROW,) * self.given, "features": (self.order,)}[self.beside]

    @property
    def graph(self) -> fx.GraphModule:
        """Of its arguments, to the features, stacked, where they are kept, and the slabs."""
        return _graph(self)


class Gradient(NamedTuple):
    """The gradient of a piece, to which nothing or features are added.

    It is computed from gradients of the features, where anything else listens to them, from those of the slabs, where
    any follow, and from the features themselves, where they were activated.
    """

    piece: Piece
    of_features: bool
    of_slabs: bool

    @property
    def takes(self) -> tuple[int, ...]:
        """Its arguments, as those of a piece."""
        features, slabs = (self.piece.order,), (_ROW,) * _rows(self.piece.feature)
        return features * self.of_features + slabs * self.of_slabs + features * self.piece.relu

    @property
    def graph(self) -> fx.GraphModule:
        """Of its arguments, to the gradient of the features before the activation, stacked, or of the products."""
        return _gradient_graph(self)


Computed = Piece | Gradient


@lru_cache
def _graph(piece: Piece) -> fx.GraphModule:
    graph, terms = _begun(piece.takes)
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
    return _ended(graph, [*kept, *slabs])


@lru_cache
def _gradient_graph(gradient: Gradient) -> fx.GraphModule:
    piece, order = gradient.piece, gradient.piece.order
    graph, terms = _begun(gradient.takes)
    features = terms[len(terms) - order :] if piece.relu else []
    terms = terms[: len(terms) - len(features)]
    found = terms[:order] if gradient.of_features else []
    if gradient.of_slabs:
        back = written_out(transposed(piece.feature), terms[len(found) :])
        found = [term + other for term, other in zip(found, back, strict=True)] if found else back
    if piece.relu:
        found = [torch.where(value > 0, term, 0.0) for term, value in zip(found, features, strict=True)]
    if piece.inverse:
        return _ended(graph, written_out(transposed(piece.inverse), found))
    return _ended(graph, [torch.stack(found)])


def _begun(takes: Sequence[int]) -> tuple[fx.Graph, list[Any]]:
    """A graph of such arguments, and all of their rows: tensors, to a reader."""
    graph = fx.Graph()
    tracer = fx.proxy.GraphAppendingTracer(graph)
    given: list[Any] = [fx.Proxy(graph.placeholder(f"given_{place}"), tracer) for place in range(len(takes))]
    rows = [
        [each] if count == _ROW else [each[row] for row in range(count)]
        for each, count in zip(given, takes, strict=True)
    ]
    return graph, [row for each in rows for row in each]


def _ended(graph: fx.Graph, results: Iterable[Any]) -> fx.GraphModule:
    graph.output([proxy.node for proxy in results])
    return fx.GraphModule(nn.Module(), graph)


def _rows(steps: Steps) -> int:
    return math.prod(map(len, steps[-1])) if steps else 0


def _columns(steps: Steps) -> int:
    return _rows(transposed(steps))


@lru_cache
def compiled(computed: Computed) -> Callable[..., list[Tensor]]:
    """A piece, or a gradient, as one function; it is compiled when it is first called."""
    return torch.compile(computed.graph, dynamic=True, fullgraph=True)


def compute(computed: Computed, given: Sequence[Tensor]) -> list[Tensor]:
    """The results of a piece or of a gradient, compiled unless somebody else records what is done."""
    if is_traced() or given[0].numel() < 2 * max(1, computed.takes[0]):  # a row of one is a constant to a compiler
        return _written(computed, given)
    try:
        return _compiled(computed, given)
    except Exception as error:  # a network may come here from a machine that had a compiler
        results = _written(computed, given)
        if type(error).__name__ != "FailOnRecompileLimitHit":  # of a module that takes a second to import
            _warn_once(first_line(error))
        return results


def compile_all(pieces: Iterable[Computed], like: Tensor) -> str:
    """Compiles pieces now, so that it is known whether they can be.

    Args:
        pieces: what to compile.
        like: a tensor of the kind that they will meet.

    Returns:
        Why they cannot be compiled, as where there is no compiler; empty if they are.
    """
    try:
        for piece in pieces:
            shapes = [(_SOME,) if count == _ROW else (count, _SOME) for count in piece.takes]
            _compiled(piece, [like.new_zeros(shape) for shape in shapes])
    except Exception as error:
        return first_line(error)
    return ""


def _compiled(computed: Computed, given: Sequence[Tensor]) -> list[Tensor]:
    # As tensors of their own: that they are views, and of what, would be one more kind of argument to compile for.
    return compiled(computed)(*(each.data for each in given))


def _written(computed: Computed, given: Sequence[Tensor]) -> list[Tensor]:
    return list(computed.graph(*given))


@lru_cache
def _warn_once(reason: str) -> None:
    warnings.warn(f"what was fused cannot be compiled here, and is computed without: {reason}", stacklevel=4)


def flat(given: Sequence[Tensor] | Tensor, order: int, last: bool) -> list[Tensor]:
    """Features of so many elements, or slabs, as rows of numbers in the order in which they lie in memory."""
    if isinstance(given, Tensor):
        return [(given.permute(0, 2, 3, 1) if last else given).reshape(order, -1)]
    return [(slab.permute(0, 2, 3, 1) if last else slab).reshape(-1) for slab in given]


def formed(results: Sequence[Tensor], shape: Sequence[int], last: bool) -> list[Tensor]:
    """The inverse: rows of numbers as slabs of a shape, and stacked ones as features of so many elements."""
    rows, channels, height, width = shape
    tail = (height, width, channels) if last else (channels, height, width)
    found = [result.view(len(result) * rows if result.dim() == 2 else rows, *tail) for result in results]
    return [result.permute(0, 3, 1, 2) for result in found] if last else found


class Results(NamedTuple):
    """What a piece gives.

    Attributes:
        tensors: the features, where they are kept, and the slabs.
        shape: of a slab.
        last: whether they are in channels_last.
    """

    tensors: list[Tensor]
    shape: tuple[int, ...]
    last: bool


def computed_of(
    piece: Piece, given: Sequence[Tensor] | Tensor, beside: Sequence[Tensor] | Tensor | None = None
) -> Results:
    """Computes a piece of products or features, and of what is added, laid out as what is given."""
    like = given if isinstance(given, Tensor) else given[0]
    last = is_channels_last(like)
    shape = (len(like) // (piece.order if isinstance(given, Tensor) else 1), *like.shape[1:])
    rows = [*flat(given, piece.order, last), *([] if beside is None else flat(beside, piece.order, last))]
    return Results(formed(compute(piece, rows), shape, last), shape, last)
