"""What the CPU can do, as far as it decides how something is best computed."""

import torch

#: How many float32 numbers one of PyTorch's vectors holds: 16 with AVX-512, otherwise 8.
LANES = 16 if torch.backends.cpu.get_cpu_capability().startswith("AVX512") else 8
