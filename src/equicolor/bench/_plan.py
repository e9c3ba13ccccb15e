"""What is measured and how thoroughly, in full and quickly; and one run of it."""

import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias

from equicolor._tools import environment
from equicolor._tools.progress import Watch, unwatched
from equicolor.bench import canonical, layers
from equicolor.bench.data import measure_data
from equicolor.bench.lift import measure_families, measure_lift
from equicolor.bench.networks import GROUPS, NETWORKS, Mode, candidates, measure_network

Part: TypeAlias = Literal["networks", "canonical", "layers", "lift", "data"]


@dataclass(frozen=True)
class Plan:
    """What is measured. As it stands, in full: hours on two cores, most of them spent compiling.

    Attributes:
        parts: which measurements.
        networks, network_groups, network_modes: of whole networks.
        floor, fused: whether networks without transforms, or with compiled glue, are timed beside them.
        canonical_sizes: of the images of canonicalised networks.
        layer_groups, layer_widths, layer_maps, layer_rounds: of the sweep over single convolutions.
        modes: of lift and data.
        rounds: of the interleaved loops, but for those of the layers, which are many.
        batch: images of networks and layers; None for what is usual, see there.
        lift_batch: images of lift and data.
        device: where networks and layers run.
    """

    parts: tuple[Part, ...] = ("networks", "canonical", "layers", "lift", "data")
    networks: tuple[str, ...] = NETWORKS
    network_groups: tuple[str, ...] = GROUPS
    network_modes: tuple[Mode, ...] = ("eager", "compiled")
    floor: bool = False
    fused: bool = False
    canonical_sizes: tuple[int, ...] = canonical.SIZES
    layer_groups: tuple[str, ...] = layers.GROUPS
    layer_widths: tuple[int, ...] = layers.WIDTHS
    layer_maps: tuple[int, ...] = layers.MAPS
    layer_rounds: int = 7
    modes: tuple[Mode, ...] = ("eager", "compiled")
    rounds: int = 15
    batch: int | None = None
    lift_batch: int = 128
    device: str = "cpu"

    def run(self, watch: Watch = unwatched) -> Iterator[dict[str, Any]]:
        """Measures, and gives all results so far whenever there are new ones."""
        began = time.perf_counter()
        versions = {name: environment.versions()[name] for name in ("equicolor", "torch", "python")}
        machine = {**versions, **environment.machine(self.device)}
        results: dict[str, Any] = {"machine": machine, "plan": asdict(self)}
        for name, records in self._measurements(watch):
            results[name] = [*results.get(name, []), *records]
            if name == "layers":
                results["layers_summary"] = layers.summary(records)
            results["seconds"] = time.perf_counter() - began
            yield results

    def _measurements(self, watch: Watch) -> Iterator[tuple[str, list[dict[str, Any]]]]:
        if "networks" in self.parts:
            which = candidates(self.network_groups, self.network_modes, floor=self.floor, fused=self.fused)
            for name in self.networks:
                yield (
                    "networks",
                    measure_network(name, which, rounds=self.rounds, batch=self.batch, device=self.device, watch=watch),
                )
        if "canonical" in self.parts:
            yield (
                "canonical",
                canonical.measure_canonical(
                    sizes=self.canonical_sizes, rounds=self.rounds, batch=self.batch, device=self.device, watch=watch
                ),
            )
        if "layers" in self.parts:
            sizes = layers.sweep(self.layer_groups, self.layer_widths, self.layer_maps, batch=self.batch or 32)
            sizes += layers.sizes_in("z2cnn", self.layer_groups, self.batch or 128, 28)  # the smallest in the paper
            records = []
            with watch("layers", len(sizes)) as advance:
                for size in sizes:
                    records.append(layers.measure_layer(size, self.layer_rounds, self.device))
                    advance(1)
            yield "layers", records
        if "lift" in self.parts:
            yield "lift", measure_lift(self.modes, self.rounds, self.lift_batch, watch=watch)
            yield "families", measure_families(self.modes, self.rounds, self.lift_batch, watch=watch)
        if "data" in self.parts:
            yield "data", measure_data(self.modes, self.rounds, self.lift_batch, watch=watch)


FULL = Plan()
#: A version of a minute or two: of networks, one and eager, in small batches; of the compiler, the lift alone.
QUICK = Plan(
    networks=("resnet44",),
    network_groups=("hue4", "hue12", "sat3"),
    network_modes=("eager",),
    canonical_sizes=(32,),
    layer_groups=("hue4",),
    layer_widths=(8, 32, 128),
    layer_maps=(8, 32),
    layer_rounds=3,
    rounds=3,
    batch=8,
)
#: What :func:`equicolor.nn.calibrated` is given: minutes on two cores.
CALIBRATE = Plan(
    parts=("layers",),
    layer_groups=("hue3", "hue4", "hue12", "sat3", "hue4-sat3"),
    layer_widths=(8, 16, 32, 64, 128),
    layer_maps=(8, 16, 32),
    layer_rounds=5,
)
