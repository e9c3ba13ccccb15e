"""Which device something is computed on: one by its name, or the accelerator that there is."""

import torch

from equicolor._tools.words import first_line


def chosen_device(device: str) -> torch.device:
    """The device of this name; ``"auto"`` is an accelerator where there is one, else the CPU."""
    if device == "auto":
        return accelerator() or torch.device("cpu")
    try:
        chosen = torch.device(device)
        torch.empty(0, device=chosen)
    except (RuntimeError, AssertionError) as error:
        raise ValueError(f"device {device!r} cannot be used here: {first_line(error)}") from None
    return chosen


def accelerator() -> torch.device | None:
    """The accelerator that PyTorch has here, of whatever make, if it has one."""
    return torch.accelerator.current_accelerator() if torch.accelerator.is_available() else None
