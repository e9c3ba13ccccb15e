"""What kind of tensor something is: its layout, who records what is done to it, and whether its values can be read."""

from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor
from torch._C._functorch import is_functorch_wrapped_tensor
from torch.autograd import forward_ad

#: The devices that have autocast. Asked here, since the compiler of PyTorch 2.8 does not know the function.
AUTOCAST = frozenset(kind for kind in ("cpu", "cuda", "xpu", "mps") if torch.amp.is_autocast_available(kind))


def is_traced() -> bool:
    """Whether a graph is being recorded, by a compiler, by ``torch.export`` or by ``torch.jit.trace``."""
    return torch.compiler.is_compiling() or bool(torch._C._is_tracing())


def is_wrapped(tensor: Tensor) -> bool:
    """Whether a transform of ``torch.func`` follows what is done to a tensor, such as vmap."""
    return not torch.compiler.is_compiling() and is_functorch_wrapped_tensor(tensor)


def is_transformed() -> bool:
    """Whether a transform of ``torch.func`` is at work, whatever tensors it follows."""
    return bool(torch._C._are_functorch_transforms_active())


def is_ordinary(tensor: Tensor) -> bool:
    """Whether a tensor is computed with as PyTorch does: not a fake, distributed or otherwise reinterpreted one."""
    return type(tensor).__torch_dispatch__ is Tensor.__torch_dispatch__


def is_plain(tensor: Tensor) -> bool:
    """Whether a tensor is an ordinary one that holds values: not a transform's, and not on the meta device."""
    return is_ordinary(tensor) and not is_wrapped(tensor) and tensor.device.type != "meta"


def is_readable(tensor: Tensor) -> bool:
    """Whether the values of a tensor are there to be looked at, now.

    They are not in a graph that is being recorded (a compiler's, an exporter's, a CUDA graph), under a transform of
    ``torch.func``, in a fake tensor and on the meta device.
    """
    if is_traced() or not is_plain(tensor):
        return False
    captured = tensor.device.type == "cuda" and torch.cuda.is_available() and torch.cuda.is_current_stream_capturing()
    return not captured


def is_recorded(tensor: Tensor) -> bool:
    """Whether what is done to a tensor goes into a graph, or is differentiated, backwards or forwards."""
    if not is_readable(tensor) or (tensor.requires_grad and torch.is_grad_enabled()):
        return True
    return forward_ad.unpack_dual(tensor).tangent is not None  # type: ignore[no-untyped-call]


def is_channels_last(features: Tensor) -> bool:
    """Whether a tensor is laid out (B, H, W, C) in memory and only so; not where a function transform hides that."""
    return (
        features.dim() == 4
        and not is_wrapped(features)
        and not features.is_contiguous()
        and features.is_contiguous(memory_format=torch.channels_last)
    )


def layout(features: Tensor) -> torch.memory_format:
    """Channels_last or contiguous: what to ask for where a copy should be laid out alike."""
    return torch.channels_last if is_channels_last(features) else torch.contiguous_format


def full_precision(device: torch.device) -> AbstractContextManager[object]:
    """No autocast on this device, where there is any."""
    if device.type in AUTOCAST and (is_traced() or torch.is_autocast_enabled(device.type)):
        return torch.autocast(device.type, enabled=False)
    return nullcontext()
