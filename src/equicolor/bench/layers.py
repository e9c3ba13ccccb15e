"""One group convolution, fast against direct, over sizes: the measurement behind ``algorithm="auto"``."""

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any, Literal, TypeAlias

import torch
from torch import Tensor, nn

from equicolor import algorithms
from equicolor._tools.timing import interleaved
from equicolor.bench.networks import PHASES, Phase
from equicolor.groups import group as as_group
from equicolor.measure import evaluating
from equicolor.models import create_model
from equicolor.nn import Choice, GroupConv2d, calibrated

Way: TypeAlias = Literal["direct", "fast"]
WAYS: tuple[Way, ...] = ("direct", "fast")

GROUPS = ("hue2", "hue3", "hue4", "hue6", "hue8", "hue12", "sat3", "hue4-sat3", "temp3-tint3")
WIDTHS = (8, 16, 32, 64, 128, 256, 512)
MAPS = (4, 8, 16, 32, 56)
KERNELS = (1, 3)
#: Bytes of a feature, and of direct's filter bank, beyond which a size is left out.
_LARGEST_FEATURE, _LARGEST_BANK = 40_000_000, 256_000_000
#: From here on a size is measured again, by more rounds, before it is believed.
_DOUBTED_LOSS = 0.05
#: Of two slow calls (seconds, for both), one that is so many times faster in the first round needs no more of them.
_CLEAR, _SLOW = 2.0, 0.2
#: Quick calls are noisier: they get rounds for so many seconds, up to so many rounds.
_LEAST_SECONDS, _MOST_ROUNDS = 0.2, 60


