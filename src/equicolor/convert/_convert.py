"""An existing CNN made equivariant: lift in front, group convolutions inside, group pool where the head begins."""

import copy
import difflib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import torch
from torch import Tensor, nn

from equicolor._tools.strided import without_strided_points
from equicolor.convert import _dry_run as dry_run
from equicolor.convert._dry_run import CONVOLUTIONS, OUTPUT, Trace, map_tensors, tensors
from equicolor.convert._layers import MIXING, PooledBefore, check_plain, counterpart, replace, shared_dropout, wrap
from equicolor.convert._width import narrow_to_match
from equicolor.groups import Group
from equicolor.groups import group as as_group
from equicolor.nn import GroupConv2d, GroupConvTranspose2d, GroupPool, Lift

_OTHER_CONVOLUTIONS = (nn.Conv1d, nn.Conv3d, nn.ConvTranspose1d, nn.ConvTranspose3d)


class Converted(nn.Module):
    """What :func:`convert` returns: ``body``, a copy of the given network, behind a ``lift``. RGB in, logits out."""

    def __init__(self, lift: Lift, body: nn.Module, pool: GroupPool, pool_before: str, output_pool: bool) -> None:
        super().__init__()
        self.lift, self.body = lift, body
        self.pool_before = pool_before
        # Elsewhere the pool is registered in the body, before its head.
        self.pool: GroupPool | None = pool if output_pool else None

    @property
    def group(self) -> Group:
        """What the network is equivariant to."""
        return self.lift.group

    def forward(self, images: Tensor, *args: Any, **kwargs: Any) -> Any:
        """Plain images in [0, 1], ``(B, C, H, W)``, to what the given network returned, now invariant."""
        output = self.body(self.lift(images), *args, **kwargs)
        if self.pool is not None:
            output = map_tensors(self.pool, output)
        if not torch.compiler.is_compiling() and any(x.shape[:1] != images.shape[:1] for x in tensors(output)):
            raise self._pool_is_gone()
        return output

    def _pool_is_gone(self) -> RuntimeError:
        # A head is easily replaced together with the pool before it.
        return RuntimeError(
            f"the group pool before {self.pool_before!r} is gone: the results are not pooled over {self.group}. To "
            f"change the head, assign to body.{self.pool_before}.head"
        )

    def features(self, images: Tensor, *args: Any, **kwargs: Any) -> Any:
        """The last feature on the group, ``(G·B, *)``: what enters the group pool, for sorting and visualisation."""
        lifted = self.lift(images)
        if self.pool is not None:
            return self.body(lifted, *args, **kwargs)
        seen: list[Tensor] = []
        pools = [module for module in self.body.modules() if isinstance(module, GroupPool)]
        if not pools:
            raise self._pool_is_gone()
        handle = pools[0].register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
        try:
            self.body(lifted, *args, **kwargs)
        finally:
            handle.remove()
        return seen[0]

    def extra_repr(self) -> str:
        """The group, where it is pooled, and the number of parameters."""
        parameters = sum(parameter.numel() for parameter in self.parameters())
        return f"{self.group}, pool_before={self.pool_before!r}, {parameters:,} parameters"


