"""Peak memory, to the byte: what the allocator hands out and takes back during one call."""

import os
from collections.abc import Callable

import torch
from torch.profiler import ProfilerActivity, profile


def peak_memory(call: Callable[[], object], device: str | torch.device = "cpu") -> int:
    """Measures the most bytes of tensors that are alive at once during a call, beyond those that were alive before.

    Args:
        call: what is to be done, once.
        device: where it is done.

    Returns:
        The bytes.

    Raises:
        RuntimeError: this build of PyTorch records no memory.

    Example:
        >>> peak_memory(lambda: torch.empty(1000) + torch.empty(1000))  # two terms and their sum, four bytes a number
        12000
    """
    place = torch.device(device)
    if place.type == "cuda":
        torch.cuda.synchronize(place)
        before = torch.cuda.memory_allocated(place)
        torch.cuda.reset_peak_memory_stats(place)
        call()
        torch.cuda.synchronize(place)
        return torch.cuda.max_memory_allocated(place) - before
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")  # it tells stderr of every start and stop
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        call()
    results = profiler.profiler.kineto_results if profiler.profiler else None
    if results is None:
        raise RuntimeError("this build of PyTorch records no memory: it lacks the kineto profiler")
    # Events of allocation carry how many bytes they took, or gave back.
    changes = sorted((e.start_ns(), e.nbytes()) for e in results.events() if e.name() == "[memory]")
    alive = peak = 0
    for _, change in changes:
        alive += change
        peak = max(peak, alive)
    return peak
