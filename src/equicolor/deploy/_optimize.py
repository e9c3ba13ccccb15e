"""A network made ready for inference: norms folded, filters transformed, activations in place."""

import copy
import operator
from collections import Counter
from typing import Any, NamedTuple

import torch
from torch import Tensor, fx, nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

from equicolor._tools.computed import why_computed
from equicolor._tools.tensors import layout
from equicolor.convert import Converted
from equicolor.fusion import fuse_glue
from equicolor.models import Canonicalized
from equicolor.nn import GroupConv2d, GroupConvBase


def optimize_for_inference(
    model: nn.Module,
    images: Tensor | None = None,
    *,
    compile: bool = False,  # noqa: A002
) -> nn.Module:
    """Makes a copy of a network that computes the same, faster: for inference only, and ready for ``torch.compile``.

    Batch norms that follow a convolution are folded into it, where the network's forward can be traced by ``torch.fx``,
    activations then write over what nothing else reads, and the filters of group convolutions are transformed once
    instead of in every forward (see :meth:`GroupConv2d.freeze`). A group convolution whose filters between different
    elements are all zero, as in a network that was converted and not trained since, becomes the ordinary one that it
    is. The given model is left as it is. Save before, not after: a frozen network cannot be trained or loaded.

    A layer whose parameters are computed in every forward, by pruning, a spectral norm or another hook or
    parametrization, or that carries hooks of yours, stays as it is.

    Args:
        model: any network.
        images: a batch like those to come. With it, each group convolution takes the way that is faster at its size;
            without, the one that is faster at a middling size.
        compile: also compile what stands between two group convolutions (a transform, a sum, an activation, the next
            transform), where the network's forward can be traced: small functions, each in seconds, which PyTorch keeps
            on disk for the next time. Where there is no C++ compiler, a warning says so, and the network is as without
            it. What is compiled runs in inference mode and is not for export; results are the same up to rounding.

    Returns:
        The copy, in eval mode.

    Raises:
        TypeError: ``model`` is no module.

    Example:
        >>> from equicolor.models import create_model
        >>> model = create_model("z2cnn", group="hue4").eval()
        >>> images = torch.rand(2, 3, 28, 28)
        >>> torch.testing.assert_close(optimize_for_inference(model)(images), model(images), atol=1e-5, rtol=1e-5)
    """
    if not isinstance(model, nn.Module):
        raise TypeError(f"expected a network, a torch.nn.Module, got {type(model).__name__}")
    optimized = copied(model).eval()
    with torch.no_grad():
        if images is not None:
            _settle(optimized, images)
        for path, layer in list(optimized.named_modules()):
            if isinstance(layer, GroupConv2d) and (plain := _for_each_element(layer)) is not None:
                _replace(optimized, path, plain)
        calls = _calls(optimized)
        for convolution, norm in _foldable(calls):
            _fold(optimized, convolution, norm)
        for activation in _replaceable(calls):
            activation.inplace = True
        for layer in optimized.modules():
            if isinstance(layer, GroupConvBase) and not why_computed(layer, layer.filter_parameters):
                layer.freeze()
    optimized.requires_grad_(False)
    if compile:
        fuse_glue(optimized.network if isinstance(optimized, Canonicalized) else optimized)
    return optimized


def copied(model: nn.Module) -> nn.Module:
    """A copy, also where hooks have left computed weights on layers, which PyTorch does not copy by itself."""
    computed = [
        value
        for module in model.modules()
        for value in vars(module).values()
        if isinstance(value, Tensor) and not value.is_leaf
    ]
    return copy.deepcopy(model, {id(value): value.detach().clone() for value in computed})


def _settle(model: nn.Module, images: Tensor) -> None:
    """Decides how each group convolution is computed by the features that it meets."""
    layers = [layer for layer in model.modules() if isinstance(layer, GroupConvBase)]
    hooks = [layer.register_forward_pre_hook(lambda layer, given: layer.settle(given[0])) for layer in layers]
    model(images)
    for hook in hooks:
        hook.remove()


_Convolution = nn.Conv2d | GroupConvBase


class _Call(NamedTuple):
    """A layer of a network that is called once, on the result of ``source`` which nothing else listens to."""

    path: str
    module: nn.Module
    source: fx.Node
    source_path: str = ""
    source_module: nn.Module | None = None  # where the source is a layer, also called once


