"""The tensors of a network as a file of safetensors: written whole, read without executing anything, and compared."""

import hashlib
from functools import partial
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from equicolor._tools.optional import require
from equicolor._tools.wrapped import unwrapped

needed = partial(require, purpose="reading and writing models", install="equicolor")


def as_bytes(state: dict[str, Tensor], **metadata: str) -> bytes:
    """The contents of the file, with these metadata in front."""
    data: bytes = needed("safetensors.torch").save(state, metadata={"format": "pt", **metadata})
    return data


def stored_metadata(path: Path) -> dict[str, str]:
    """The metadata of a file, from its first bytes.

    Raises:
        ValueError: it is damaged.
    """
    try:
        with needed("safetensors").safe_open(path, framework="numpy") as file:
            return dict(file.metadata() or {})
    except Exception as error:
        raise _damaged(path, error) from None


def stored_shapes(path: Path) -> dict[str, tuple[int, ...]]:
    """The names and shapes of the tensors of a file, from its first bytes: what they hold is not read.

    Raises:
        FileNotFoundError: it is missing.
        ValueError: it is no file, or damaged.
    """
    if not path.exists():
        raise FileNotFoundError(f"there is no {path.name} in {path.parent}: the weights are missing")
    if not path.is_file():
        raise ValueError(f"{path} is no file, expected the weights of a network")
    safetensors = needed("safetensors")
    try:
        with safetensors.safe_open(path, framework="numpy") as file:
            return {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118
    except Exception as error:
        raise _damaged(path, error) from None


def read_weights(path: Path, checksum: str | None) -> dict[str, Tensor]:
    """The tensors of a file, which is the one with this checksum.

    Raises:
        ValueError: it is another one, or damaged.
    """
    data = path.read_bytes()
    if checksum is not None and hashlib.sha256(data).hexdigest() != checksum:
        raise ValueError(
            f"{path} is not the file that the card beside it was written for (its SHA-256 differs): damaged, or from "
            "another model. Save or download both again."
        )
    try:
        weights: dict[str, Tensor] = needed("safetensors.torch").load(data)
    except Exception as error:
        raise _damaged(path, error) from None
    return weights


def _damaged(path: Path, error: Exception) -> ValueError:
    return ValueError(f"{path} is damaged: {error}. Save or download the model again.")


def check_fits(model: nn.Module, shapes: dict[str, tuple[int, ...]], path: Path) -> None:
    """ValueError where the tensors of a file are not those of the network."""
    expected = model.state_dict()
    problems = [f"{name} is missing" for name in expected if name not in shapes]
    problems += [f"{name[:100]} has no place" for name in shapes if name not in expected]
    problems += [
        f"{name} has shape {shapes[name]}, expected {tuple(value.shape)}"
        for name, value in expected.items()
        if name in shapes and shapes[name] != tuple(value.shape)
    ]
    if problems:
        more = f" and {len(problems) - 3} more" if len(problems) > 3 else ""
        raise ValueError(f"{path} does not fit the network: {'; '.join(problems[:3])}{more}")


def check_kinds(model: nn.Module, weights: dict[str, Tensor], path: Path) -> None:
    """ValueError where the tensors of a file are of another kind than those of the network."""
    for name, expected in model.state_dict().items():
        found = weights[name].dtype
        if found != expected.dtype and not (found.is_floating_point and expected.dtype.is_floating_point):
            raise ValueError(f"{path} does not fit the network: {name} has {found}, expected {expected.dtype}")


def check_finite(weights: dict[str, Tensor], what: str) -> None:
    """ValueError where a weight is NaN or infinite, beginning with ``what``."""
    for name, value in weights.items():
        if not value.is_floating_point():
            continue
        finite = (value.float() if value.dtype.itemsize == 1 else value).isfinite()
        if not finite.all():
            count = int((~finite).sum())
            raise ValueError(f"{what}: {name} has {count:,} of {value.numel():,} values that are NaN or infinite")


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
