"""The dry run: what a network does with a batch, module by module, and where its head begins.

Nothing is read from a network's source. It is run, in evaluation mode, on a batch that stands for a lifted one, and a
place for the group pool is right when the network still runs with the pool there and gives one row for each image.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import torch
import torch.nn.functional as F
from torch import Tensor, fx, nn
from torch.overrides import TorchFunctionMode

#: The batch of a dry run stands for this many images, lifted to a group of this many elements.
IMAGES, ELEMENTS = 2, 3
ROWS = IMAGES * ELEMENTS

#: As a place for the pool: after everything else.
OUTPUT = "output"

#: Sides of the square images that a network is tried with, where neither it nor the user names one.
SIZES = (64, 32, 224, 28, 96, 128, 256, 299)

CONVOLUTIONS = (nn.Conv2d, nn.ConvTranspose2d)
_ATTENTION_LAYERS = (nn.MultiheadAttention, nn.TransformerEncoderLayer, nn.TransformerDecoderLayer, nn.Transformer)
_ATTENTION = (F.scaled_dot_product_attention, F.multi_head_attention_forward)
#: Attention spelled out: a product of two activations.
_PRODUCTS = (torch.matmul, torch.bmm, torch.baddbmm, torch.einsum)
_PRODUCT_METHODS = (Tensor.matmul, Tensor.__matmul__, Tensor.bmm, Tensor.baddbmm)

BeforeCall: TypeAlias = Callable[[str, nn.Module, Tensor], None]


@dataclass(frozen=True)
class Call:
    """One call of a module: which, on what shape, and whether the pool had been passed."""

    path: str
    module: nn.Module
    shape: tuple[int, ...]
    pooled: bool


@dataclass
class Trace:
    """What a dry run saw, in the order of execution."""

    calls: list[Call] = field(default_factory=list)
    attention: list[str] = field(default_factory=list)  # where it happened, before the pool
    outputs: list[Tensor] = field(default_factory=list)
    body: int = 0  # how many calls there were up to the last convolution that gave more than one pixel

    def layers(self, *kinds: type[nn.Module], pooled: bool) -> dict[str, nn.Module]:
        """The modules of these kinds that ran before the pool, or after it, by path."""
        return {
            call.path: call.module for call in self.calls if call.pooled == pooled and isinstance(call.module, kinds)
        }


class DryRunError(Exception):
    """A dry run failed; names the innermost module that was running."""

    def __init__(self, path: str, cause: Exception) -> None:
        where = repr(path) if path else "its own forward"
        super().__init__(f"in {where}: {type(cause).__name__}: {cause}")


class _Watch(TorchFunctionMode):
    """Notes attention: its own function, or the product of two activations."""

    def __init__(self, note: Callable[[], None]) -> None:
        super().__init__()
        self.note = note

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if func in _ATTENTION or ((func in _PRODUCTS or func in _PRODUCT_METHODS) and _activations(args) > 1):
            self.note()
        return func(*args, **(kwargs or {}))


def _activations(args: Any) -> int:
    # Whatever holds a whole number of rows for each row of the batch; a filter or a table does so by accident only.
    return sum(x.dim() > 2 and x.shape[0] % ROWS == 0 and not isinstance(x, nn.Parameter) for x in tensors(args))


def tensors(value: Any) -> list[Tensor]:
    """The tensors in a nest of sequences and mappings."""
    if isinstance(value, Tensor):
        return [value]
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [tensor for item in value for tensor in tensors(item)]
    return []


def map_tensors(function: Callable[[Any], Any], value: Any) -> Any:
    """``value`` with every tensor in its sequences and mappings replaced, and what stands for one in a trace."""
    if isinstance(value, (Tensor, fx.Proxy)):
        return function(value)
    if isinstance(value, dict):
        return type(value)((key, map_tensors(function, item)) for key, item in value.items())
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(map_tensors(function, item) for item in value))
    if isinstance(value, (list, tuple)):
        return type(value)(map_tensors(function, item) for item in value)
    return value


def _stand_in_pool(features: Tensor) -> Tensor:
    return features.reshape(ELEMENTS, IMAGES, *features.shape[1:]).amax(0)


def run(
    model: nn.Module, images: Tensor, pool_before: str | None = None, before_call: BeforeCall | None = None
) -> Trace:
    """Runs ``model``, in evaluation mode already, with a stand-in for the group pool before ``pool_before``.

    Raises:
        DryRunError: the network did not run.
    """
    trace, stack, pooled = Trace(), [""], False

    def entering(path: str) -> Callable[..., Any]:
        def hook(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
            nonlocal pooled
            stack.append(path)
            if path == pool_before:
                if pooled:
                    raise ValueError(f"{path!r} runs more than once: the pool must stand where the network passes once")
                pooled = True
                args, kwargs = map_tensors(_stand_in_pool, args), map_tensors(_stand_in_pool, kwargs)
            given = tensors([args, kwargs])
            if given:
                trace.calls.append(Call(path, module, tuple(given[0].shape), pooled))
                if before_call is not None:
                    before_call(path, module, given[0])
            if isinstance(module, _ATTENTION_LAYERS):
                note()
            return args, kwargs

        return hook

    def leaving(module: nn.Module, _: Any, output: Any) -> None:
        stack.pop()
        if isinstance(module, CONVOLUTIONS) and output.shape[-2:] != (1, 1):
            trace.body = len(trace.calls)

    def note() -> None:
        if not pooled:
            trace.attention.append(stack[-1])

    handles: list[Any] = []
    for path, module in model.named_modules():
        handles.append(module.register_forward_pre_hook(entering(path), with_kwargs=True))
        handles.append(module.register_forward_hook(leaving))
    try:
        with torch.no_grad(), _Watch(note):
            output = model(images)
            trace.outputs = tensors(
                map_tensors(_stand_in_pool, output) if pool_before == OUTPUT and not pooled else output
            )
    except Exception as cause:
        # A hook that leaves is skipped by an exception: the stack still leads to where it was raised.
        raise DryRunError(stack[-1], cause) from cause
    finally:
        for handle in handles:
            handle.remove()
    return trace


def example_images(
    model: nn.Module, image_size: int | tuple[int, int] | None, channels: int | None = 3
) -> tuple[Tensor, Trace]:
    """A batch that the network accepts, and its trace without a pool; None is for as many channels as it takes."""
    first = next((module for module in model.modules() if isinstance(module, CONVOLUTIONS)), None)
    channels = channels or (first.in_channels if first else 3)
    given = image_size is not None
    sizes: list[tuple[int, int]] = [_pair(image_size)] if image_size is not None else [_pair(side) for side in SIZES]
    config = getattr(model, "pretrained_cfg", None)
    if not given and isinstance(config, Mapping) and len(config.get("input_size") or ()) == 3:  # a timm model's own
        sizes.insert(2, tuple(config["input_size"][1:]))
    like = next((p for p in model.parameters() if p.is_floating_point()), torch.empty(0))
    generator, failures = torch.Generator().manual_seed(0), []
    for height, width in sizes:
        # Each of a colour of its own: noise alone looks the same to a network that averages.
        colours = torch.rand(ROWS, channels, 1, 1, generator=generator)
        noise = torch.rand(ROWS, channels, height, width, generator=generator)
        images = (colours * noise).to(like.device, like.dtype)
        try:
            return images, run(model, images)
        except DryRunError as failure:
            failures.append(f"{height}×{width} {failure}")
    raise ValueError(
        f"a trial run of the network on {'RGB ' if channels == 3 else ''}images ({ROWS}, {channels}, H, W) failed at "
        + (failures[0] if given else f"every size tried ({failures[0]}); if it takes another, give image_size=")
        + _first_convolution(model, channels)
    )


def _first_convolution(model: nn.Module, channels: int) -> str:
    for path, module in model.named_modules():
        if isinstance(module, CONVOLUTIONS):
            if module.in_channels == channels:
                break
            given = "the 3 of RGB images" if channels == 3 else f"{channels}"
            return f". Its first convolution, {path!r}, takes {module.in_channels} channels, not {given}."
    return ""


def _pair(size: int | tuple[int, int]) -> tuple[int, int]:
    return (size, size) if isinstance(size, int) else (size[0], size[1])


def check_samples_alike(model: nn.Module, images: Tensor, trace: Trace) -> None:
    """ValueError unless the network treats the samples of a batch alike: reordered images give reordered results."""
    if not trace.outputs:
        raise ValueError("the network returned no tensor")
    for output in trace.outputs:
        if output.dim() == 0 or output.shape[0] != images.shape[0]:
            raise ValueError(
                f"the network returned shape {tuple(output.shape)} for {images.shape[0]} images: conversion needs "
                "networks whose results have one row for each image"
            )
    if images.is_meta or not all(output.isfinite().all() for output in trace.outputs):
        return  # nothing to compare
    if _agree(trace.outputs, [x.flip(0) for x in run(model, images.flip(0)).outputs]):
        return
    if _agree(trace.outputs, run(model, images).outputs):  # otherwise it is random, and says nothing
        raise ValueError(
            "the network does not treat the images of a batch alike (reordering a batch changes its results), so a "
            "group stacked along the batch would not be respected: remove what mixes or counts the rows of the batch"
        )


def _agree(first: list[Tensor], second: list[Tensor]) -> bool:
    def near(a: Tensor, b: Tensor) -> bool:
        if not a.is_floating_point():
            return torch.equal(a, b)
        tolerance = torch.finfo(a.dtype).eps ** 0.5  # for another order of summation, no more
        return bool((a - b).abs().max() <= tolerance * a.abs().max())

    return all(near(a, b) for a, b in zip(first, second, strict=True))


def find_head(model: nn.Module, images: Tensor, trace: Trace) -> str:
    """The first layer after the last convolution of maps through which everything passes.

    That is a linear layer, or a convolution with but one pixel to give. One inside a block with a residual connection,
    say, does not count: pooled there, the block could not add up.
    """
    convolutions = list(trace.layers(*CONVOLUTIONS, pooled=False))
    if not convolutions:
        raise ValueError("the network runs no Conv2d or ConvTranspose2d, so there is nothing to convert")
    candidates = [
        call.path for call in trace.calls[trace.body :] if isinstance(call.module, (*CONVOLUTIONS, nn.Linear))
    ]
    for path in dict.fromkeys(candidates):
        with suppress(DryRunError):
            if _is_pooled(run(model, images, path)):
                return path
    reason = f"not everything passes through any one of {candidates}" if candidates else "no linear layer follows it"
    last = convolutions[-1]
    raise ValueError(
        f"cannot tell where the head begins: the last convolution is {last!r}, and {reason}. Name the place for the "
        f"group pool: pool_before={last!r}, say, or another module's path, or pool_before={OUTPUT!r} for the end"
    )


def run_with_pool(model: nn.Module, images: Tensor, pool_before: str) -> Trace:
    """The trace with the pool at the place that the user named; ValueError where it cannot stand there."""
    try:
        trace = run(model, images, pool_before)
    except DryRunError as failure:
        raise ValueError(
            f"with the group pool before {pool_before!r} the network does not run, since not everything passes there: "
            f"{failure}. Name another module"
        ) from failure
    if pool_before != OUTPUT and all(call.path != pool_before for call in trace.calls):
        raise ValueError(f"the module pool_before={pool_before!r} did not run")
    if not _is_pooled(trace):
        raise ValueError(
            f"with the group pool before {pool_before!r} the network's result is not pooled, since part of it does not "
            "pass there. Name another module"
        )
    return trace


def _is_pooled(trace: Trace) -> bool:
    return all(output.dim() > 0 and output.shape[0] == IMAGES for output in trace.outputs)
