"""An existing CNN made equivariant: lift in front, group convolutions inside, group pool where the head begins."""

import copy
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Literal

import torch
from torch import Tensor, nn

from equicolor._tools.strided import without_strided_points
from equicolor.convert import _dry_run as dry_run
from equicolor.convert._about import about, normalization
from equicolor.convert._budget import BudgetOf, place_within
from equicolor.convert._checks import check_arguments, check_attention, check_converted, check_model, check_trace
from equicolor.convert._classifier import find_classifier, returns_maps
from equicolor.convert._converted import Converted
from equicolor.convert._dry_run import OUTPUT, Trace
from equicolor.convert._layers import MIXING, PooledBefore, counterpart, replace, shared_dropout, wrap
from equicolor.convert._width import narrow_to_match
from equicolor.groups import Group
from equicolor.models import Kit, make_kit
from equicolor.nn import GroupPool, Lift, Reduce


def convert(
    model: nn.Module,
    group: Group | str | None,
    pool_before: str | None = None,
    width: Literal["same", "matched"] = "same",
    keep_weights: bool = True,
    *,
    reduce: Reduce = "max",
    budget: float | None = None,
    budget_of: BudgetOf = "parameters",
    mean: float | Sequence[float] | None = None,
    std: float | Sequence[float] | None = None,
    image_size: int | tuple[int, int] | None = None,
) -> Converted:
    """Makes a copy of an existing CNN that is equivariant to the colour moves of a group.

    Before the group pool, each ``Conv2d``, ``ConvTranspose2d`` and ``Linear`` becomes its group counterpart; all else
    (norms, activations, pooling, layer scales …) treats the samples of a batch alike and stays, but for dropout and
    stochastic depth: :class:`equicolor.nn.GroupDropout` takes their place, so that training is equivariant too. After
    the pool, nothing changes. The network is found out by running it on a few random images, not by reading its source;
    the given network is left as it is.

    With its weights kept, the new network at first computes exactly the pool, over the group, of the old network's
    features on each recoloured copy of an image; the filters between different elements start at zero, and learn.

    What users expect of the network stays: ``num_classes``, ``get_classifier``, ``reset_classifier``, ``default_cfg``,
    and ``forward_features`` and ``forward_head`` where it has them; see :class:`Converted`. A network of timm's with
    ``features_only=True`` gives its list of maps, pooled over the group; ``features(images)`` are those on the group.

    Args:
        model: a network built from 2-D convolutions, norms, activations, poolings and linear layers, for RGB images, or
            those with as many channels as the group takes.
        group: a group or its name; ``"ceconvN"`` for the CEConv baseline, whose first convolution turns its filters;
            None leaves the network as it is, behind its normalisation.
        pool_before: path of the module before which to pool over the group (as in ``model.named_modules()``), or
            ``"output"``. By default the first layer after the last convolution of maps through which everything passes:
            a linear layer, or a convolution with but one pixel to give.
        width: ``"same"`` keeps every width, and has about as many times the parameters as the group has elements;
            ``"matched"`` keeps the number of parameters: widths before the pool become int(w/√n), as in the paper, or
            are divided by what brings the number closer where √n misses it by over 5 %.
        keep_weights: start from the given weights; otherwise every layer starts afresh, and parameters that belong to
            no layer of ``torch.nn`` (a layer scale, say) keep their values. Goes with ``width="same"`` only.
        reduce: how the group is pooled, see :class:`equicolor.nn.GroupPool`.
        budget: pool over the group as late as this multiple of the plain network's size allows, instead of before the
            head: the group on the first stages only, and the weights kept. 1.5 is half as much again.
        budget_of: what is counted: ``"parameters"``, or the ``"multiplications"`` for one image.
        mean: the mean that the given network's inputs were normalised with; subtracted after the lift. By default that
            of a timm model's ``pretrained_cfg``, otherwise 0.
        std: the standard deviation that they were divided by; by default that of a timm model's ``pretrained_cfg``,
            otherwise 1.
        image_size: height and width, or one number for both, for networks that take one size only.

    Returns:
        The equivariant network.

    Raises:
        ValueError: the network cannot be converted, or not within the budget; the message names the module, and says
            what to do.

    Example:
        >>> layers = nn.Conv2d(3, 8, 3), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 10)
        >>> plain = nn.Sequential(*layers)
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
    check_arguments(model, width, keep_weights, pool_before, budget, budget_of)
    config = about(model)
    mean, std = normalization(config, mean, std)
    kit = make_kit(group, mean=mean, std=std, reduce=reduce)
    if kit.group is None:
        if pool_before is not None or budget is not None or width != "same" or not keep_weights:
            raise ValueError("group=None leaves the network as it is: pool_before, budget and width are for groups")
        return _as_it_is(model, kit, config, image_size)
    check_model(model, pool_before)
    body = copy.deepcopy(model).eval()
    images, trace = dry_run.example_images(body, image_size, kit.group.channels)
    dry_run.check_samples_alike(body, images, trace)
    classifier = find_classifier(body, trace)
    if budget is not None:
        size = images.shape[2:] if image_size is not None else tuple(config.get("input_size") or ())[1:]
        pool_before = place_within(budget, budget_of, body, images, trace, kit, _can_stand(body, images), size or None)
    elif pool_before is None and returns_maps(body, trace):
        pool_before = OUTPUT
    elif pool_before is None:
        check_attention(trace)
        pool_before = dry_run.find_head(body, images, trace)
    trace = dry_run.run_with_pool(body, images, pool_before)
    check_trace(body, trace)
    for new, old in zip(body.modules(), model.modules(), strict=True):
        new.training = old.training
    if width == "matched":
        narrow_to_match(body, images, pool_before, trace, kit)
    if not keep_weights:
        for module in body.modules():
            if callable(reset := getattr(module, "reset_parameters", None)):
                reset()

    layers = trace.layers(*MIXING, pooled=False)
    first = next(iter(layers))
    found = {path: counterpart(path, layer, kit, keep_weights, path == first) for path, layer in layers.items()}
    replacements = {layers[path]: layer for path, layer in found.items() if layer is not None}
    replace(body, replacements)
    replace(body, _shared_dropouts(trace, kit.group))
    without_strided_points(body)
    pool = kit.pool()
    assert isinstance(pool, GroupPool)
    at_output = pool_before == OUTPUT and OUTPUT not in dict(model.named_modules())
    if not at_output:
        wrap(body, pool_before, lambda head: PooledBefore(pool, head).train(head.training))
    lift = _new_lift(kit, images)
    converted = Converted(lift, body, pool, pool_before, at_output, classifier=classifier, config=config)
    converted.training = lift.training = pool.training = model.training
    replaced = {path: layer for path, layer in layers.items() if layer in replacements}
    check_converted(converted, images[: dry_run.IMAGES], replaced, kit.lifts_in_first)
    return converted


def _as_it_is(
    model: nn.Module, kit: Kit, config: dict[str, Any], image_size: int | tuple[int, int] | None
) -> Converted:
    """The network without a group, behind what checks and normalises its images."""
    body = copy.deepcopy(model)
    classifier: str | None = None
    like = torch.empty(0, 3)
    with suppress(ValueError):  # it may be anything, and need not be run to be left as it is
        like, trace = dry_run.example_images(copy.deepcopy(model).eval(), image_size, kit.config["in_channels"])
        classifier = find_classifier(body, trace)
    if not like.numel() and (parameter := next(model.parameters(), None)) is not None:
        like = like.to(parameter)
    lift = _new_lift(kit, like)
    converted = Converted(lift, without_strided_points(body), None, None, False, classifier=classifier, config=config)
    converted.training = lift.training = model.training
    return converted


def _new_lift(kit: Kit, images: Tensor) -> Lift:
    lift = kit.lift(device=images.device, dtype=images.dtype, in_channels=images.shape[1])
    assert isinstance(lift, Lift)
    return lift


def _can_stand(body: nn.Module, images: Tensor) -> Callable[[str], bool]:
    """Whether the group can be pooled over before a module, and all that runs before it be converted."""

    def can_stand(path: str) -> bool:
        try:
            check_trace(body, dry_run.run_with_pool(body, images, path))
        except ValueError:
            return False
        return True

    return can_stand


def _shared_dropouts(trace: Trace, group: Group) -> dict[nn.Module, nn.Module]:
    """The dropouts before the pool, each with the one that takes its place.

    One that also runs after the pool, or on rows that are not those of the batch, stays as it is.
    """
    others = {call.module for call in trace.calls if call.pooled or call.shape[0] != dry_run.ROWS}
    own = {call.module: shared_dropout(call.module, group) for call in trace.calls if call.module not in others}
    return {layer: dropout for layer, dropout in own.items() if dropout is not None}
