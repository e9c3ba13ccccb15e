"""The latest place for the group pool at which a network stays within a budget: the group on its first stages only."""

import copy
from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

import torch
from torch import Tensor, nn

from equicolor.convert import _dry_run as dry_run
from equicolor.convert._dry_run import OUTPUT, Call, DryRunError, Trace
from equicolor.convert._layers import MIXING, added_parameters, counterpart
from equicolor.measure import multiply_adds
from equicolor.models import Kit

#: What a budget is a multiple of: the parameters of the plain network, or its multiplications.
BudgetOf: TypeAlias = Literal["parameters", "multiplications"]


def place_within(
    budget: float,
    of: BudgetOf,
    model: nn.Module,
    images: Tensor,
    trace: Trace,
    kit: Kit,
    is_right: Callable[[str], bool],
    size: Sequence[int] | None,
) -> str:
    """Where to pool over the group, as late as the budget allows.

    Args:
        budget: as a multiple of what the plain network costs.
        of: what is counted, of the whole network and, for multiplications, one image.
        model: the plain network, in evaluation mode.
        images: for which it was run, with ``trace`` for a result.
        kit: what its layers become.
        is_right: whether the group can be pooled over before the module of a path.
        size: height and width of the images that multiplications are counted for; those of ``images`` by default.

    Raises:
        ValueError: not even the earliest place is within the budget; the message says what that costs.
    """
    if of == "parameters":
        plain, costs = float(sum(p.numel() for p in model.parameters())), _parameters(trace, kit)
    else:
        plain, costs = _multiplications(model, images, trace, kit, size)
    places: list[tuple[float, str]] = []  # in the order of execution, with what the group costs before each
    added = 0.0
    for call, cost in zip(trace.calls, costs, strict=False):
        if call.path and added:
            places.append((added, call.path))
        added += cost
    if len(costs) == len(trace.calls):
        places.append((added, OUTPUT))
    paths = [path for _, path in places]
    last = _head(model, images, trace)
    if last in paths:
        places = places[: paths.index(last) + 1]
    # Of places between the same two layers, the outermost module's, and the last.
    order = sorted(range(len(places)), key=lambda i: (-places[i][0], places[i][1].count("."), -i))
    for cost, path in [places[i] for i in order]:
        if plain + cost <= budget * plain and is_right(path):
            return path
    least = next((p for p in sorted(places, key=lambda p: p[0]) if is_right(p[1])), None)
    if least is None:
        raise ValueError("there is no place before which everything passes: name one, pool_before=")
    raise ValueError(
        f"budget={budget:g} is too small: the earliest place to pool over the group, pool_before={least[1]!r}, takes "
        f"{1 + least[0] / plain:.3g} times the {of} of the plain network"
    )


def _head(model: nn.Module, images: Tensor, trace: Trace) -> str | None:
    """Where the pool stands without a budget; None where that cannot be told."""
    try:
        return dry_run.find_head(model, images, trace)
    except ValueError:
        return None


def _parameters(trace: Trace, kit: Kit) -> list[float]:
    """How many parameters each call adds to those before it: a layer's with its first call."""
    known: set[nn.Module] = set()
    costs = []
    for place, call in enumerate(trace.calls):
        new = isinstance(call.module, MIXING) and call.module not in known
        known.add(call.module)
        weight = getattr(call.module, "weight", None)
        costs.append(float(added_parameters(weight, kit, _is_first(trace, place))) if new and weight is not None else 0)
    return costs


def _is_first(trace: Trace, place: int) -> bool:
    return not any(isinstance(call.module, MIXING) for call in trace.calls[:place])


def _multiplications(
    model: nn.Module, images: Tensor, trace: Trace, kit: Kit, size: Sequence[int] | None
) -> tuple[float, list[float]]:
    """Those of the plain network, and what each call adds, for one image; the list ends where no layer can follow."""
    assert kit.group is not None
    with torch.no_grad():
        skeleton = copy.deepcopy(model).to("meta")  # sizes are all that counts
        blank = torch.empty(dry_run.ROWS, images.shape[1], *(size or images.shape[2:]), device="meta")
        blank = blank.to(images.dtype)
        try:
            sized = dry_run.run(skeleton, blank)
        except DryRunError:
            skeleton, blank, sized = model, images, trace
        plain = float(multiply_adds(skeleton, blank[:1]).total)
        costs: list[float] = []
        for place, call in enumerate(sized.calls):
            if not isinstance(call.module, MIXING):
                costs.append(0.0)
                continue
            try:
                layer = counterpart(call.path, call.module, kit, False, first=_is_first(sized, place)) or call.module
            except ValueError:  # so no pool can stand behind it
                costs.append(0.0)
                break
            copies = 1 if kit.lifts_in_first and _is_first(sized, place) else kit.group.order
            costs.append(_work(layer, call, copies, blank) - _work(call.module, call, 1, blank))
    return plain, costs


def _work(layer: nn.Module, call: Call, copies: int, like: Tensor) -> float:
    rows = copies * max(1, call.shape[0] // dry_run.ROWS)
    return float(multiply_adds(layer, like.new_empty(rows, *call.shape[1:])).total)
