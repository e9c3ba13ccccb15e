"""Layers that take the place of others: the group counterpart of a layer, and the pool before a head."""

import math
from collections.abc import Callable
from typing import Any, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from equicolor._tools.computed import why_computed
from equicolor.baselines import CEConvLift
from equicolor.convert._dry_run import CONVOLUTIONS, map_tensors
from equicolor.groups import Group
from equicolor.models import Kit
from equicolor.nn import GroupConv2d, GroupConvBase, GroupDropout, GroupLinear, GroupPool

#: The layers that have a group counterpart.
MIXING = (*CONVOLUTIONS, nn.Linear)
_CHANNEL_DROPOUTS = (nn.Dropout1d, nn.Dropout2d, nn.Dropout3d)


class SamePadded(nn.Module):
    """A group convolution after padding to ⌈size/stride⌉ outputs, as TensorFlow does: timm's ``Conv2dSame``."""

    conv: GroupConv2d | CEConvLift

    def __init__(self, conv: nn.Module) -> None:
        super().__init__()
        self.conv = cast("GroupConv2d | CEConvLift", conv)

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


def counterpart(path: str, layer: nn.Module, kit: Kit, keep_weights: bool, first: bool) -> nn.Module | None:
    """The layer of ``kit`` in place of ``layer``; None for a special linear layer, which acts on each element.

    Args:
        path: its name, for messages.
        layer: a convolution or a linear layer.
        kit: for which group, or for CEConv.
        keep_weights: give it the filters of ``layer``, those between different elements being zero.
        first: whether images enter here, not features.

    Raises:
        ValueError: a convolution of a kind that has no counterpart.
    """
    assert kit.group is not None
    if isinstance(layer, nn.Linear):
        if type(layer) is not nn.Linear or _why_not(layer):
            return None
        linear = GroupLinear(kit.group, layer.in_features, layer.out_features, **_factory(layer))
        return _filled(linear, layer, keep_weights)
    check_plain(path, layer)
    assert isinstance(layer, CONVOLUTIONS)
    arguments: dict[str, Any] = {
        "kernel_size": layer.kernel_size,
        "stride": layer.stride,
        "padding": layer.padding,
        "dilation": layer.dilation,
        "groups": layer.groups,
        "padding_mode": layer.padding_mode,
        **_factory(layer),
    }
    if first and kit.lifts_in_first:
        return _filled(_lifting(path, layer, kit, arguments), layer, keep_weights)
    size = (layer.in_channels, layer.out_channels)
    if isinstance(layer, nn.ConvTranspose2d):
        del arguments["padding_mode"]  # there is but one
        transposed = kit.conv_transpose(*size, output_padding=layer.output_padding, **arguments)
        return _filled(transposed, layer, keep_weights)
    # A 1×1 filter has no space to share: that of CEConv is not separable.
    make = kit.projection if layer.kernel_size == (1, 1) else kit.conv
    if _is_same_padded(layer):
        return _filled(SamePadded(make(*size, **arguments | {"padding": 0})), layer, keep_weights)
    return _filled(make(*size, **arguments), layer, keep_weights)


def _lifting(path: str, layer: nn.Conv2d | nn.ConvTranspose2d, kit: Kit, arguments: dict[str, Any]) -> nn.Module:
    """CEConv's first layer, which turns filters of red, green and blue."""
    zeros = arguments.pop("padding_mode") == "zeros"
    if isinstance(layer, nn.ConvTranspose2d) or (layer.in_channels, arguments.pop("groups")) != (3, 1) or not zeros:
        raise ValueError(
            f"cannot convert {path!r} to {kit.config['group']}: CEConv's first layer is a convolution of RGB images, "
            f"without groups, padded with zeros; this is {layer}"
        )
    if _is_same_padded(layer):
        return SamePadded(kit.first(layer.out_channels, **arguments | {"padding": 0}))
    return kit.first(layer.out_channels, **arguments)


def added_parameters(weight: Tensor, kit: Kit, first: bool) -> int:
    """How many parameters a layer has more than the plain one whose filters these are."""
    assert kit.group is not None
    order, area = kit.group.order, math.prod(weight.shape[2:])
    if not kit.lifts_in_first or (area == 1 and not first):
        return (order - 1) * weight.numel()
    return 9 if first else order * weight.numel() // area  # the rotation; a weight for each turn, of each filter


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
    conv = cast("GroupConvBase", new.conv if isinstance(new, (SamePadded, GroupLinear)) else new)
    weight, bias = cast("nn.Parameter", old.weight), cast("nn.Parameter | None", old.bias)
    names = getattr(conv, "filter_parameters", ("weight",))
    for name in names:
        conv.get_parameter(name).requires_grad_(weight.requires_grad)
    with torch.no_grad():
        if bias is not None:
            own = conv.get_parameter("bias").requires_grad_(bias.requires_grad)
            own.copy_(bias if keep_weights else own)
        if keep_weights:
            _keep_filters(conv, names, weight)
    return new.train(old.training)


def _keep_filters(conv: nn.Module, names: tuple[str, ...], filters: Tensor) -> None:
    if isinstance(conv, CEConvLift):
        conv.weight.copy_(filters)
        return
    group = cast("Group", conv.group)
    # Of CEConv's two factors, one is shared over the turns, and the other says which it is for.
    shared, turns = (None, conv.get_parameter(names[0])) if len(names) == 1 else map(conv.get_parameter, names)
    own = cast("Tensor", turns).zero_()
    identity = own.view(own.shape[0], group.order, -1, *own.shape[2:])[:, group.index(group.identity)]
    if shared is None:
        identity.copy_(filters.view(*filters.shape, *[1] * (4 - filters.dim())))
    else:
        shared.copy_(filters)
        identity.fill_(1)


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
