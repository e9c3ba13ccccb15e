"""Parameters that are computed anew in every forward, and so are none to be taken out of a layer."""

from collections.abc import Iterable

from torch import nn
from torch.nn.utils import parametrize


def why_computed(layer: nn.Module, names: Iterable[str] = ("weight",)) -> str | None:
    """What computes one of these parameters of a layer, and how to end that; None where all are plain.

    >>> why_computed(nn.Conv2d(3, 8, 1)) is None
    True
    """
    for name in names:
        if parametrize.is_parametrized(layer, name):
            return (
                f"its {name} is parametrized; torch.nn.utils.parametrize.remove_parametrizations(layer, {name!r}) "
                "makes it plain"
            )
        if name not in layer._parameters:
            return (
                f"its {name} is computed by a hook; torch.nn.utils.prune.remove, remove_weight_norm or "
                "remove_spectral_norm makes it plain"
            )
    return None
