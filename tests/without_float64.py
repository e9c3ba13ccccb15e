"""A device without float64, as Apple's GPUs are, for machines that have none.

Its name is ``"meta"``, which every build of PyTorch knows; what is on it is held, and computed, on the CPU. Whatever
would put a float64 there raises the error that MPS raises, and so does arithmetic with what was left on the CPU.
"""

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

DEVICE = "meta"
_aten = torch.ops.aten
#: What takes tensors of two devices.
_CROSSING = {_aten._to_copy.default, _aten.copy_.default, _aten.index.Tensor, _aten._index_put_impl_.default}


class WithoutFloat64(TorchDispatchMode):
    """Inside, there is such a device."""

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        return _computed(function, args, kwargs or {})


class _There(torch.Tensor):
    """A tensor on the device."""

    @staticmethod
    def __new__(cls, held):
        return torch.Tensor._make_wrapper_subclass(
            cls, held.shape, strides=held.stride(), dtype=held.dtype, device=DEVICE, requires_grad=False
        )

    def __init__(self, held):
        self.held = held

    def new_tensor(self, data, **_):
        """Of numbers: PyTorch's own would be one of its meta device, without values."""
        return _placed(torch.tensor(data, dtype=self.dtype), [])

    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        return _computed(function, args, kwargs or {})


def _computed(function, args, kwargs):
    tensors = [value for value in tree_leaves((args, kwargs)) if isinstance(value, torch.Tensor)]
    there = [value for value in tensors if isinstance(value, _There)]
    if there and function not in _CROSSING and any(value.dim() for value in tensors if not isinstance(value, _There)):
        raise RuntimeError(f"{function}: expected all tensors to be on the same device")
    device = kwargs.get("device")
    stays = torch.device(device).type == DEVICE if device is not None else bool(there)
    if function is _aten.copy_.default:
        stays = isinstance(args[0], _There)
    if device is not None and stays:
        kwargs = {**kwargs, "device": "cpu"}
    args, kwargs = tree_map(lambda value: value.held if isinstance(value, _There) else value, (args, kwargs))
    result = function(*args, **kwargs)
    return tree_map(lambda value: _placed(value, there), result) if stays else result


def _placed(value, there):
    if not isinstance(value, torch.Tensor):
        return value
    if value.dtype in (torch.float64, torch.complex128):
        raise TypeError(f"this device has no {value.dtype}")
    return next((one for one in there if one.held is value), _There(value))
