"""What a measurement was made on: without it, seconds mean nothing."""

from typing import Any

import torch

from equicolor._tools import environment


def machine(device: str | torch.device = "cpu") -> dict[str, Any]:
    """Hardware and versions, fit for JSON."""
    versions = environment.versions()
    return {**{name: versions[name] for name in ("equicolor", "torch", "python")}, **environment.machine(device)}
