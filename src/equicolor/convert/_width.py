"""Narrowing: the widths of a plain network divided so that, on the group, it has the parameters it had before.

The network is run, and each layer is cut, as it is reached, to what arrives at it: so concatenated channels add up.
What a layer gives is divided by one rule for all, so that residual connections agree; a depthwise convolution follows
its input. After the group pool, layers only adapt to what arrives.
"""

import copy
import math
from collections import defaultdict
from collections.abc import Callable
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _NormBase

from equicolor.convert import _dry_run as dry_run
from equicolor.convert._dry_run import CONVOLUTIONS, OUTPUT, DryRunError, Trace
from equicolor.convert._layers import MIXING, added_parameters
from equicolor.measure import evaluating
from equicolor.models import Kit

Rule: TypeAlias = Callable[[int], int]

_PER_CHANNEL = (_NormBase, nn.GroupNorm, nn.LayerNorm, nn.PReLU)
#: How far √n may miss the number of parameters, how close a search for a better divisor must
#: come to stop, and how many it tries.
_TOLERANCE, _CLOSE, _STEPS = 0.05, 0.01, 8
#: Of most filters.
_AREA = 9


def narrow_to_match(model: nn.Module, images: Tensor, pool_before: str, trace: Trace, kit: Kit) -> None:
    """Narrows ``model`` in place, so that its group counterpart has about as many parameters as ``model`` had.

    ``trace`` is that of ``model`` with the pool in place.
    """
    target = sum(parameter.numel() for parameter in model.parameters())
    grouped = trace.layers(*MIXING, pooled=False)
    # Sizes are all that counts in the search, so it runs without values wherever the network can.
    skeleton, blank = copy.deepcopy(model).to("meta"), images.to("meta")
    try:
        dry_run.run(copy.deepcopy(skeleton).eval(), blank, pool_before)
    except DryRunError:
        skeleton, blank = copy.deepcopy(model), images

    def parameters(divisor: float) -> int:
        candidate = copy.deepcopy(skeleton)
        _narrow(candidate, blank, pool_before, trace, divisor)
        added = sum(
            added_parameters(candidate.get_parameter(f"{path}.weight"), kit, first=place == 0)
            for place, path in enumerate(grouped)
        )
        return sum(parameter.numel() for parameter in candidate.parameters()) + added

    best = divisor = kit.narrowing(_AREA)
    least = excess = parameters(divisor) / target
    close = _TOLERANCE
    for _ in range(_STEPS):
        if abs(least - 1) <= close:
            break
        # Were all parameters filters, their number would fall with the square of the divisor, and this would be it.
        divisor, close = max(1.0, divisor * math.sqrt(excess)), _CLOSE
        excess = parameters(divisor) / target
        if abs(excess - 1) < abs(least - 1):
            best, least = divisor, excess
    _narrow(model, images, pool_before, trace, best)


def _narrow(model: nn.Module, images: Tensor, pool_before: str, trace: Trace, divisor: float) -> None:
    """Divides, in place, every width before the pool; new weights are left for the caller to fill."""
    rule = _rule(trace, divisor)
    last = [call.path for call in trace.calls if isinstance(call.module, MIXING)][-1]
    fixed = {call.path for call in trace.calls if call.pooled}
    if pool_before == OUTPUT and not fixed:
        fixed = {last}  # the network's result keeps its channels
    shapes = {call.path: call.shape for call in trace.calls}
    widths = {_width(module) for path, module in trace.layers(*MIXING, pooled=False).items() if path not in fixed}
    seen: dict[str, int] = {}

    def cut(path: str, module: nn.Module, given: Tensor) -> None:
        if not isinstance(module, (*MIXING, *_PER_CHANNEL)):
            return
        axis = _channel_axis(module, shapes[path])
        arriving = given.shape[axis]
        if seen.setdefault(path, arriving) != arriving:
            raise ValueError(f"{path!r} is given {seen[path]} channels at one place and {arriving} at another")
        same: Rule = lambda width: width  # noqa: E731
        _resize(module, arriving, same if path in fixed else rule)

    for path, module in model.named_modules():
        if not isinstance(module, (*MIXING, *_PER_CHANNEL)) and path not in fixed:
            # Parameters of no layer, such as a layer scale: each axis as long as some layer is wide is cut with it.
            _slice(module, lambda size: rule(size) if size in widths else size)
    try:
        with evaluating(model):
            narrow = dry_run.run(model, images, pool_before, before_call=cut)
    except DryRunError as failure:
        raise ValueError(
            f"width='matched' cannot narrow this network by {divisor:.3g}, {failure}. It may have a number of channels "
            "written into its code: use width='same', or narrow the network by its own arguments and convert that"
        ) from failure
    before, after = ([tuple(output.shape) for output in each.outputs] for each in (trace, narrow))
    if before != after:
        raise ValueError(f"width='matched' would change the shape of the network's results from {before} to {after}")


