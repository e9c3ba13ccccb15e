"""Layers that a symbolic trace takes as a whole."""

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from torch import fx

_Forward = TypeVar("_Forward", bound=Callable[..., Any])


def leaf(forward: _Forward) -> _Forward:
    """Makes the module of this ``forward`` a leaf to ``torch.fx``, as the layers in ``torch.nn`` are.

    A trace then shows one call of the module, in place of what it does with tensors whose shapes and values are not
    known yet. It must be part of a larger module, which is what is traced.
    """

    @functools.wraps(forward)
    def called(self: Any, features: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(features, fx.Proxy):
            tracer: Any = features.tracer
            path = tracer.path_of_module(self)
            if not path:
                raise TypeError(
                    f"torch.fx sees a {type(self).__name__} as one step of a network, so there is nothing to trace in "
                    "one by itself: trace a module that contains it, such as torch.nn.Sequential(layer)"
                )
            return tracer.create_proxy("call_module", path, (features, *args), kwargs)
        return forward(self, features, *args, **kwargs)

    return called  # type: ignore[return-value]
