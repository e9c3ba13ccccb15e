"""What stands against a conversion, said before, during and after: which module, why, and what to do."""

import difflib
import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from equicolor.convert import _dry_run as dry_run
from equicolor.convert._converted import Converted
from equicolor.convert._dry_run import CONVOLUTIONS, OUTPUT, Trace
from equicolor.convert._layers import MIXING, check_plain
from equicolor.measure import evaluating
from equicolor.nn import GroupConv2d, GroupConvTranspose2d, GroupPool, Lift

_OTHER_CONVOLUTIONS = (nn.Conv1d, nn.Conv3d, nn.ConvTranspose1d, nn.ConvTranspose3d)


def check_arguments(
    model: nn.Module, width: str, keep_weights: bool, pool_before: str | None, budget: float | None, budget_of: str
) -> None:
    """Whether the arguments of a conversion go together."""
    if not isinstance(model, nn.Module):
        raise TypeError(f"convert takes a torch.nn.Module, got {type(model).__name__}")
    if isinstance(model, torch.jit.ScriptModule):
        raise TypeError("convert cannot change a TorchScript module: give it the module that was scripted")
    if isinstance(getattr(model, "_orig_mod", None), nn.Module):
        raise TypeError("convert cannot change a compiled module: convert first, and compile the result")
    if width not in ("same", "matched"):
        raise ValueError(f"width must be 'same' or 'matched', got {width!r}")
    if width == "matched" and keep_weights:
        raise ValueError(
            "width='matched' changes the width of every layer, so no weights can be kept: keep_weights=False"
        )
    if budget_of not in ("parameters", "multiplications"):
        raise ValueError(f"budget_of must be 'parameters' or 'multiplications', got {budget_of!r}")
    if budget is None:
        return
    if isinstance(budget, bool) or not isinstance(budget, int | float) or not 1 < budget < math.inf:
        raise ValueError(f"budget must be a number above 1, a multiple of the plain network's {budget_of}: {budget!r}")
    if pool_before is not None or width != "same":
        raise ValueError("budget finds pool_before, for width='same': give one of the two, and no other width")


def check_model(model: nn.Module, pool_before: str | None) -> None:
    """Whether a network can be looked at, and has the module before which to pool."""
    modules = dict(model.named_modules())
    for path, module in modules.items():
        if isinstance(module, (Lift, GroupConv2d, GroupConvTranspose2d, GroupPool)):
            raise ValueError(
                f"the network is on a group already: {path!r} is a {type(module).__name__}. The networks of "
                "create_model take their group there: create_model(name, group=...)"
            )
        if isinstance(module, CONVOLUTIONS):
            if "weight" not in module._parameters:  # it could not even be copied
                check_plain(path, module)
            if isinstance(module.weight, nn.UninitializedParameter):
                raise ValueError(
                    f"{path!r} has no weights yet: run the network once, on an image, before converting it"
                )
    if pool_before == "" or (pool_before is not None and pool_before not in (OUTPUT, *modules)):
        near = difflib.get_close_matches(pool_before, [path for path in modules if path], n=3, cutoff=0.3)
        raise ValueError(
            f"pool_before={pool_before!r} names no module"
            + (f"; did you mean {' or '.join(map(repr, near))}?" if near else "; see model.named_modules()")
        )


def check_attention(trace: Trace) -> None:
    """Whether there is none before the pool."""
    if trace.attention:
        raise ValueError(
            f"cannot convert attention, which {trace.attention[0]!r} computes: it would act on each recoloured copy "
            "alone. Pool over the group before it, and it stays as it is: give pool_before= the path of a module "
            "around it that holds no convolution to be converted"
        )


def check_trace(model: nn.Module, trace: Trace) -> None:
    """Whether all that runs before the pool can be converted."""
    check_attention(trace)
    for path, layer in trace.layers(*CONVOLUTIONS, pooled=False).items():
        check_plain(path, layer)
    if not trace.layers(*CONVOLUTIONS, pooled=False):
        raise ValueError("no Conv2d or ConvTranspose2d runs before the group pool, so there is nothing to convert")
    for call in trace.calls:
        if call.pooled:
            continue
        if isinstance(call.module, (*_OTHER_CONVOLUTIONS, nn.RNNBase)):
            raise ValueError(
                f"cannot convert {call.path!r}, a {type(call.module).__name__}: only 2-D convolutions have a group "
                "counterpart. Pool over the group before it with pool_before="
            )
        if isinstance(call.module, MIXING) and call.shape[0] != dry_run.ROWS:
            raise ValueError(
                f"cannot convert {call.path!r}: it was given {call.shape[0]} rows for a batch of {dry_run.ROWS}, so "
                "the batch axis holds more than the batch there. Pool over the group before that with pool_before="
            )
    before, after = trace.layers(*MIXING, pooled=False), trace.layers(*MIXING, pooled=True)
    for path in before:
        if path in after:
            raise ValueError(
                f"{path!r} runs both before and after the group pool: give the two places layers of their own"
            )
    for path, module in model.named_modules():
        if isinstance(module, CONVOLUTIONS) and path not in before and path not in after:
            raise ValueError(
                f"the convolution {path!r} did not run in evaluation mode, so its place is unknown: remove it from the "
                "network (an auxiliary head, say, by its constructor's argument) or set it to torch.nn.Identity()"
            )
    owners: dict[nn.Parameter, str] = {}
    for path, module in model.named_modules():
        for parameter in module.parameters(recurse=False):
            other = owners.setdefault(parameter, path)
            if other != path and (other in before or path in before):
                raise ValueError(
                    f"{other!r} and {path!r} share a parameter: share the whole module, or give each its own"
                )


def check_converted(converted: Converted, images: Tensor, replaced: dict[str, nn.Module], lifts_in_first: bool) -> None:
    """Runs the result once: a network may hold on to layers, or to their sizes, where conversion cannot reach."""

    def complaint(path: str) -> Callable[..., None]:
        def hook(*_: Any) -> None:
            raise RuntimeError(
                f"the network holds its module {path!r} where it cannot be replaced, such as in a list: hold modules "
                "in attributes and torch.nn.ModuleList only"
            )

        return hook

    handles = [layer.register_forward_pre_hook(complaint(path)) for path, layer in replaced.items()]
    try:
        with evaluating(converted):
            converted(images)
            converted.note_where_it_pools(images)
    except Exception as cause:
        hint = ". CEConv lifts in the first convolution, through which everything must pass" if lifts_in_first else ""
        raise ValueError(f"the converted network does not run: {type(cause).__name__}: {cause}{hint}") from cause
    finally:
        for handle in handles:
            handle.remove()
