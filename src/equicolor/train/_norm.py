"""Batch norms whose statistics are those of the whole batch, however many processes share it, on a CPU too.

torch's ``SyncBatchNorm`` runs on GPUs alone. This one is plain arithmetic around two sums over all processes.
"""

from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

from equicolor.nn import BatchNorm2d


class SharedBatchNorm2d(BatchNorm2d):
    """``nn.BatchNorm2d`` that sees the batches of all processes as one. Parameters and statistics have its names.

    Half precision is summed in float32, as by ``nn.BatchNorm2d``: float16 ends at 65504, bfloat16 has 8 bits.
    """

    def forward(self, features: Tensor) -> Tensor:
        self._check_input_dim(features)
        shared = self.training or not self.track_running_stats
        if not shared or not dist.is_initialized() or dist.get_world_size() == 1:
            return super().forward(features)
        wide = features.to(torch.promote_types(features.dtype, torch.float32))
        count = torch.tensor([wide.numel() / wide.shape[1]], dtype=wide.dtype, device=wide.device)
        dist.all_reduce(count)
        mean = _summed(wide.sum((0, 2, 3))) / count
        centred = wide - mean[:, None, None]
        # The squares of what is centred: the difference of two large sums would lose what float32 can hold.
        variance = _summed(centred.square().sum((0, 2, 3))) / count
        self._remember(mean.detach(), variance.detach() * (count / (count - 1)))
        scaled = centred * torch.rsqrt(variance + self.eps)[:, None, None]
        if self.affine:
            scaled = scaled * self.weight[:, None, None] + self.bias[:, None, None]
        return scaled.to(features.dtype)


class _Sum(torch.autograd.Function):
    """The sum over all processes. Each result depends on every process's part, so gradients are summed likewise."""

    @staticmethod
    def forward(ctx: Any, part: Tensor) -> Tensor:
        total = part.clone(memory_format=torch.contiguous_format)
        dist.all_reduce(total)
        return total

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        total = gradients[0].clone(memory_format=torch.contiguous_format)
        dist.all_reduce(total)
        return total


def _summed(part: Tensor) -> Tensor:
    total: Tensor = _Sum.apply(part)  # type: ignore[no-untyped-call]
    return total


def share_batch_norms(module: nn.Module, device: torch.device) -> nn.Module:
    """``module`` with batch norms that are shared by all processes: torch's own on a GPU, ours elsewhere."""
    if device.type == "cuda":
        converted: nn.Module = nn.SyncBatchNorm.convert_sync_batchnorm(module)  # type: ignore[no-untyped-call]
        return converted
    for part in module.modules():
        if type(part) in (nn.BatchNorm2d, BatchNorm2d):
            part.__class__ = SharedBatchNorm2d  # the same parameters and buffers, another forward
    return module
