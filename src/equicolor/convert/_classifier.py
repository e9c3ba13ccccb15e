"""Which layer of a network gives its logits, and another in its place."""

import copy
from typing import Any

from torch import nn

from equicolor.convert._dry_run import Trace, example_images
from equicolor.convert._layers import MIXING


def find_classifier(model: nn.Module, trace: Trace) -> str | None:
    """The path of the layer that gives the logits: the one that a network of timm's names, or the last that runs.

    None where that is no layer of ``model``, or its outputs are no logits.
    """
    named = getattr(model, "get_classifier", None)
    layer = named() if callable(named) else None
    if isinstance(layer, nn.Module):
        return next((path for path, module in model.named_modules() if module is layer), None)
    last = next((call for call in reversed(trace.calls) if isinstance(call.module, MIXING)), None)
    if last is None or len(trace.outputs) != 1 or trace.outputs[0].dim() != 2:
        return None
    outputs = getattr(last.module, "out_features", getattr(last.module, "out_channels", None))
    return last.path if outputs == trace.outputs[0].shape[1] else None


def returns_maps(model: nn.Module, trace: Trace) -> bool:
    """Whether this is a network of timm's without a head: it returns feature maps, one or several."""
    return hasattr(model, "feature_info") and all(output.dim() == 4 for output in trace.outputs)


def classifier_of(model: nn.Module, image_size: int | tuple[int, int] | None = None) -> str | None:
    """Finds the layer that gives the logits of a network, by running it.

    Args:
        model: any network for RGB images.
        image_size: height and width, or one number for both, for networks that take one size only.

    Returns:
        The path of the layer; None where there is none.
    """
    skeleton = copy.deepcopy(model).to("meta").eval()
    return find_classifier(skeleton, example_images(skeleton, image_size)[1])


def resized(layer: nn.Module, outputs: int) -> nn.Module:
    """Makes a new layer like a given one, with another number of outputs.

    Args:
        layer: a linear layer or a convolution.
        outputs: the number of outputs; 0 for no layer.

    Returns:
        The new layer; for 0 outputs one that does nothing.

    Raises:
        TypeError: the layer is neither linear nor a convolution.
    """
    if outputs == 0:
        return nn.Identity()
    if isinstance(layer, nn.Linear):
        return nn.Linear(layer.in_features, outputs, layer.bias is not None)
    if isinstance(layer, nn.Conv2d):
        shape: dict[str, Any] = {name: getattr(layer, name) for name in ("kernel_size", "stride", "padding")}
        return nn.Conv2d(layer.in_channels, outputs, bias=layer.bias is not None, **shape)
    raise TypeError(f"cannot make a classifier like {type(layer).__name__}, only linear ones and convolutions")