def _calls(model: nn.Module, prefix: str = "") -> list[_Call]:
    """Those of a network, known as ``prefix`` in another. None where its forward cannot be traced: who listens is not
    certain then.
    """
    if isinstance(model, Canonicalized):
        parts = {f"canonicalizer.{name}": part for name, part in model.canonicalizer.named_children()}
        parts["network"] = model.network
        return [call for name, part in parts.items() for call in _calls(part, f"{prefix}{name}.")]
    # What a converted network does around its body is no concern of the layers in it.
    prefix, network = (f"{prefix}body.", model.body) if isinstance(model, Converted) else (prefix, model)
    try:
        graph = fx.Tracer().trace(network)
    except Exception:
        return []
    nodes = [node for node in graph.nodes if node.op == "call_module"]
    uses = Counter(node.target for node in nodes)
    modules = dict(network.named_modules())
    calls = []
    for node in nodes:
        source: Any = node.args[0] if node.args else None
        if not isinstance(source, fx.Node) or not len(source.users) == uses[node.target] == 1:
            continue
        call = _Call(f"{prefix}{node.target}", modules[str(node.target)], source)
        if source.op == "call_module" and uses[source.target] == 1:
            call = call._replace(source_path=f"{prefix}{source.target}", source_module=modules[str(source.target)])
        calls.append(call)
    return calls


def _foldable(calls: list[_Call]) -> list[tuple[str, str]]:
    """The convolutions that nothing but a batch norm listens to, each with its norm, by name."""
    return [
        (call.source_path, call.path)
        for call in calls
        if isinstance(call.module, nn.BatchNorm2d) and isinstance(call.source_module, _Convolution)
        if _is_plain(call.module) and _is_plain(call.source_module)
    ]


def _is_plain(layer: nn.Module) -> bool:
    """Whether a layer is what its parameters say, and nobody else listens to it."""
    names = (*layer.filter_parameters, "bias") if isinstance(layer, GroupConvBase) else ("weight", "bias")
    return not (layer._forward_hooks or layer._forward_pre_hooks or why_computed(layer, names))


def _replaceable(calls: list[_Call]) -> list[nn.ReLU]:
    """The activations of values that were made just before for them alone, and that they may write over."""
    return [
        call.module
        for call in calls
        if isinstance(call.module, nn.ReLU)
        and (call.source.target is operator.add or isinstance(call.source_module, _Convolution | nn.BatchNorm2d))
        and not (call.source_module is not None and call.source_module._forward_hooks)
    ]


def _fold(model: nn.Module, convolution_path: str, norm_path: str) -> None:
    """Puts the norm into the convolution, and an identity in the place of the norm."""
    convolution, norm = model.get_submodule(convolution_path), model.get_submodule(norm_path)
    if not isinstance(norm, nn.BatchNorm2d) or norm.running_mean is None or norm.running_var is None:
        return  # a norm by the batch's own statistics is no constant
    if isinstance(convolution, nn.Conv2d):
        _replace(model, convolution_path, fuse_conv_bn_eval(convolution, norm))
    elif isinstance(convolution, GroupConvBase):
        scale = torch.rsqrt(norm.running_var + norm.eps)
        scale = scale if norm.weight is None else scale * norm.weight
        shift = -norm.running_mean * scale
        convolution.fold(scale, shift if norm.bias is None else shift + norm.bias)
    _replace(model, norm_path, nn.Identity())


def _for_each_element(layer: GroupConv2d) -> nn.Conv2d | None:
    """The ordinary convolution that computes the same of every element; None where elements see each other."""
    if layer.frozen or not _is_plain(layer) or layer.window in ("rescale", "valid"):
        return None
    blocks = torch.unflatten(layer.weight, 1, (layer.group.order, -1))
    identity = layer.group.index(layer.group.identity)
    if any(block.any() for element, block in enumerate(blocks.unbind(1)) if element != identity):
        return None
    plain = nn.Conv2d(
        layer.in_channels,
        layer.out_channels,
        layer.kernel_size,
        layer.stride,
        layer.padding,
        layer.dilation,
        layer.groups,
        bias=layer.bias is not None,
        padding_mode=layer.padding_mode,
        device="meta",
    )
    plain.weight = nn.Parameter(blocks[:, identity].contiguous(memory_format=layout(layer.weight)), requires_grad=False)
    plain.bias = layer.bias
    return plain.train(layer.training)


def _replace(model: nn.Module, path: str, module: nn.Module) -> None:
    parent, _, name = path.rpartition(".")
    setattr(model.get_submodule(parent), name, module)
