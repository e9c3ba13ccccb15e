"""Weights from a file, which is never executed, into a network; a classifier of another size is left new."""

import os
import pickle
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from equicolor._tools.optional import require

_PICKLED = (".pth", ".pt", ".bin", ".tar")
#: Where training scripts keep the tensors, among other things that they save.
_INSIDE = ("state_dict", "model", "model_state_dict", "network")
#: Counts that are of no use to a network, and that some files leave out.
_DISPENSABLE = "num_batches_tracked"


def read_weights(path: str | os.PathLike[str]) -> dict[str, Tensor]:
    """Reads the tensors in a file of weights; nothing in it is executed.

    Args:
        path: a ``.safetensors`` file, or one that ``torch.save`` wrote, ``.pth`` or ``.pt``: of a state dict, or with
            one inside under a usual name, such as ``state_dict``.

    Returns:
        The tensors by name.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: it is damaged, holds more than tensors and plain values, or no tensors.
    """
    path = Path(path).expanduser()
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path} to take weights from")
    if path.suffix not in (".safetensors", *_PICKLED):
        raise ValueError(f"weights are read from .safetensors and {', '.join(_PICKLED)}, got {path}")
    try:
        if path.suffix == ".safetensors":
            found: Any = require("safetensors.torch", "reading weights", "equicolor").load_file(path)
        else:
            found = torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError:
        raise ValueError(
            f"{path} holds more than tensors, or is damaged. It was not read, as that could execute what is in it: "
            "save the network's state_dict() alone, best by safetensors"
        ) from None
    except Exception as error:
        raise ValueError(f"{path} is damaged: {error}") from None
    for name in _INSIDE:
        if isinstance(found, Mapping) and isinstance(found.get(name), Mapping):
            found = found[name]
    tensors = {str(name): value for name, value in dict(found).items() if isinstance(value, Tensor)}
    if not tensors:
        raise ValueError(f"there are no tensors in {path}")
    if all(name.startswith("module.") for name in tensors):  # of torch.nn.DataParallel
        tensors = {name.removeprefix("module."): value for name, value in tensors.items()}
    return tensors


def load_weights(network: nn.Module, path: str | os.PathLike[str], classifier: str | None) -> None:
    """Gives ``network`` the weights of a file; but a classifier of another size is left as it is, with a warning.

    Args:
        network: as its author built it.
        path: see :func:`read_weights`.
        classifier: the path of the layer that gives the logits.

    Raises:
        ValueError: the tensors are not those of the network.
    """
    weights, expected = read_weights(path), network.state_dict()

    def is_classifiers(name: str) -> bool:
        return classifier is not None and name.startswith(f"{classifier}.")

    def fits(name: str) -> bool:
        return name in weights and weights[name].shape == expected[name].shape

    own = [name for name in expected if is_classifiers(name)]
    renewed = bool(own) and not all(map(fits, own))
    problems = [
        f"{name} has shape {tuple(weights[name].shape)}, expected {tuple(expected[name].shape)}"
        if name in weights
        else f"{name} is missing"
        for name in expected
        if not (fits(name) or (renewed and name in own) or (name.endswith(_DISPENSABLE) and name not in weights))
    ]
    problems += [f"{name} has no place" for name in weights if name not in expected and not is_classifiers(name)]
    if problems:
        more = f" and {len(problems) - 3} more" if len(problems) > 3 else ""
        raise ValueError(
            f"{path} does not fit {type(network).__name__}: {'; '.join(problems[:3])}{more}. Where only the names "
            "differ, equicolor.sources.in_order gives the tensors those of the network"
        )
    taken = {name: value for name, value in weights.items() if name in expected and not (renewed and name in own)}
    network.load_state_dict(taken, strict=False)
    if renewed:
        there = f"that of {path} has {len(weights[own[0]])}" if own[0] in weights else f"{path} has none"
        warnings.warn(
            f"the classifier {classifier!r} starts anew, with {len(expected[own[0]])} classes: {there}", stacklevel=3
        )
