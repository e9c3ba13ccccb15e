"""Canonicalised networks: what the small network in front costs, against the plain network, in the same rounds."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

from equicolor._tools.progress import Watch, unwatched
from equicolor._tools.timing import interleaved
from equicolor.bench.networks import PHASES, Phase, timed
from equicolor.deploy import optimize_for_inference
from equicolor.measure import multiply_adds, peak_memory
from equicolor.models import create_model
from equicolor.nn import Canonicalizer

GROUPS = ("hue4", "temp3-tint3", "anchored:temp3-tint3")
SIZES = (32, 224)
_NETWORK = "resnet18"


def measure_canonical(
    groups: Sequence[str] = GROUPS,
    sizes: Sequence[int] = SIZES,
    *,
    rounds: int = 15,
    batch: int | None = None,
    device: str | torch.device = "cpu",
    watch: Watch = unwatched,
) -> list[dict[str, Any]]:
    """Times ResNet-18 by itself and behind each canonicaliser, which is frozen, as it is in training by default.

    Args:
        groups: of the canonicalisers, by the names that :class:`equicolor.nn.Canonicalizer` takes.
        sizes: of the images; above 64 pixels the network has the stem for ImageNet.
        rounds: of the interleaved loops.
        batch: images; by default 32, and 8 of the large ones.
        device: where.
        watch: is told what is timed, and of every call.
    """
    records = []
    for size in sizes:
        count = batch or (32 if size <= 64 else 8)
        torch.manual_seed(0)
        images = torch.rand(count, 3, size, size, device=device).to(memory_format=torch.channels_last)
        labels = torch.randint(10, (count,), device=device)
        for phase in PHASES:
            models = {group: _build(group, size, phase, images) for group in (None, *groups)}
            work = {group: multiply_adds(model, images).total for group, model in models.items()}
            calls = {group: timed(model, "eager", phase, images, labels) for group, model in models.items()}
            title = f"canonicalised {_NETWORK}, {phase}, {size}×{size}"
            timings = interleaved(calls, rounds, watch=watch, title=title)
            memory = {group: peak_memory(call, device) for group, call in calls.items()}
            records += [
                {
                    "network": _NETWORK,
                    "canonicalize": group,
                    "phase": phase,
                    "image_size": size,
                    "batch": count,
                    "seconds": timings.median(group),
                    "ratio": timings.ratio(group, None),
                    "memory_ratio": memory[group] / memory[None],
                    "multiply_adds_ratio": work[group] / work[None],
                    "rounds": rounds,
                }
                for group in models
            ]
    return records


def _move_something(canonicalizer: Canonicalizer) -> None:
    """Leaves no weights of zero, with which an untrained one finds nothing to undo: that takes another time."""
    for parameter in canonicalizer.parameters():
        if not parameter.any():
            nn.init.normal_(parameter, std=0.1)


def _build(group: str | None, size: int, phase: Phase, images: torch.Tensor) -> nn.Module:
    torch.manual_seed(0)
    stem = "cifar" if size <= 64 else "imagenet"
    model: nn.Module = create_model(_NETWORK, num_classes=10, stem=stem, canonicalize=group)
    for part in model.modules():
        if isinstance(part, Canonicalizer):
            _move_something(part.requires_grad_(False).eval())
    model = model.to(images.device, memory_format=torch.channels_last)  # type: ignore[call-overload]
    return optimize_for_inference(model, images) if phase == "inference" else model.train()