def _rule(trace: Trace, divisor: float) -> Rule:
    """The paper's int(w/divisor), or the nearest multiple of the groups that channels of this number are split into."""
    split: dict[int, int] = defaultdict(lambda: 1)
    for call in trace.calls:
        module = call.module
        if isinstance(module, CONVOLUTIONS) and module.groups != module.in_channels:
            for width in (module.in_channels, module.out_channels):
                split[width] = math.lcm(split[width], module.groups)
        elif isinstance(module, nn.GroupNorm) and 1 < module.num_groups < module.num_channels:
            split[module.num_channels] = math.lcm(split[module.num_channels], module.num_groups)

    def rule(width: int) -> int:
        unit = split[width]
        if unit > 1:
            return unit * max(1, round(width / divisor / unit))
        return max(min(width, 2), int(width / divisor))  # a single channel would be broadcast where several should meet

    return rule


def _width(module: nn.Module) -> int:
    """How many channels a layer gives."""
    return int(module.out_channels if isinstance(module, CONVOLUTIONS) else module.out_features)  # type: ignore[arg-type]


def _channel_axis(module: nn.Module, shape: tuple[int, ...]) -> int:
    """Which axis of its input, of the given shape before narrowing, a layer takes for channels."""
    if isinstance(module, nn.Linear):
        return -1
    if isinstance(module, nn.LayerNorm):
        if len(module.normalized_shape) > 1:
            raise ValueError("a LayerNorm over several axes fixes the size of the image")
        # A subclass may normalise the channels of (N, C, H, W), as those of torchvision and timm do.
        first = type(module) is not nn.LayerNorm and len(shape) == 4 and shape[1] == module.normalized_shape[0]
        return 1 if first else -1
    return 1


def _resize(module: nn.Module, arriving: int, rule: Rule) -> None:
    """Cuts a layer to ``arriving`` channels, and what it gives by ``rule``."""
    if isinstance(module, nn.Linear):
        module.in_features, module.out_features = arriving, rule(module.out_features)
        _renew(module, (module.out_features, arriving))
    elif isinstance(module, (nn.Conv2d, nn.ConvTranspose2d)):
        depthwise = module.groups == module.in_channels > 1
        module.out_channels = (
            arriving * (module.out_channels // module.in_channels) if depthwise else rule(module.out_channels)
        )
        module.in_channels, module.groups = arriving, arriving if depthwise else module.groups
        if arriving % module.groups or module.out_channels % module.groups:
            raise ValueError(
                f"{arriving} channels to {module.out_channels} do not split into the layer's {module.groups} groups"
            )
        first, second = module.out_channels, arriving
        if isinstance(module, nn.ConvTranspose2d):
            first, second = second, first
        _renew(module, (first, second // module.groups, *module.kernel_size))
    elif isinstance(module, nn.PReLU):
        if module.num_parameters > 1:
            module.num_parameters = arriving
            _slice(module, lambda _: arriving)
    else:
        names = {nn.GroupNorm: "num_channels", nn.LayerNorm: "normalized_shape"}
        name = next((name for kind, name in names.items() if isinstance(module, kind)), "num_features")
        size: Any = (arriving,) if name == "normalized_shape" else arriving
        if isinstance(module, nn.GroupNorm) and module.num_groups == module.num_channels:
            module.num_groups = arriving
        setattr(module, name, size)
        _slice(module, lambda _: arriving)


def _renew(module: nn.Linear | nn.Conv2d | nn.ConvTranspose2d, shape: tuple[int, ...]) -> None:
    width = module.out_features if isinstance(module, nn.Linear) else module.out_channels
    with torch.no_grad():
        module.weight = nn.Parameter(module.weight.new_zeros(shape), module.weight.requires_grad)
        if module.bias is not None:
            module.bias = nn.Parameter(module.bias.new_zeros(width), module.bias.requires_grad)


def _slice(module: nn.Module, size: Callable[[int], int]) -> None:
    """The first entries of a module's own parameters and buffers, along every axis."""
    for name, tensor in [*module.named_parameters(recurse=False), *module.named_buffers(recurse=False)]:
        shape = tuple(map(size, tensor.shape))
        if shape != tuple(tensor.shape):
            cut = tensor.detach()[tuple(slice(length) for length in shape)].clone()
            if cut.shape != shape:
                raise ValueError(f"{name} of shape {tuple(tensor.shape)} cannot be cut to {shape}")
            setattr(module, name, nn.Parameter(cut, tensor.requires_grad) if isinstance(tensor, nn.Parameter) else cut)
