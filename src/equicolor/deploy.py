"""Deployment: a network made ready for inference, and exported to ONNX."""

import copy
import operator
import os
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor, fx, nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

from equicolor._wrapped import unwrapped
from equicolor.convert import Converted
from equicolor.nn import Lift
from equicolor.nn._base import GroupConvBase
from equicolor.nn._computed import why_computed


def optimize_for_inference(model: nn.Module, images: Tensor | None = None) -> nn.Module:
    """A copy of ``model`` that computes the same, faster: for inference only, and ready for ``torch.compile``.

    Batch norms that follow a convolution are folded into it, where the network's forward can be traced by ``torch.fx``,
    activations then write over what nothing else reads, and the filters of group convolutions are transformed once
    instead of in every forward (see :meth:`GroupConv2d.freeze`). The given model is left as it is. Save before, not
    after: a frozen network cannot be trained or loaded.

    A layer whose parameters are computed in every forward, by pruning, a spectral norm or another hook or
    parametrization, or that carries hooks of yours, stays as it is.

    Args:
        model: any network.
        images: a batch like those to come. With it, each group convolution takes the way that is faster at its size;
            without, the one that is faster at a middling size.

    >>> from equicolor.models import create_model
    >>> model = create_model("z2cnn", group="hue4").eval()
    >>> images = torch.rand(2, 3, 28, 28)
    >>> torch.testing.assert_close(optimize_for_inference(model)(images), model(images), atol=1e-5, rtol=1e-5)
    """
    optimized = _copy(model).eval()
    with torch.no_grad():
        if images is not None:
            _settle(optimized, images)
        calls = _calls(optimized)
        for convolution, norm in _foldable(calls):
            _fold(optimized, convolution, norm)
        for activation in _replaceable(calls):
            activation.inplace = True
        for layer in optimized.modules():
            if isinstance(layer, GroupConvBase) and not why_computed(layer, layer.filter_parameters):
                layer.freeze()
    return optimized.requires_grad_(False)


def _copy(model: nn.Module) -> nn.Module:
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


def export_onnx(model: nn.Module, path: str | os.PathLike[str], image_size: int | tuple[int, int]) -> Path:
    """Writes ``model`` as an ONNX file, the lift inside, for images of this size in batches of any.

    The file takes one input ``images``, float32 in [0, 1] ``(batch, C, H, W)``, RGB unless the network is for other
    channels, and gives one output ``logits``. It computes in float32, whatever the precision of the model. The filters
    of each convolution are a constant of its own, as ``onnxruntime.quantization`` expects. The file appears under its
    name only when it is complete; more than 1.5 GB of weights go into a second one beside it, ``*.onnx.data``.

    Args:
        model: any network; it is exported as :func:`optimize_for_inference` makes it, and left as it is.
        path: where to; conventionally ``*.onnx``.
        image_size: the height and width, one number for both.
    """
    try:
        import onnxscript  # noqa: F401
    except ImportError:
        raise ImportError("exporting to ONNX needs more packages: pip install 'equicolor[onnx]'") from None
    height, width = (image_size, image_size) if isinstance(image_size, int) else image_size
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    # Before norms are folded and filters transformed: that is then done in float32 too.
    network = _copy(unwrapped(model)).float().eval()
    device = next((parameter.device for parameter in network.parameters()), None)
    lifts = (module.in_channels for module in network.modules() if isinstance(module, Lift))
    images = torch.rand(2, next(lifts, 3), height, width, dtype=torch.float32, device=device)
    with torch.no_grad():
        network(images)  # says what is wrong with the size, if anything is, better than a tracer
    program = torch.onnx.export(
        optimize_for_inference(network),
        (images,),
        input_names=["images"],
        output_names=["logits"],
        dynamic_shapes=({0: torch.export.Dim("batch")},),
        dynamo=True,
        optimize=False,  # it would stop short of the filters
        verbose=False,
    )
    assert program is not None  # of dynamo
    _compute_constants(program.model)
    with tempfile.TemporaryDirectory(prefix=f".{path.name}.", suffix=".partial", dir=path.parent) as folder:
        program.save(Path(folder) / path.name, external_data=False)
        for file in sorted(Path(folder).iterdir(), reverse=True):  # the weights first, where they are apart
            file.replace(path.with_name(file.name))
    return path


#: So many numbers may stand in a file in the place of what computes them, even if the weights are fewer.
_SMALL = 2**18


def _compute_constants(model: Any) -> None:
    """Leaves nothing to a run, of an ONNX model in the intermediate representation, that does not depend on the images.

    A filter is then an initializer of its convolution: stacked as a frozen layer keeps them, they would be sliced anew
    by every run, and a quantizer, which looks for initializers, would pass them by.
    """
    from onnx_ir.passes.common import ClearMetadataAndDocStringPass
    from onnxscript import optimizer

    # By default large constants are left alone. Here, those that are larger than all weights together.
    limit = max(_SMALL, sum(weight.const_value.size for weight in model.graph.initializers.values()))
    optimizer.fold_constants(model, input_size_limit=limit, output_size_limit=limit)
    optimizer.remove_unused_nodes(model)  # what follows takes time that is quadratic in the nodes
    optimizer.optimize(model, input_size_limit=limit, output_size_limit=limit)
    ClearMetadataAndDocStringPass()(model)  # of each node, the lines of this machine's files that it comes from


_Convolution = nn.Conv2d | GroupConvBase


class _Call(NamedTuple):
    """A layer of a network that is called once, on the result of ``source`` which nothing else listens to."""

    path: str
    module: nn.Module
    source: fx.Node
    source_path: str = ""
    source_module: nn.Module | None = None  # where the source is a layer, also called once


def _calls(model: nn.Module) -> list[_Call]:
    """Those of a network. None where its forward cannot be traced: who listens is then not certain."""
    # What a converted network does around its body is no concern of the layers in it.
    prefix, network = ("body.", model.body) if isinstance(model, Converted) else ("", model)
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


def _replace(model: nn.Module, path: str, module: nn.Module) -> None:
    parent, _, name = path.rpartition(".")
    setattr(model.get_submodule(parent), name, module)