@dataclass(frozen=True)
class Size:
    """What is convolved: ``batch`` images of ``map_size`` squared pixels, by one square kernel."""

    group: str
    kernel: int
    width_in: int
    width_out: int
    map_size: int
    batch: int = 32
    stride: int = 1
    padding: int = 0

    @property
    def fits(self) -> bool:
        """Whether it is measured at all."""
        n = as_group(self.group).order
        feature = 4 * n * self.batch * max(self.width_in, self.width_out) * self.map_size**2
        bank = 4 * n * n * self.width_in * self.width_out * self.kernel**2
        return feature <= _LARGEST_FEATURE and bank <= _LARGEST_BANK

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Of the features."""
        return as_group(self.group).order * self.batch, self.width_in, self.map_size, self.map_size

    def layer(self, algorithm: Choice) -> GroupConv2d:
        """Without a bias, in channels_last."""
        layer = GroupConv2d(
            self.group,
            self.width_in,
            self.width_out,
            self.kernel,
            self.stride,
            self.padding,
            bias=False,
            algorithm=algorithm,
        )
        return layer.to(memory_format=torch.channels_last)  # type: ignore[call-overload, no-any-return]


def sweep(
    groups: Sequence[str] = GROUPS,
    widths: Sequence[int] = WIDTHS,
    maps: Sequence[int] = MAPS,
    batch: int = 32,
) -> list[Size]:
    """The sizes to measure: features up to 40 MB, and filter banks up to 256 MB, which direct builds and fast does not.

    >>> [(size.width_in, size.map_size) for size in sweep(["hue12"], [64, 512], [16, 56])]
    [(64, 16), (64, 16)]
    """
    every = product(groups, KERNELS, widths, maps)
    sizes = (Size(g, kernel, w, w, m, batch, padding=kernel // 2) for g, kernel, w, m in every)
    return [size for size in sizes if size.fits]


def sizes_in(network: str, groups: Sequence[str], batch: int, side: int) -> list[Size]:
    """The sizes of the layers of a network of the zoo, each once.

    >>> [(size.width_in, size.width_out, size.map_size) for size in sizes_in("z2cnn", ["hue4"], 128, 28)][:3]
    [(3, 10, 28), (10, 10, 26), (10, 10, 12)]
    """
    found: list[Size] = []
    for name in groups:
        model = create_model(network, name)

        def note(layer: nn.Module, inputs: tuple[Tensor, ...], name: str = name) -> None:
            if isinstance(layer, GroupConv2d) and not isinstance(layer.padding, str):
                kernel, stride, padding = layer.kernel_size[0], layer.stride[0], layer.padding[0]
                widths = layer.in_channels, layer.out_channels
                found.append(Size(name, kernel, *widths, inputs[0].shape[-1], batch, stride, padding))

        for layer in model.modules():
            layer.register_forward_pre_hook(note)
        with evaluating(model):
            model(torch.rand(1, 3, side, side))
    return list(dict.fromkeys(found))


def measure_layer(size: Size, rounds: int = 7, device: str | torch.device = "cpu") -> dict[str, Any]:
    """Times both ways, for training (forward and backward) and inference (frozen), and says what ``auto`` loses."""
    group = as_group(size.group)
    record: dict[str, Any] = {**asdict(size), "order": group.order, "rank": algorithms.fast(group).rank}
    auto = taken_by_auto(size)
    for phase in PHASES:
        seconds = _seconds(size, phase, rounds, device)
        if loss(seconds, auto) > _DOUBTED_LOSS:
            seconds = _seconds(size, phase, 3 * rounds, device, hasty=False)
        record[phase] = {**seconds, "auto": auto, "loss": loss(seconds, auto)}
    return record


def recorded(records: Sequence[dict[str, Any]]) -> Iterator[tuple[Size, dict[str, Any]]]:
    """The sizes of records, with each record, but for those of an algorithm of more products than it takes today."""
    for record in records:
        if record["rank"] == algorithms.fast(as_group(record["group"])).rank:
            yield Size(**{name: record[name] for name in Size.__dataclass_fields__}), record


def calibration(records: Sequence[dict[str, Any]], device: str = "cpu") -> dict[str, Any]:
    """The constants behind ``auto`` that choose best at the sizes that were measured, see ``nn.calibrated``."""

    def timings() -> Iterator[tuple[GroupConv2d, Sequence[int], dict[str, float]]]:
        for size, record in recorded(records):
            for phase in PHASES:
                yield size.layer("auto"), size.shape, {way: record[phase][way] for way in WAYS}

    return calibrated(timings(), device)


def taken_by_auto(size: Size) -> Way:
    """What ``auto`` takes at this size. The one place that asks a layer for it."""
    layer = size.layer("auto")
    layer.settle(torch.empty(size.shape, device="meta"))
    assert layer.algorithm != "auto"
    return layer.algorithm


def summary(records: Sequence[dict[str, Any]]) -> dict[str, float]:
    """How far ``auto`` is from the better way, over all sizes, in training and inference."""
    losses = [record[phase]["loss"] for record in records for phase in PHASES]
    return {
        "timings": len(losses),
        "worst_loss": max(losses),
        "mean_loss": statistics.fmean(losses),
        "share_within_5_percent": sum(each <= _DOUBTED_LOSS for each in losses) / len(losses),
    }


def loss(seconds: dict[Way, float], taken: Way) -> float:
    """How much longer than the better way this one takes, as a share."""
    return seconds[taken] / min(seconds.values()) - 1


def _seconds(size: Size, phase: Phase, rounds: int, device: str | torch.device, hasty: bool = True) -> dict[Way, float]:
    """Medians of both ways; ``hasty`` is content with one round where that is slow and clear."""
    features = torch.rand(size.shape, device=device).to(memory_format=torch.channels_last)
    calls = {way: _call(size.layer(way).to(device), phase, features) for way in WAYS}
    timings = interleaved(calls, 1, warm_up=1)
    slower, faster = (pick(timings.median(way) for way in WAYS) for pick in (max, min))
    if not (hasty and slower > _CLEAR * faster and slower + faster > _SLOW):
        quick = min(_MOST_ROUNDS, int(_LEAST_SECONDS / (slower + faster)))
        timings = interleaved(calls, max(rounds, quick), warm_up=0)
    return {way: timings.median(way) for way in WAYS}


def _call(layer: GroupConv2d, phase: Phase, features: Tensor) -> Callable[[], object]:
    if phase == "inference":
        layer.eval().freeze()

        def infer() -> None:
            with torch.inference_mode():
                layer(features)

        return infer
    learning = features.detach().requires_grad_()
    gradient = torch.ones_like(layer(features))  # as a norm behind it would hand one down

    def step() -> None:
        layer.zero_grad()
        learning.grad = None
        layer(learning).backward(gradient)

    return step
