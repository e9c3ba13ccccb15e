"""Layers that take the place of others: the group counterpart of a layer, and the pool before a head."""

from collections.abc import Callable
from typing import Any, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from equicolor._tools.computed import why_computed
from equicolor.convert._dry_run import CONVOLUTIONS, map_tensors
from equicolor.groups import Group
from equicolor.nn import GroupConv2d, GroupConvTranspose2d, GroupDropout, GroupLinear, GroupPool

#: The layers that have a group counterpart.
MIXING = (*CONVOLUTIONS, nn.Linear)
_CHANNEL_DROPOUTS = (nn.Dropout1d, nn.Dropout2d, nn.Dropout3d)


class SamePadded(nn.Module):
    """A group convolution after padding to ⌈size/stride⌉ outputs, as TensorFlow does: timm's ``Conv2dSame``."""

    def __init__(self, conv: GroupConv2d) -> None:
        super().__init__()
        self.conv = conv

    def forward(self, features: Tensor) -> Tensor:
        margins: list[int] = []
        for axis in (1, 0):  # the last axis first, as torch.nn.functional.pad takes them
            size, stride = features.shape[2 + axis], self.conv.stride[axis]
            reach = (self.conv.kernel_size[axis] - 1) * self.conv.dilation[axis] + 1
            total = max((-(-size // stride) - 1) * stride + reach - size, 0)
            margins += [total // 2, total - total // 2]
        return cast("Tensor", self.conv(F.pad(features, margins)))


class PooledBefore(nn.Module):
    """The group pool, then the head, which is the module it was."""

    def __init__(self, pool: GroupPool, head: nn.Module) -> None:
        super().__init__()
        self.pool, self.head = pool, head

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.head(*map_tensors(self.pool, args), **map_tensors(self.pool, kwargs))


def counterpart(path: str, layer: nn.Module, group: Group, keep_weights: bool) -> nn.Module | None:
    """The group layer in place of ``layer``; None for a special linear layer, which stays and acts on each element.

    Raises:
        ValueError: a convolution of a kind that has no counterpart.
    """
    if isinstance(layer, nn.Linear):
        if type(layer) is not nn.Linear or _why_not(layer):
            return None
        return _filled(
            GroupLinear(group, layer.in_features, layer.out_features, **_factory(layer)), layer, keep_weights
        )
    check_plain(path, layer)
    assert isinstance(layer, CONVOLUTIONS)
    arguments: dict[str, Any] = {
        "stride": layer.stride,
        "padding": layer.padding,
        "dilation": layer.dilation,
        "groups": layer.groups,
        "padding_mode": layer.padding_mode,
        **_factory(layer),
    }
    size = (group, layer.in_channels, layer.out_channels, layer.kernel_size)
    if isinstance(layer, nn.ConvTranspose2d):
        transposed = GroupConvTranspose2d(*size, output_padding=layer.output_padding, **arguments)
        return _filled(transposed, layer, keep_weights)
    if _is_same_padded(layer):
        return _filled(SamePadded(GroupConv2d(*size, **arguments | {"padding": 0})), layer, keep_weights)
    return _filled(GroupConv2d(*size, **arguments), layer, keep_weights)


def shared_dropout(layer: nn.Module, group: Group) -> GroupDropout | None:
    """The dropout with one mask for all elements, in place of one that would draw a mask for each; else None."""
    dropout: GroupDropout | None = None
    if type(layer) is nn.Dropout:
        dropout = GroupDropout(group, layer.p)
    elif type(layer) in _CHANNEL_DROPOUTS:
        dropout = GroupDropout(group, cast("nn.Dropout2d", layer).p, over="channels")
    elif (chance := _chance_to_drop_rows(layer)) is not None:
        dropout = GroupDropout(group, chance, over="rows")
    return None if dropout is None else dropout.train(layer.training)


def _chance_to_drop_rows(layer: nn.Module) -> float | None:
    """Of stochastic depth, as torchvision and timm spell it."""
    name, package = type(layer).__name__, type(layer).__module__.partition(".")[0]
    if (package, name) == ("torchvision", "StochasticDepth") and getattr(layer, "mode", None) == "row":
        return float(getattr(layer, "p"))  # noqa: B009
    if (package, name) == ("timm", "DropPath") and getattr(layer, "scale_by_keep", False):
        return float(getattr(layer, "drop_prob") or 0.0)  # noqa: B009
    return None


def check_plain(path: str, layer: nn.Module) -> None:
    """ValueError, saying what to do, unless ``layer`` has a group counterpart."""
    if reason := _why_not(layer):
        raise ValueError(f"cannot convert {path!r}, a {type(layer).__name__}: {reason}")


def _why_not(layer: nn.Module) -> str | None:
    """What stands against replacing a layer, and what to do about it."""
    if reason := why_computed(layer, ("weight", "bias")):
        return reason
    if layer._forward_hooks or layer._forward_pre_hooks:
        return "it carries forward hooks, which would be lost; remove them first"
    if isinstance(layer, CONVOLUTIONS) and type(layer) not in CONVOLUTIONS and not _is_same_padded(layer):
        return (
            "it is a special kind of convolution, which may do more than convolve; replace it by the Conv2d or "
            "ConvTranspose2d that computes the same, or pool before it with pool_before="
        )
    return None


def _is_same_padded(layer: nn.Module) -> bool:
    return type(layer).__name__ == "Conv2dSame" and type(layer).__module__.startswith("timm.")


def _factory(layer: nn.Module) -> dict[str, Any]:
    weight = cast("Tensor", layer.weight)
    return {"bias": layer.bias is not None, "device": weight.device, "dtype": weight.dtype}


def _filled(new: nn.Module, old: nn.Module, keep_weights: bool) -> nn.Module:
    """``new`` with the state of ``old``: mode, what is frozen and, if kept, its filter on the identity element."""
    conv = cast("GroupConv2d", new if isinstance(new, (GroupConv2d, GroupConvTranspose2d)) else new.conv)
    for name, given in old.named_parameters(recurse=False):
        own = conv.get_parameter(name)
        own.requires_grad_(given.requires_grad)
        if keep_weights:
            with torch.no_grad():
                if name == "weight":
                    group = conv.group
                    filters = own.zero_().view(own.shape[0], group.order, -1, *own.shape[2:])
                    filters[:, group.index(group.identity)].copy_(given.view(*given.shape, *[1] * (4 - given.dim())))
                else:
                    own.copy_(given)
    return new.train(old.training)


def replace(model: nn.Module, replacements: dict[nn.Module, nn.Module]) -> None:
    """Puts each replacement wherever its module is registered, be it in several places."""
    for parent in list(model.modules()):
        for name, child in list(parent._modules.items()):  # named_children would give a shared child but once
            if child is not None and child in replacements:
                setattr(parent, name, replacements[child])


def wrap(model: nn.Module, path: str, wrapper: Callable[[nn.Module], nn.Module]) -> None:
    """Puts ``wrapper(module)`` wherever the module at ``path`` is registered."""
    module = model.get_submodule(path)
    replace(model, {module: wrapper(module)})
