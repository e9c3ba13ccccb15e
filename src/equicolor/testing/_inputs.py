"""What a module is tried on, where its user gives nothing: random images, or random features on the group."""

import torch
from torch import Tensor, nn

from equicolor import color
from equicolor.baselines import CEConvLift
from equicolor.groups import Group
from equicolor.measure import Inputs
from equicolor.nn import Lift

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
    """Two random images of 32×32, or features of two images with the channels of the first layer that has any."""
    device, dtype = parameter_kind(module)
    generator = torch.Generator().manual_seed(seed)
    if acts_on == "images":
        return _images(group, generator, dtype).to(device)
    channels, last = _channels(module)
    shape = (2 * group.order, 8, 8, channels) if last else (2 * group.order, channels, 8, 8)
    return torch.randn(shape, generator=generator, dtype=torch.float64).to(device, dtype)


def _images(group: Group, generator: torch.Generator, dtype: torch.dtype) -> Tensor:
    """Two images of any colour; for truncated groups of middling saturation and luminance, so that nothing clips."""
    images = torch.rand((2, 3, 32, 32), generator=generator, dtype=torch.float64)
    if group.is_truncated:
        scale = torch.tensor([360.0, 0.2, 0.2], dtype=torch.float64).view(3, 1, 1)
        base = torch.tensor([0.0, 0.4, 0.4], dtype=torch.float64).view(3, 1, 1)
        images = color.hsl_to_rgb(base + scale * images)
    return images.to(dtype)


def _channels(module: object) -> tuple[int, bool]:
    """How many there are, and whether they come last, as for a linear layer."""
    for layer in module.modules() if isinstance(module, nn.Module) else ():
        for attribute in _CHANNELS:
            if isinstance(getattr(layer, attribute, None), int):
                return int(getattr(layer, attribute)), attribute == "in_features"
    return 4, False
