"""Layers by names that a person understands: "after the second convolution" instead of ``layers.3``."""

from collections import Counter
from collections.abc import Mapping

from torch import Tensor, nn

_WORDS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
#: What a class of modules does, by what its name contains; the first that fits.
_KINDS = {"Conv": "convolution", "Pool": "pooling", "Norm": "normalised", "ReLU": "rectified", "GELU": "bent"}
#: Steps that are counted; what follows them is told by what it does to them.
_COUNTED = ("convolution", "pooling")

LIFT = "the lift: the image in every colour of the group"


def layer_names(model: nn.Module, outputs: Mapping[str, Tensor], rows: int) -> dict[str, str]:
    """Human name → name in ``model.named_modules()`` of each layer that gives feature maps, in the order of the calls.

    Args:
        model: a network.
        outputs: what its layers give for one image, from :func:`equicolor.measure.layer_outputs`.
        rows: how many elements its group has, which is how many rows a map of one image has.

    >>> import torch
    >>> from equicolor.measure import layer_outputs
    >>> from equicolor.models import create_model
    >>> model = create_model("z2cnn", "hue4").eval()
    >>> list(layer_names(model, layer_outputs(model, torch.rand(1, 3, 28, 28)), 4))[1:4]
    ['after the first convolution', 'after the first convolution, normalised', 'after the first convolution, rectified']
    """
    names: dict[str, str] = {}
    counts: Counter[str] = Counter()
    here = ""
    for name, output in outputs.items():
        module = model.get_submodule(name.partition("#")[0])
        kind = next((kind for part, kind in _KINDS.items() if part in type(module).__name__), "")
        if name.startswith("canonicalizer.") or output.dim() != 4 or len(output) != rows:
            continue
        if type(module).__name__ == "Lift":
            names[LIFT if rows > 1 else "the image"] = name
            continue
        if kind in _COUNTED:
            counts[kind] += 1
            here = f"after the {ordinal(counts[kind])} {kind}"
        own = here if kind in _COUNTED else f"{here or 'at the beginning'}, {kind or type(module).__name__}"
        while own in names:  # such as a second norm on another way through the network
            own += " again"
        names[own] = name
    return names


def ordinal(number: int) -> str:
    """A place in a row, in words.

    >>> ordinal(2), ordinal(21), ordinal(13)
    ('second', '21st', '13th')
    """
    if number <= len(_WORDS):
        return _WORDS[number - 1]
    ending = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