def convert(
    model: nn.Module,
    group: Group | str,
    pool_before: str | None = None,
    width: Literal["same", "matched"] = "same",
    keep_weights: bool = True,
    *,
    reduce: Literal["max", "mean"] = "max",
    mean: float | Sequence[float] | None = None,
    std: float | Sequence[float] | None = None,
    image_size: int | tuple[int, int] | None = None,
) -> Converted:
    """A copy of an existing CNN, made equivariant to the colour moves of ``group``; the given network is left as it is.

    Before the group pool, each ``Conv2d``, ``ConvTranspose2d`` and ``Linear`` becomes its group counterpart; all else
    (norms, activations, pooling, layer scales …) treats the samples of a batch alike and stays, but for dropout and
    stochastic depth: :class:`equicolor.nn.GroupDropout` takes their place, so that training is equivariant too. After
    the pool, nothing changes. The network is found out by running it on a few random images, not by reading its source.

    With its weights kept, the new network at first computes exactly the pool, over the group, of the old network's
    features on each recoloured copy of an image; the filters between different elements start at zero, and learn.

    Args:
        model: built from 2-D convolutions, norms, activations, poolings and linear layers, for RGB images, or those
            with as many channels as the group takes.
        group: a group or its name.
        pool_before: path of the module before which to pool over the group (as in ``model.named_modules()``), or
            ``"output"``. By default the first layer after the last convolution of maps through which everything passes:
            a linear layer, or a convolution with but one pixel to give.
        width: ``"same"`` keeps every width, and has about as many times the parameters as the group has elements;
            ``"matched"`` keeps the number of parameters: widths before the pool become int(w/√n), as in the paper, or
            are divided by what brings the number closer where √n misses it by over 5 %.
        keep_weights: start from the given weights; otherwise every layer starts afresh, and parameters that belong to
            no layer of ``torch.nn`` (a layer scale, say) keep their values. Goes with ``width="same"`` only.
        reduce: how the group is pooled, ``"max"`` or ``"mean"``.
        mean, std: what the given network's inputs were normalised with; done after the lift. By default those that a
            timm model carries in its ``pretrained_cfg``, otherwise none.
        image_size: height and width, or one number for both, for networks that take one size only.

    >>> plain = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 10))
    >>> convert(plain, "hue4")
    Converted(
      hue4, pool_before='4', 962 parameters
      (lift): Lift(hue4)
      (body): Sequential(
        (0): GroupConv2d(hue4, 3, 8, kernel_size=(3, 3), stride=(1, 1))
        (1): ReLU()
        (2): AdaptiveAvgPool2d(output_size=1)
        (3): Flatten(start_dim=1, end_dim=-1)
        (4): PooledBefore(
          (pool): GroupPool(hue4, reduce='max')
          (head): Linear(in_features=8, out_features=10, bias=True)
        )
      )
    )
    """
    group = as_group(group)
    _check_arguments(model, width, keep_weights)
    _check_model(model, pool_before)
    body = copy.deepcopy(model).eval()
    images, trace = dry_run.example_images(body, image_size, group.channels)
    dry_run.check_samples_alike(body, images, trace)
    if pool_before is None:
        _check_attention(trace)
        pool_before = dry_run.find_head(body, images, trace)
    trace = dry_run.run_with_pool(body, images, pool_before)
    _check_trace(body, trace)
    for new, old in zip(body.modules(), model.modules(), strict=True):
        new.training = old.training
    if width == "matched":
        narrow_to_match(body, images, pool_before, trace, group.order)
    if not keep_weights:
        for module in body.modules():
            if callable(reset := getattr(module, "reset_parameters", None)):
                reset()

    layers = trace.layers(*MIXING, pooled=False)
    found = {path: counterpart(path, layer, group, keep_weights) for path, layer in layers.items()}
    replacements = {layers[path]: layer for path, layer in found.items() if layer is not None}
    replace(body, replacements)
    replace(body, _shared_dropouts(trace, group))
    without_strided_points(body)
    pool = GroupPool(group, reduce)
    at_output = pool_before == OUTPUT and OUTPUT not in dict(model.named_modules())
    if not at_output:
        wrap(body, pool_before, lambda head: PooledBefore(pool, head).train(head.training))
    normalisation = _normalisation(model, mean, std)
    lift = Lift(group, *normalisation, device=images.device, dtype=images.dtype, in_channels=images.shape[1])
    converted = Converted(lift, body, pool, pool_before, at_output)
    converted.training = lift.training = pool.training = model.training
    replaced = {path: layer for path, layer in layers.items() if layer in replacements}
    _check_converted(converted, images[: dry_run.IMAGES], replaced)
    return converted


def _shared_dropouts(trace: Trace, group: Group) -> dict[nn.Module, nn.Module]:
    """The dropouts before the pool, each with the one that takes its place.

    One that also runs after the pool, or on rows that are not those of the batch, stays as it is.
    """
    others = {call.module for call in trace.calls if call.pooled or call.shape[0] != dry_run.ROWS}
    own = {call.module: shared_dropout(call.module, group) for call in trace.calls if call.module not in others}
    return {layer: dropout for layer, dropout in own.items() if dropout is not None}


def _check_arguments(model: nn.Module, width: str, keep_weights: bool) -> None:
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


def _check_model(model: nn.Module, pool_before: str | None) -> None:
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


def _check_attention(trace: Trace) -> None:
    if trace.attention:
        raise ValueError(
            f"cannot convert attention, which {trace.attention[0]!r} computes: it would act on each recoloured copy "
            "alone. Pool over the group before it, and it stays as it is: give pool_before= the path of a module "
            "around it that holds no convolution to be converted"
        )


def _check_trace(model: nn.Module, trace: Trace) -> None:
    """Whether all that runs before the pool can be converted."""
    _check_attention(trace)
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


def _normalisation(
    model: nn.Module, mean: float | Sequence[float] | None, std: float | Sequence[float] | None
) -> tuple[float | Sequence[float], float | Sequence[float]]:
    config = getattr(model, "pretrained_cfg", None)
    carried = config if isinstance(config, Mapping) else {}
    return (
        carried.get("mean", 0.0) if mean is None else mean,
        carried.get("std", 1.0) if std is None else std,
    )


def _check_converted(converted: Converted, images: Tensor, replaced: dict[str, nn.Module]) -> None:
    """Runs the result once: a network may hold on to layers, or to their sizes, where conversion cannot reach."""

    def complaint(path: str) -> Callable[..., None]:
        def hook(*_: Any) -> None:
            raise RuntimeError(
                f"the network holds its module {path!r} where it cannot be replaced, such as in a list: hold modules "
                "in attributes and torch.nn.ModuleList only"
            )

        return hook

    modes = {module: module.training for module in converted.modules()}
    handles = [layer.register_forward_pre_hook(complaint(path)) for path, layer in replaced.items()]
    try:
        with torch.no_grad():
            converted.eval()(images)
    except Exception as cause:
        raise ValueError(f"the converted network does not run: {type(cause).__name__}: {cause}") from cause
    finally:
        for handle in handles:
            handle.remove()
        for module, mode in modes.items():
            module.training = mode
