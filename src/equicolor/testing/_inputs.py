"""What a module is tried on, where its user gives nothing: random images, or random features on the group."""

import torch
from torch import Tensor, nn

from equicolor.baselines import CEConvLift
from equicolor.groups import Group
from equicolor.measure import Inputs
from equicolor.nn import Lift

#: The largest relative error, by the precision of a module.
TOLERANCE = {torch.float64: 1e-10, torch.float32: 1e-5, torch.bfloat16: 5e-2, torch.float16: 1e-2}
_CHANNELS = ("in_channels", "num_features", "in_features", "num_channels")


def kind_of_inputs(module: object) -> Inputs:
    """Images, if there is a lifting layer in a module; otherwise features on the group."""
    lifts = isinstance(module, nn.Module) and any(isinstance(m, (Lift, CEConvLift)) for m in module.modules())
    return "images" if lifts else "features"


def parameter_kind(module: object) -> tuple[torch.device | None, torch.dtype]:
    """The device and dtype of a module's parameters; the defaults where it has none."""
    parameters = [p for p in module.parameters() if p.is_floating_point()] if isinstance(module, nn.Module) else []
    return (parameters[0].device, parameters[0].dtype) if parameters else (None, torch.get_default_dtype())


def random_inputs(module: object, group: Group, acts_on: Inputs, seed: int) -> Tensor:
    """Two random images of 32×32, or features of two images with the channels of the first layer that has any.

    Images are those on which the group's moves are exact: see :meth:`equicolor.groups.Factor.domain`.
    """
    device, dtype = parameter_kind(module)
    generator = torch.Generator().manual_seed(seed)
    if acts_on == "images":
        shape = (2, image_channels(module, group), 32, 32)
        noise = torch.rand(shape, generator=generator, dtype=torch.float64)
        return group.in_domain(noise).to(device, dtype)
    channels, last = _channels(module)
    shape = (2 * group.order, 8, 8, channels) if last else (2 * group.order, channels, 8, 8)
    return torch.randn(shape, generator=generator, dtype=torch.float64).to(device, dtype)


def image_channels(module: object, group: Group) -> int:
    """How many channels images have: as the lifting layer or the group says, or 3."""
    lifts = [m for m in module.modules() if isinstance(m, Lift)] if isinstance(module, nn.Module) else []
    return lifts[0].in_channels if lifts else group.channels or 3


def _channels(module: object) -> tuple[int, bool]:
    """How many there are, and whether they come last, as for a linear layer."""
    for layer in module.modules() if isinstance(module, nn.Module) else ():
        for attribute in _CHANNELS:
            if isinstance(getattr(layer, attribute, None), int):
                return int(getattr(layer, attribute)), attribute == "in_features"
    return 4, False
