"""Regional compilation: a network's blocks one by one, so that blocks of the same shape are compiled once for all.

Compiled whole, a ResNet-44 is one graph of 44 convolutions, most of them alike, and takes minutes. Its blocks come in
few shapes, and PyTorch takes what it has compiled for one of them for the next of the same shape.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import torch
import torch._dynamo  # whose settings are not part of torch.compiler
from torch import nn

#: So many shapes of blocks in one measurement; more than all networks of the zoo have on all groups.
_LIMIT = 1024


def compile_blocks(model: nn.Module, backend: str = "inductor") -> nn.Module:
    """Compiles ``model`` in place, block by block, and returns it.

    Blocks are the outermost modules of a class of the network's own, neither PyTorch's nor :mod:`equicolor.nn`'s, that
    occurs more than once. What stands beside them (stem, head) is compiled in pieces of its own; a network without
    blocks is compiled whole. For fixed shapes: another size of images compiles anew.
    """
    for region in regions(model):
        region.compile(dynamic=False, backend=backend)
    return model


def regions(model: nn.Module) -> list[nn.Module]:
    """What :func:`compile_blocks` compiles: together, these are all of the model's layers.

    >>> from equicolor.models import create_model
    >>> len(regions(create_model("resnet18"))), len(regions(create_model("z2cnn")))  # lift, stem, 8 blocks, head; all
    (11, 1)
    """
    kinds = Counter(type(module) for module in model.modules())
    blocks = {module for module in model.modules() if kinds[type(module)] > 1 and not _is_layer(module)}

    def within(module: nn.Module) -> Iterator[nn.Module]:
        if module in blocks or blocks.isdisjoint(module.modules()):
            yield module
        else:
            for child in module.children():
                yield from within(child)

    return list(within(model))


@contextmanager
def compiling() -> Iterator[None]:
    """Room for the code of many networks, and an error instead of a silent return to eager mode where it ends.

    Afterwards that code is forgotten.
    """
    limits = {"recompile_limit": _LIMIT, "accumulated_recompile_limit": _LIMIT, "fail_on_recompile_limit_hit": True}
    try:
        with torch._dynamo.config.patch(limits):
            yield
    finally:
        torch._dynamo.reset()


def _is_layer(module: nn.Module) -> bool:
    return type(module).__module__.startswith(("torch.nn", "equicolor.nn"))
