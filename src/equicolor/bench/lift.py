"""Lifting images: to a hue group, against 8-bit PIL images one by one; one element, against kornia's conversion; and
element by element, the groups of each family against each other.
"""

from collections.abc import Callable, Sequence
from typing import Any

import torch

from equicolor import color
from equicolor._tools.optional import require
from equicolor._tools.progress import Watch, unwatched
from equicolor._tools.timing import interleaved
from equicolor.bench import _pil
from equicolor.bench._compile import compiling
from equicolor.bench.networks import Mode
from equicolor.groups import Hue
from equicolor.groups import group as as_group
from equicolor.nn import Lift

#: A group of each family, the first to compare the others with.
FAMILIES = ("hue4", "hue4-sat3", "temp3-tint3", "hema3-eosin3")
_LAYOUTS = {"contiguous": torch.contiguous_format, "channels_last": torch.channels_last}
_PIL, _KORNIA = "PIL, 8 bit, one by one", "kornia, to HSV and back: one element"
_ORDER = 4


def measure_lift(
    modes: Sequence[Mode] = ("eager", "compiled"),
    rounds: int = 15,
    batch: int = 128,
    side: int = 32,
    watch: Watch = unwatched,
) -> list[dict[str, Any]]:
    """Seconds for each way and image; how many times faster than PIL's, and, of one element, than kornia's."""
    kornia = require("kornia.color", "comparing with kornia")
    images = torch.rand(batch, 3, side, side, generator=torch.Generator().manual_seed(0))
    group, degrees = Hue(_ORDER), 360 / _ORDER
    whole: dict[str, Callable[[], object]] = {_PIL: lambda: _pil.lift(images, _ORDER)}
    one: dict[str, Callable[[], object]] = {
        _KORNIA: lambda: kornia.hsv_to_rgb(kornia.rgb_to_hsv(images)),
        "equicolor, one element": lambda: color.shift_hue(images, degrees),
    }
    if "eager" in modes:
        whole["equicolor lift"] = lambda: group.lift(images)
    if "compiled" in modes:
        compiled = torch.compile(group.lift, fullgraph=True, dynamic=False)
        whole["equicolor lift, compiled"] = lambda: compiled(images)
    with compiling():
        timings = interleaved({**whole, **one}, rounds, watch=watch, title="lift")
    shared = {"group": str(group), "batch": batch, "image_size": side}
    return [
        {
            "way": way,
            **shared,
            "seconds_per_image": timings.median(way) / batch,
            "times_faster_than_pil": timings.ratio(_PIL, way) if way in whole else None,
            "times_faster_than_kornia": timings.ratio(_KORNIA, way) if way in one else None,
        }
        for way in (*whole, *one)
    ]


def measure_families(
    modes: Sequence[Mode] = ("eager", "compiled"),
    rounds: int = 15,
    batch: int = 128,
    side: int = 32,
    watch: Watch = unwatched,
) -> list[dict[str, Any]]:
    """Seconds of the lifting layer for each family, layout and mode, for each image and element of the group."""
    images = torch.rand(batch, 3, side, side, generator=torch.Generator().manual_seed(0))
    calls: dict[tuple[str, str, str], Callable[[], object]] = {}
    for layout, kind in _LAYOUTS.items():
        given = images.contiguous(memory_format=kind)
        for mode in modes:
            for name in FAMILIES:
                lift: Any = Lift(name)
                if mode == "compiled":
                    lift = torch.compile(lift, fullgraph=True, dynamic=False)
                calls[name, layout, mode] = lambda lift=lift, given=given: lift(given)  # type: ignore[misc]
    with compiling():
        timings = interleaved(calls, rounds, watch=watch, title="lift of each family")
    records = []
    for name, layout, how in calls:
        order, first = as_group(name).order, as_group(FAMILIES[0]).order
        records.append(
            {
                "group": name,
                "layout": layout,
                "mode": how,
                "batch": batch,
                "image_size": side,
                "seconds_per_element": timings.median((name, layout, how)) / batch / order,
                "ratio": timings.ratio((name, layout, how), (FAMILIES[0], layout, how)) * first / order,
            }
        )
    return records
