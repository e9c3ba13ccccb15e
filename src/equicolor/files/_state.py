"""The tensors of a network as a file of safetensors: written whole, read without executing anything, and compared."""

import hashlib
from functools import partial
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from equicolor._tools.optional import require
from equicolor._tools.wrapped import unwrapped

needed = partial(require, purpose="reading and writing models", install="equicolor")


def as_bytes(state: dict[str, Tensor]) -> bytes:
    """The contents of the file."""
    data: bytes = needed("safetensors.torch").save(state, metadata={"format": "pt"})
    return data


def read_weights(path: Path, checksum: str | None) -> dict[str, Tensor]:
    """The tensors of a file, which is the one with this checksum.

    Raises:
        FileNotFoundError: it is missing.
        ValueError: it is another one, or damaged.
    """
    if not path.is_file():
        raise FileNotFoundError(f"there is no {path.name} in {path.parent}: the weights are missing")
    safetensors = needed("safetensors.torch")
    data = path.read_bytes()
    if checksum is not None and hashlib.sha256(data).hexdigest() != checksum:
        raise ValueError(
            f"{path} is not the file that the card beside it was written for (its SHA-256 differs): truncated, or from "
            "another model. Save or download both again."
        )
    try:
        weights: dict[str, Tensor] = safetensors.load(data)
    except Exception as error:
        raise ValueError(f"{path} is damaged: {error}. Save or download the model again.") from None
    return weights


def check_fits(model: nn.Module, weights: dict[str, Tensor], path: Path) -> None:
    """ValueError where the tensors of a file are not those of the network."""
    expected = model.state_dict()
    problems = [f"{name} is missing" for name in expected if name not in weights]
    problems += [f"{name} has no place" for name in weights if name not in expected]
    problems += [
        f"{name} has shape {tuple(weights[name].shape)}, expected {tuple(value.shape)}"
        for name, value in expected.items()
        if name in weights and weights[name].shape != value.shape
    ]
    if problems:
        more = f" and {len(problems) - 3} more" if len(problems) > 3 else ""
        raise ValueError(f"{path} does not fit the network: {'; '.join(problems[:3])}{more}")


def state_of(model: nn.Module) -> dict[str, Tensor]:
    """The state as safetensors takes it: on the CPU, contiguous, each tensor with memory of its own."""
    return {name: value.detach().to("cpu", copy=True).contiguous() for name, value in _gathered(model).items()}


def _gathered(model: nn.Module) -> dict[str, Tensor]:
    """The state of what a model wraps, under its own names; whole, where processes have it in parts and all ask."""
    model = getattr(model, "_forward_module", model)  # Fabric's asks the network, which may not know of its parts
    if not any("_fsdp_wrapped_module" in module._modules for module in model.modules()) and not any(
        hasattr(parameter, "full_tensor") for parameter in model.parameters()
    ):
        return unwrapped(model).state_dict()
    from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict

    state: dict[str, Any] = get_model_state_dict(model, options=StateDictOptions(full_state_dict=True))
    return state
