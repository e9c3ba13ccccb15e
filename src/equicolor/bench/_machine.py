"""What a measurement was made on: without it, seconds mean nothing."""

import os
import platform
from typing import Any

import torch

import equicolor


def machine(device: str | torch.device = "cpu") -> dict[str, Any]:
    """Hardware and versions, fit for JSON."""
    place = torch.device(device)
    return {
        "equicolor": equicolor.__version__,
        "torch": torch.__version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "instructions": torch.backends.cpu.get_cpu_capability(),
        "device": torch.cuda.get_device_name(place) if place.type == "cuda" else place.type,
    }
