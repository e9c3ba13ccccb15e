"""Whole networks: each group against the plain network of as many parameters, in the same rounds."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from equicolor import algorithms
from equicolor._tools.progress import Watch, unwatched
from equicolor._tools.timing import Timings, interleaved
from equicolor.bench._compile import compile_blocks, compiling
from equicolor.bench._floor import leave_out_transforms
from equicolor.bench._profile import profile
from equicolor.deploy import optimize_for_inference
from equicolor.fusion import fuse_for_training
from equicolor.groups import group as as_group
from equicolor.measure import multiply_adds, peak_memory
from equicolor.models import create_model
from equicolor.nn import Choice, faster_norms

Mode: TypeAlias = Literal["eager", "compiled"]
Phase: TypeAlias = Literal["training", "inference"]
PHASES: tuple[Phase, ...] = ("training", "inference")

NETWORKS = ("resnet44", "resnet18", "z2cnn")
GROUPS = ("hue3", "hue4", "hue8", "hue12", "sat3", "hue4-sat3")
#: The groups whose ``direct`` and ``fast`` are timed beside ``auto``: they show the cost against n.
COMPARED = ("hue4", "hue8", "hue12")


@dataclass(frozen=True)
class Candidate:
    """One network in one way of running it. Without a group, it is the plain one.

    The algorithm ``"floor"`` is ``"fast"`` without its transforms; ``"fused"`` is ``"auto"`` with what stands
    between convolutions compiled.
    """

    group: str | None
    algorithm: Choice | Literal["floor", "fused"] = "auto"
    mode: Mode = "eager"

    @property
    def plain(self) -> "Candidate":
        """What it is compared to."""
        return Candidate(None, "auto", self.mode)

    def __str__(self) -> str:
        return f"{self.group or 'plain'}, {self.algorithm}, {self.mode}"


def candidates(
    groups: Iterable[str], modes: Iterable[Mode] = ("eager", "compiled"), floor: bool = False, fused: bool = False
) -> list[Candidate]:
    """The plain network and ``auto`` on each group in each mode; of some groups both algorithms, eager.

    With ``floor``, also each group without transforms, eager: a compiler would leave out what is computed in vain. With
    ``fused``, also each group as :func:`equicolor.fuse_for_training` and ``optimize_for_inference(..., compile=True)``
    make it.

    >>> [str(each) for each in candidates(["hue3", "hue4"], ["eager"])]
    ['plain, auto, eager', 'hue3, auto, eager', 'hue4, auto, eager', 'hue4, fast, eager', 'hue4, direct, eager']
    """
    both: tuple[Choice, ...] = ("fast", "direct")
    found = []
    for mode in modes:
        for group in (None, *groups):
            found.append(Candidate(group, "auto", mode))
            if mode == "eager" and group in COMPARED:
                found += [Candidate(group, algorithm) for algorithm in both]
            if floor and mode == "eager" and group:
                found.append(Candidate(group, "floor"))
            if fused and mode == "eager" and group:
                found.append(Candidate(group, "fused"))
    return found


def measure_network(
    name: str,
    which: Sequence[Candidate],
    *,
    rounds: int = 15,
    batch: int | None = None,
    device: str | torch.device = "cpu",
    watch: Watch = unwatched,
) -> list[dict[str, Any]]:
    """Times a training step and inference of every candidate, in channels_last, and counts memory and multiply-adds.

    A training step is forward, cross-entropy, backward and a step of SGD with momentum; inference is that of
    :func:`equicolor.optimize_for_inference`. Ratios are to the plain network in the same mode and round.

    Args:
        name: of a network of the zoo.
        which: the candidates, the plain network in each of their modes among them.
        rounds: of the interleaved loop; each phase has one, with all candidates in it.
        batch: images; by default 128 for z2cnn, as the paper trains it, and 32 for the others.
        device: where.
        watch: is told what is timed, and of every call.
    """
    side = 28 if name == "z2cnn" else 32
    count = batch or (128 if name == "z2cnn" else 32)
    torch.manual_seed(0)
    images = torch.rand(count, 3, side, side, device=device).to(memory_format=torch.channels_last)
    labels = torch.randint(10, (count,), device=device)
    groups = {each.group for each in which}
    parameters = {group: create_model(name, group, num_classes=10).num_parameters for group in groups}
    records = []
    for phase in PHASES:
        with compiling():
            built = {each: _build(name, each, phase, images) for each in which}
            counts = {each: _counts(model, images) for each, model in built.items() if each.algorithm != "fused"}
            counts |= {each: counts[Candidate(each.group)] for each in which if each.algorithm == "fused"}
            calls = {each: timed(model, each.mode, phase, images, labels) for each, model in built.items()}
            title = f"{name}, {phase}: {len(which)} networks"
            timings = interleaved(calls, rounds, watch=watch, title=title)
            memory = {each: peak_memory(call, device) for each, call in calls.items()}
            # Compiled, everything between two convolutions is one operation; what is seen here is the CPU alone.
            profiled = [each for each in which if each.mode == "eager" and images.device.type == "cpu"]
            profiles = {each: profile(calls[each]) for each in profiled}
        for each in which:
            shared = {
                "network": name,
                "phase": phase,
                "batch": count,
                "image_size": side,
                "parameters": parameters[each.group],
            }
            where = {"profile": profiles[each]} if each in profiles else {}
            records.append({**shared, **_record(each, timings, memory, counts), **where})
    return records


def _build(name: str, candidate: Candidate, phase: Phase, images: Tensor) -> nn.Module:
    torch.manual_seed(0)
    algorithm: Choice
    if candidate.algorithm == "floor":
        algorithm = "fast"
    else:
        algorithm = "auto" if candidate.algorithm == "fused" else candidate.algorithm
    model: nn.Module = create_model(name, candidate.group, num_classes=10, algorithm=algorithm)
    model = model.to(images.device, memory_format=torch.channels_last)  # type: ignore[call-overload]
    fused = candidate.algorithm == "fused"
    model = optimize_for_inference(model, images, compile=fused) if phase == "inference" else model.train()
    if phase == "training" and images.device.type == "cpu":
        faster_norms(model)
        model = fuse_for_training(model, images) if fused else model
    return leave_out_transforms(model) if candidate.algorithm == "floor" else model


def timed(model: nn.Module, mode: Mode, phase: Phase, images: Tensor, labels: Tensor) -> Callable[[], object]:
    """What is timed."""
    if mode == "compiled":
        compile_blocks(model)

    @torch.inference_mode()
    def infer() -> Tensor:
        logits: Tensor = model(images)
        return logits

    if phase == "inference":
        return infer
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)

    def step() -> None:
        F.cross_entropy(model(images), labels).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    return step


def _counts(model: nn.Module, images: Tensor) -> dict[str, int]:
    """Counted before anything is compiled: a compiler's kernels cannot be looked into."""
    work = multiply_adds(model, images)
    return {"multiply_adds": work.convolutions, "multiply_adds_with_transforms": work.total}


def _record(
    each: Candidate, timings: Timings[Candidate], memory: dict[Candidate, int], counts: dict[Candidate, dict[str, int]]
) -> dict[str, Any]:
    group = None if each.group is None else as_group(each.group)
    return {
        "group": each.group,
        "order": 1 if group is None else group.order,
        "rank": 1 if group is None else algorithms.fast(group).rank,
        "algorithm": each.algorithm,
        "mode": each.mode,
        **counts[each],
        "multiply_adds_ratio": counts[each]["multiply_adds"] / counts[each.plain]["multiply_adds"],
        "seconds": timings.median(each),
        "ratio": timings.ratio(each, each.plain),
        "peak_memory": memory[each],
        "memory_ratio": memory[each] / memory[each.plain],
        "rounds": len(timings.seconds[each]),
    }
