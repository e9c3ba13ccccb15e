"""Where the time of a call goes, by the kind of operation."""

from collections.abc import Callable

import torch

_KINDS = {
    "convolutions": ("convolution",),
    "transforms": ("aten::mm",),
    "copies": ("aten::cat", "aten::copy_"),
    "norms": ("batch_norm",),
    "activations and sums": ("clamp_min", "threshold", "relu", "aten::add"),
}
REST = "rest"


def profile(call: Callable[[], object]) -> dict[str, float]:
    """Seconds that each kind of operation takes on the CPU, in one call after one to warm up.

    ``transforms`` are the matrix products of the bilinear algorithms, ``copies`` those of products, filters and
    layouts; ``rest`` is everything else, the interpreter's share included.
    """
    call()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as found:
        call()
    seconds = dict.fromkeys((*_KINDS, REST), 0.0)
    for event in found.key_averages():
        seconds[_kind(event.key)] += event.self_cpu_time_total / 1e6
    return seconds


def _kind(name: str) -> str:
    """
    >>> [_kind(name) for name in ("aten::mkldnn_convolution", "aten::add_", "aten::addmm", "aten::empty")]
    ['convolutions', 'activations and sums', 'rest', 'rest']
    """
    if name.endswith("Backward0") or name.startswith("autograd::") or name == "aten::addmm":
        return REST  # calls of others, which count for themselves; and the linear head
    return next((kind for kind, parts in _KINDS.items() if any(part in name for part in parts)), REST)
